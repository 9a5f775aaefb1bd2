"""The worker service with a fake worker process: what the window relies on."""

from __future__ import annotations

import os
import random
import shlex
import signal
from typing import Any

import pytest

from engine.client.session import WorkerState
from engine.protocol.frames import Failed, Finished, Generate, Loaded
from engine.protocol.types import ChatMessage, FinishReason, LoadOptions, Sampling, Thinking
from tests.app.worker.conftest import MODEL, OTHER, Answer


def alive(pid: int) -> bool:
    """The process is there, also as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_start_says_which_devices_there_are(make_bench) -> None:
    bench = make_bench()
    bench.service.start()
    bench.until_state(WorkerState.IDLE)
    assert [device.id for device in bench.service.hello.devices] == ["CPU", "Vulkan0"]
    assert bench.states == [WorkerState.STARTING, WorkerState.IDLE]
    assert bench.service.pid == bench.service.hello.pid


def test_load_starts_the_worker_and_reports_progress(make_bench) -> None:
    bench = make_bench(load={"steps": 4})
    answer = bench.load(options=LoadOptions(n_ctx=1234))
    assert not answer.ends, "done is never called before load returned"
    bench.until_ended(answer)
    assert isinstance(answer.end, Loaded)
    assert bench.progress == [0.25, 0.5, 0.75, 1.0]
    assert bench.models == [answer.end.model]
    assert bench.service.model.n_ctx == 1234
    assert bench.service.last_load == (MODEL, LoadOptions(n_ctx=1234))
    assert bench.states == [WorkerState.STARTING, WorkerState.LOADING, WorkerState.READY]


def test_an_answer_comes_in_deltas_with_a_speed(make_bench) -> None:
    bench = make_bench(generate={"text": "one two three", "prompt": 2, "stats": {"decode_tps": 33.5}})
    bench.load()
    answer = bench.ask()
    bench.until_ended(answer)
    assert answer.text == "one two three"
    assert [p.done for p in answer.progress if p.stage == "prompt"] == [1, 2]
    assert isinstance(answer.end, Finished)
    assert answer.end.stats.generated_tokens == 3
    assert bench.speeds == [20.0, 33.5]
    assert bench.states[-2:] == [WorkerState.GENERATING, WorkerState.READY]


def test_answers_wait_for_each_other(make_bench) -> None:
    bench = make_bench()
    bench.load()
    first, second = bench.ask("first"), bench.ask("second")
    bench.until_ended(first, second)
    assert (first.text, second.text) == ("first", "second")


def test_a_message_without_a_model_is_refused_with_a_next_step(make_bench) -> None:
    bench = make_bench()
    answer = bench.ask()
    assert not answer.ends
    bench.until_ended(answer)
    assert answer.failure == "no-model"
    assert answer.end.next_step
    assert bench.starts() == 0


def test_cancel_keeps_the_text_and_the_worker(make_bench) -> None:
    bench = make_bench(generate=[{"text": "word " * 20_000, "delay": 0.005}, {}])
    bench.load()
    answer = bench.ask()
    bench.until(lambda: len(answer.deltas) >= 3)
    bench.service.cancel(answer.id)
    bench.service.cancel(answer.id)
    bench.until_ended(answer)
    assert answer.end.reason is FinishReason.CANCELLED
    assert len(bench.received("cancel")) == 1
    again = bench.ask("still there")
    bench.until_ended(again)
    assert again.text == "still there"
    assert (bench.starts(), bench.deaths) == (1, [])


def test_cancel_of_a_waiting_answer_never_reaches_the_worker(make_bench) -> None:
    bench = make_bench(load={"delay": 0.05})
    load = bench.load()
    answer = bench.ask()
    bench.service.cancel(answer.id)
    bench.until_ended(load, answer)
    assert isinstance(load.end, Loaded)
    assert answer.end.reason is FinishReason.CANCELLED
    assert bench.received("generate") == []


def test_cancel_of_an_ended_request_does_nothing(make_bench) -> None:
    bench = make_bench()
    bench.load()
    answer = bench.ask()
    bench.until_ended(answer)
    bench.service.cancel(answer.id)
    bench.service.cancel(4711)
    bench.until_ended(bench.ask())
    assert bench.received("cancel") == []


def test_cancelled_load(make_bench) -> None:
    bench = make_bench(load={"steps": 500, "delay": 0.01})
    answer = bench.load()
    bench.until(lambda: len(bench.progress) >= 2)
    bench.service.cancel(answer.id)
    bench.until_ended(answer)
    assert answer.failure == "cancelled"
    assert bench.service.state is WorkerState.IDLE
    assert bench.deaths == []


def test_loading_another_model_ends_the_answer_first(make_bench) -> None:
    bench = make_bench(generate={"text": "word " * 20_000, "delay": 0.01})
    bench.load()
    answer = bench.ask()
    bench.until(lambda: len(answer.deltas) >= 2)
    other = bench.load(OTHER)
    bench.until_ended(answer, other)
    assert answer.end.reason is FinishReason.CANCELLED
    assert bench.service.model.name == "other"
    assert bench.starts() == 1


def test_the_newest_of_several_loads_wins(make_bench) -> None:
    bench = make_bench(load={"steps": 50, "delay": 0.01})
    first, second, third = bench.load(), bench.load(OTHER), bench.load(MODEL)
    bench.until_ended(first, second, third)
    assert (second.failure, isinstance(third.end, Loaded)) == ("cancelled", True)
    assert first.failure == "cancelled" or isinstance(first.end, Loaded)
    assert len(bench.received("load")) <= 2


@pytest.mark.parametrize("name", ["SIGABRT", "SIGSEGV", "SIGKILL"])
def test_crash_in_the_middle_then_the_next_message_is_answered(make_bench, name: str) -> None:
    bench = make_bench(
        runs=[{"generate": {"text": "a b c d e f", "after": 3, "signal": name, "stderr": ["last words"]}}, {}]
    )
    bench.load(options=LoadOptions(n_ctx=777))
    answer = bench.ask()
    bench.until_ended(answer)
    assert answer.text == "a b c "
    (death,) = bench.deaths
    assert death.signal == signal.Signals[name]
    assert (answer.end.message, answer.end.code) == (death.sentence, death.code)
    assert death.log_tail == "last words"
    assert (bench.service.state, bench.service.model, bench.service.pid) == (WorkerState.CRASHED, None, None)
    assert bench.notices[-1].text.startswith(death.sentence)
    assert bench.notices[-1].detail == "last words"
    again = bench.ask("are you there")
    bench.until_ended(again)
    assert again.text == "are you there"
    assert bench.starts() == 2
    assert bench.received("load")[-1]["options"]["n_ctx"] == 777
    assert any(p.stage == "load" for p in again.progress), "the answer tells of the reload"
    assert "worker" in bench.withdrawn


def test_killed_while_idle_is_noticed_at_once(make_bench) -> None:
    bench = make_bench()
    bench.until_ended(bench.load())
    os.kill(bench.service.pid, signal.SIGKILL)
    bench.until_state(WorkerState.CRASHED)
    assert bench.models[-1] is None
    answer = bench.ask("hello")
    bench.until_ended(answer)
    assert answer.text == "hello"
    assert len(bench.received("load")) == 2


def test_exit_code_in_the_middle(make_bench) -> None:
    bench = make_bench(runs=[{"generate": {"after": 1, "exit": 3}}, {}])
    bench.load()
    answer = bench.ask()
    bench.until_ended(answer)
    assert "exit code 3" in answer.end.message
    assert bench.deaths[0].exit_code == 3


def test_cut_last_frame(make_bench) -> None:
    bench = make_bench(runs=[{"generate": {"text": "half", "cut": True}}, {}])
    bench.load()
    answer = bench.ask()
    bench.until_ended(answer)
    assert (answer.text, answer.failure) == ("half", "worker-ended")


def test_garbage_and_double_ends_are_survived(make_bench) -> None:
    noise = ["", "null", "not json", '{"type":"delta"}', '{"type":"finished","id":77}', "\udcff\udcfe", "[" * 5000]
    loud = {"garbage": noise, "double": True}
    bench = make_bench(stdout=noise, load=loud, generate=loud)
    load = bench.load()
    first, second = bench.ask("one two"), bench.ask("three four")
    bench.until_ended(load, first, second)
    assert (first.text, second.text) == ("one two", "three four")
    assert bench.deaths == []


def test_out_of_memory_while_loading_is_a_failure_not_a_death(make_bench) -> None:
    fail = {"code": "out-of-device-memory", "message": "Not enough.", "next_step": "Use less.", "detail": "8 GiB"}
    bench = make_bench(load=[{"after": 2, "fail": fail}, {}])
    answer = bench.load()
    bench.until_ended(answer)
    assert answer.failure == "out-of-device-memory"
    assert (bench.deaths, bench.service.state) == ([], WorkerState.IDLE)
    bench.until_ended(bench.load())
    assert bench.service.state is WorkerState.READY


def test_after_a_failed_load_no_other_model_answers(make_bench) -> None:
    bench = make_bench(load=[{}, {"fail": {"code": "not-gguf", "message": "No GGUF file."}}])
    bench.until_ended(bench.load())
    bench.until_ended(bench.load(OTHER))
    answer = bench.ask()
    bench.until_ended(answer)
    assert answer.failure == "no-model"


def test_reload_that_fails_fails_the_message_with_its_reason(make_bench) -> None:
    bench = make_bench(
        runs=[{"generate": {"signal": "SIGSEGV"}}, {"load": {"fail": {"code": "model-missing", "message": "Gone."}}}]
    )
    bench.load()
    bench.until_ended(bench.ask())
    answer = bench.ask()
    bench.until_ended(answer)
    assert (answer.failure, answer.end.id) == ("model-missing", answer.id)


def test_worker_that_dies_at_each_reload_fails_each_message_once(make_bench) -> None:
    bench = make_bench(runs=[{"generate": {"signal": "SIGSEGV"}}, {"load": {"after": 1, "signal": "SIGKILL"}}])
    bench.load()
    bench.until_ended(bench.ask())
    for count in (2, 3):
        first, second = bench.ask(), bench.ask()
        bench.until_ended(first, second)
        assert (first.failure, second.failure) == ("killed", "killed")
        assert bench.starts() == count


def test_stop_during_the_reload_cancels_the_reload(make_bench) -> None:
    bench = make_bench(runs=[{"generate": {"signal": "SIGSEGV"}}, {"load": [{"steps": 1000, "delay": 0.01}, {}]}])
    bench.load()
    bench.until_ended(bench.ask())
    answer = bench.ask()
    bench.until(lambda: any(p.stage == "load" for p in answer.progress))
    bench.service.cancel(answer.id)
    again = bench.ask("asked before the reload had stopped")
    bench.until_ended(answer, again)
    assert answer.end.reason is FinishReason.CANCELLED
    assert again.text == "asked before the reload had stopped"
    assert len(bench.received("load")) == 3


def test_unload_ends_the_process(make_bench) -> None:
    bench = make_bench()
    bench.until_ended(bench.load())
    pid = bench.service.pid
    bench.service.unload()
    assert bench.service.state is WorkerState.STOPPING
    bench.until_state(WorkerState.STOPPED)
    assert not alive(pid)
    assert (bench.service.model, bench.models[-1], bench.deaths) == (None, None, [])
    answer = bench.ask("back")
    bench.until_ended(answer)
    assert answer.text == "back"


def test_unload_during_an_answer_ends_it_as_stopped(make_bench) -> None:
    bench = make_bench(generate={"text": "word " * 20_000, "delay": 0.01})
    bench.load()
    answer, waiting = bench.ask(), bench.ask()
    bench.until(lambda: len(answer.deltas) >= 1)
    bench.service.unload()
    bench.until_ended(answer, waiting)
    assert (answer.failure, waiting.failure) == ("stopped", "stopped")
    assert bench.deaths == []


def test_load_while_the_worker_stops_waits_for_its_end(make_bench, monkeypatch) -> None:
    monkeypatch.setattr("app.worker.process.STEP_MS", 150)
    bench = make_bench(eof="ignore")
    bench.until_ended(bench.load())
    pid = bench.service.pid
    bench.service.unload()
    load = bench.load(OTHER)
    bench.until(lambda: bench.starts() == 2)
    assert not alive(pid), "two workers would need twice the memory"
    bench.until_ended(load)
    assert bench.service.model.name == "other"


def test_command_that_does_not_exist(make_bench) -> None:
    bench = make_bench("/nonexistent/program")
    load, answer = bench.load(), bench.ask()
    bench.until_ended(load, answer)
    assert (load.failure, answer.failure) == ("worker-not-started", "worker-not-started")
    assert bench.service.state is WorkerState.CRASHED


def test_other_protocol_version(make_bench) -> None:
    bench = make_bench(protocol=99)
    load = bench.load()
    bench.until_ended(load)
    assert load.failure == "worker-protocol"
    bench.until_state(WorkerState.CRASHED)
    assert bench.deaths[0].code == "worker-protocol"


def test_closed_service_answers_everything_with_stopped(make_bench) -> None:
    bench = make_bench()
    bench.service.shutdown()
    load, answer = bench.load(), bench.ask()
    bench.until_ended(load, answer)
    assert (load.failure, answer.failure) == ("stopped", "stopped")
    assert bench.starts() == 0


def test_a_thousand_deltas_arrive_between_a_thousand_log_lines(make_bench) -> None:
    text = "".join(f"{number} " for number in range(1000))
    bench = make_bench(generate={"text": text, "garbage": ["llama_print: noise on stdout"], "stderr": ["log"] * 1000})
    bench.load()
    answer = bench.ask()
    bench.until_ended(answer)
    assert answer.text == text
    assert [delta.tokens for delta in answer.deltas] == list(range(1, 1001))


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("kill -ILL $$", "processor-too-old"),
        ("echo 'OSError: libvulkan.so.1: cannot open shared object file' >&2; exit 1", "library-missing"),
        ("echo 'ModuleNotFoundError: llama_cpp' >&2; exit 1", "engine-missing"),
    ],
)
def test_an_engine_that_cannot_be_imported(make_bench, script, code) -> None:
    bench = make_bench(f"/bin/sh -c {shlex.quote(script)}")
    bench.service.start()
    bench.until_state(WorkerState.CRASHED)
    assert [death.code for death in bench.deaths] == [code]


def test_an_engine_that_takes_long_to_import_does_not_hold_anything_up(make_bench) -> None:
    bench = make_bench(hello_delay=0.5)
    load = bench.load()
    bench.until_state(WorkerState.STARTING)
    bench.until_ended(load)
    assert isinstance(load.end, Loaded)


def test_missing_hello_is_ended(make_bench, monkeypatch) -> None:
    monkeypatch.setattr("engine.client.session.HELLO_SECONDS", 0.3)
    bench = make_bench(hello=False, ignore_sigterm=True, eof="ignore")
    load = bench.load()
    bench.until_ended(load)
    assert load.failure == "worker-silent"
    assert bench.service.state is WorkerState.CRASHED


def test_done_may_ask_for_the_next_thing_at_once(make_bench) -> None:
    bench = make_bench(runs=[{"generate": {"after": 1, "signal": "SIGSEGV"}}, {}])
    ends: list[object] = []

    def ask(done) -> None:
        message = ChatMessage(role="user", content="a b")
        bench.service.generate([message], Sampling(), None, (), lambda _: None, lambda _: None, done)

    def first_ended(event: object) -> None:
        ends.append(event)
        bench.service.unload()
        ask(second_ended)

    def second_ended(event: object) -> None:
        ends.append(event)
        bench.service.load(OTHER, LoadOptions(), ends.append)

    bench.load()
    ask(first_ended)
    bench.until(lambda: len(ends) == 3)
    assert [type(event) for event in ends] == [Failed, Finished, Loaded]
    assert bench.service.model.name == "other"


@pytest.mark.parametrize("seed", range(6))
def test_every_request_ends_once_whatever_happens(make_bench, monkeypatch, seed) -> None:
    monkeypatch.setattr("app.worker.process.STEP_MS", 100)
    monkeypatch.setattr("engine.client.session.CANCEL_SECONDS", 0.2)
    chance = random.Random(seed)
    fail = {"code": "x", "message": "X."}
    events: list[dict[str, Any]] = [{}, {}, {"signal": "SIGSEGV"}, {"exit": 1}, {"silence": True}, {"fail": fail}]

    def behaviour() -> dict[str, Any]:
        loud = {"garbage": ["null", "{"], "double": True} if chance.random() < 0.3 else {}
        return {"delay": 0.002, "after": chance.randrange(5), **loud, **chance.choice(events)}

    runs = [{"load": [behaviour() for _ in range(4)], "generate": [behaviour() for _ in range(6)]} for _ in range(4)]
    bench = make_bench(runs=[*runs, {}])
    requests = [bench.load()]
    for _ in range(25):
        act = chance.choice(
            ["load", "ask", "ask", "ask", "look", "look", "cancel", "cancel", "kill", "unload", "wait", "wait"]
        )
        if act == "load":
            requests.append(bench.load(chance.choice([MODEL, OTHER])))
        elif act == "ask":
            requests.append(bench.ask("a b c d"))
        elif act == "look":
            look = Answer()
            look.id = bench.service.look(Generate(id=0, messages=(), max_tokens=3), look.ends.append)
            requests.append(look)
        elif act == "cancel":
            bench.service.cancel(chance.choice(requests).id)
        elif act == "kill" and bench.service.pid is not None:
            os.kill(bench.service.pid, signal.SIGKILL)
        elif act == "unload":
            bench.service.unload()
        else:
            bench.qtbot.wait(chance.randrange(6))
    for request in requests:
        bench.service.cancel(request.id)
    bench.until_ended(*requests)
    bench.qtbot.wait(50)
    assert [len(request.ends) for request in requests] == [1] * len(requests)


def test_an_answer_can_go_on_and_think_within_a_budget(make_bench) -> None:
    bench = make_bench()
    bench.load()
    ends: list[object] = []
    bench.service.generate(
        [ChatMessage(role="user", content="a b")],
        Sampling(),
        None,
        (),
        lambda _: None,
        lambda _: None,
        ends.append,
        thinking=Thinking(enabled=True, budget=9),
        prefill="So",
        prefill_thinking="hm",
    )
    bench.until(lambda: bool(ends))
    (request,) = bench.received("generate")
    assert (request["prefill"], request["prefill_thinking"]) == ("So", "hm")
    assert request["thinking"] == {"enabled": True, "budget": 9}
