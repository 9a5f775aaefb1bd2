"""After a sleep of the computer: a scripted worker that is lost, slow, silent or well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.notices import Notice, Notices, Severity
from app.power.sleep import SleepWatch
from app.worker.resume import FIRST_TOKENS, MORE_TOKENS, NOTICE, ResumeCheck
from engine.client.session import WorkerState
from engine.power.sleep import SleepMeter
from engine.protocol.frames import Finished
from engine.protocol.types import LoadOptions
from tests.app.worker.conftest import MODEL, Answer, Bench
from tests.app.worker.test_silence import DEAF
from tests.app.worker.test_standstill import Hand, still

FAST = {"stats": {"decode_tps": 30.0, "generated_tokens": 50}}
SLOW = {"stats": {"decode_tps": 6.0, "generated_tokens": 4}}
WELL = {"stats": {"decode_tps": 28.0, "generated_tokens": 4}}
OPTIONS = LoadOptions(n_ctx=777)
LOST = {"signal": "SIGABRT", "stderr": ["terminate called after throwing an instance of 'vk::DeviceLostError'"]}


class Lid:
    """A bench whose computer can be put to sleep."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._boot = 0.0
        notices = Notices()
        self.notices: list[Notice] = []
        notices.posted.connect(self.notices.append)
        self.sleep = SleepWatch(SleepMeter(lambda: self._boot, lambda: 0.0), bench.service)
        self.check = ResumeCheck(bench.service, self.sleep, notices, bench.service)

    def close_and_open(self) -> None:
        self._boot += 3600
        self.sleep.look()

    def answered(self, text: str = "a b c") -> Answer:
        """An answer before the sleep, from which the speed is known."""
        answer = self.bench.ask(text)
        self.bench.until_ended(answer)
        return answer

    def until_quiet(self) -> None:
        self.bench.until(lambda: not self.check.checking and self.bench.service.idle)

    def asked(self) -> list[Any]:
        """How many tokens each answer and each check was allowed."""
        return [frame["max_tokens"] for frame in self.bench.received("generate")]

    def told(self) -> list[str]:
        return [notice.text for notice in self.notices if notice.key == NOTICE]


def lid(make_bench: Any, options: LoadOptions = OPTIONS, **script: Any) -> Lid:
    bench = make_bench(**script)
    made = Lid(bench)
    bench.until_ended(bench.load(options=options))
    return made


def test_a_model_that_is_well_is_left_alone(make_bench) -> None:
    world = lid(make_bench, generate=[FAST, WELL])
    world.answered("a b c d e")
    states = list(world.bench.states)
    world.close_and_open()
    world.until_quiet()
    assert world.asked() == [None, FIRST_TOKENS]
    answer, look = world.bench.received("generate")
    assert look["messages"] == answer["messages"]
    assert look["prefill"] == "a b", "it goes on with the answer, whose tokens are still in the KV cache"
    assert (world.told(), world.bench.states, world.bench.speeds) == ([], states, [20.0, 30.0])
    assert len(world.bench.received("load")) == 1


def test_without_a_model_nothing_is_asked(make_bench) -> None:
    bench = make_bench()
    world = Lid(bench)
    bench.service.start()
    bench.until_state(WorkerState.IDLE)
    world.close_and_open()
    world.check.check()
    assert not world.check.checking


def test_a_model_on_the_cpu_is_not_lost_by_sleep(make_bench) -> None:
    world = lid(make_bench, LoadOptions(device="cpu"))
    world.close_and_open()
    assert not world.check.checking


def test_a_lost_gpu_is_told_once_and_the_model_comes_back_as_it_was(make_bench) -> None:
    world = lid(make_bench, runs=[{"generate": [FAST, LOST]}, {}])
    world.answered()
    world.close_and_open()
    world.bench.until(lambda: len(world.bench.received("load")) == 2 and bool(world.bench.service.model))
    world.until_quiet()
    first, second = world.bench.received("load")
    assert (first["path"], first["options"]) == (second["path"], second["options"])
    assert world.told()[0].startswith(
        "The graphics driver lost the GPU while the computer slept. tiny is loaded again."
    )
    assert world.bench.notices == [], "the death itself is no second notice"
    assert world.notices[-1].timeout_ms > 0
    assert world.answered("still there").text == "still there"


def test_slow_twice_is_loaded_again_slow_once_is_not(make_bench) -> None:
    world = lid(make_bench, generate=[FAST, SLOW, WELL, SLOW, SLOW, {}])
    world.answered()
    world.close_and_open()
    world.until_quiet()
    assert (world.asked(), world.told()) == ([None, FIRST_TOKENS, MORE_TOKENS], [])
    world.close_and_open()
    world.bench.until(lambda: len(world.bench.received("load")) == 2)
    world.until_quiet()
    assert world.asked()[3:] == [FIRST_TOKENS, MORE_TOKENS]
    assert world.told()[0] == "tiny is 5 times slower since the computer slept. It is loaded again."
    assert world.bench.service.last_load == (MODEL, OPTIONS)


def test_without_a_speed_to_compare_with_it_only_has_to_live(make_bench) -> None:
    world = lid(make_bench, generate=SLOW)
    world.close_and_open()
    world.until_quiet()
    assert (world.asked(), world.told()) == ([FIRST_TOKENS], [])


def test_a_running_answer_goes_first_and_is_not_disturbed(make_bench, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    world = lid(make_bench, generate=[{"text": "one two three four", "gate": str(gate), "gate_after": 1}, WELL])
    answer = world.bench.ask()
    world.bench.until(lambda: len(answer.deltas) == 1)
    world.close_and_open()
    gate.touch()
    world.bench.until_ended(answer)
    assert answer.text == "one two three four"
    world.until_quiet()
    assert world.asked() == [None, FIRST_TOKENS]


def test_a_running_answer_that_a_lost_gpu_holds_is_ended_sooner(make_bench) -> None:
    """The hang check of the driver does not always fire."""
    world = lid(make_bench, runs=[{"generate": {"text": "a b c d", "after": 2, "silence": True}}, {}])
    hand = Hand(world.bench)
    answer = world.bench.ask()
    world.bench.until(lambda: len(answer.deltas) == 2)
    world.close_and_open()
    hand.turn(20)
    assert still(world.bench) == ["The answer has not moved for 20 seconds."]
    hand.turn(80)
    world.bench.until_ended(answer)
    assert (answer.text, answer.failure) == ("a b ", "hang")
    world.until_quiet()
    assert world.answered("still there").text == "still there"


def test_an_answer_that_dies_after_the_sleep_is_told_as_its_own_death(make_bench) -> None:
    world = lid(make_bench, generate={"after": 1, "delay": 0.05, **LOST})
    answer = world.bench.ask()
    world.bench.until(lambda: bool(world.bench.received("generate")))
    world.close_and_open()
    world.bench.until_ended(answer)
    world.bench.until_state(WorkerState.CRASHED)
    world.until_quiet()
    assert answer.failure == "device-lost"
    assert (len(world.bench.notices), world.told()) == (1, [])
    assert len(world.bench.received("load")) == 1


def test_a_message_goes_before_the_check_which_is_made_afterwards(make_bench) -> None:
    world = lid(make_bench, generate=[{"gate": "/nowhere"}, {}, WELL])
    world.close_and_open()
    world.bench.until(lambda: len(world.bench.received("generate")) == 1)
    answer = world.answered("me first")
    assert isinstance(answer.end, Finished)
    world.until_quiet()
    assert world.asked() == [FIRST_TOKENS, None, FIRST_TOKENS]


def test_a_device_that_does_not_answer_is_replaced(make_bench, monkeypatch) -> None:
    monkeypatch.setattr("engine.client.session.CANCEL_SECONDS", 0.3)
    monkeypatch.setattr("app.worker.resume.PATIENCE_MS", 100)
    world = lid(make_bench, runs=[{**DEAF, "generate": {"silence": True, "after": 0}}, {}])
    world.close_and_open()
    world.bench.until(lambda: len(world.bench.received("load")) == 2)
    world.until_quiet()
    assert "loaded again" in world.told()[0]
    assert world.bench.starts() == 2


def test_a_message_gets_past_a_check_that_hangs(make_bench, monkeypatch) -> None:
    monkeypatch.setattr("engine.client.session.CANCEL_SECONDS", 0.3)
    world = lid(make_bench, runs=[{**DEAF, "generate": {"silence": True, "after": 0}}, {}])
    world.close_and_open()
    world.bench.until(lambda: len(world.bench.received("generate")) == 1)
    answer = world.answered("hello")
    assert answer.text == "hello"
    assert len(world.told()) == 1
    assert len(world.bench.received("load")) == 2


def test_a_load_that_fails_afterwards_says_so(make_bench) -> None:
    fail = {"code": "model-missing", "message": "The file is gone.", "next_step": "Insert the card."}
    world = lid(make_bench, runs=[{"generate": LOST}, {"load": {"fail": fail}}])
    world.close_and_open()
    world.bench.until(lambda: len(world.notices) == 2)
    notice = world.notices[-1]
    assert notice.severity is Severity.ERROR
    assert notice.text == (
        "tiny could not be loaded again after the computer slept. The file is gone. Insert the card."
    )


def test_a_request_that_the_worker_refuses_is_no_lost_gpu(make_bench) -> None:
    fail = {"code": "context-exceeded", "message": "Too long."}
    world = lid(make_bench, generate=[FAST, {"fail": fail}, {"fail": {**fail, "code": "decode-failed"}}, {}])
    world.answered()
    world.close_and_open()
    world.until_quiet()
    assert world.told() == []
    world.close_and_open()
    world.bench.until(lambda: len(world.bench.received("load")) == 2)
    assert world.told()[0].startswith("The graphics driver lost the GPU")


@pytest.mark.parametrize("end", ["unload", "load"])
def test_what_the_user_does_meanwhile_wins(make_bench, end: str) -> None:
    world = lid(make_bench, generate=[{"gate": "/nowhere"}, WELL])
    world.close_and_open()
    world.bench.until(lambda: len(world.bench.received("generate")) == 1)
    if end == "unload":
        world.bench.service.unload()
        world.bench.until_state(WorkerState.STOPPED)
        assert len(world.bench.received("load")) == 1
    else:
        world.bench.until_ended(world.bench.load(Path("/models/other.gguf")))
        assert world.bench.models[-1] is not None
        assert world.bench.models[-1].name == "other"
    world.until_quiet()
    assert world.told() == []
