"""Self-tests with a real worker service and a scripted worker: when they run, what is kept, what is said."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.worker import self_test
from app.worker.safe_mode import WORDS
from app.worker.safer_settings import SafeModeSettings
from app.worker.self_test import ACCEPT, INTERRUPTED, NOTICE, RESERVE
from app.worker.verdicts import MOST_ENTRIES, SelfTestEntry, SelfTestSettings, Verdicts
from engine.client.session import WorkerState
from engine.protocol.types import LoadOptions
from tests.app.worker.conftest import MODEL, OTHER
from tests.app.worker.self_test_world import World
from tests.fakes.fake_worker import CPU, GPU, journal_entries

MARKED = {"info": {"fingerprint": "one"}}
LOST = {"signal": "SIGABRT", "stderr": ["terminate called after throwing an instance of 'vk::DeviceLostError'"]}


MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeWorld]:
    monkeypatch.setattr(self_test, "REST_MS", 10)
    made: list[World] = []

    def make(script: dict[str, Any] | None = None, **settings: Any) -> World:
        world = World(tmp_path, qtbot, {"load": MARKED, **(script or {})}, **settings)
        made.append(world)
        return world

    yield make
    for world in made:
        world.end()
    made.clear()
    gc.collect()


def test_a_healthy_model_is_tested_once_and_nothing_is_said(make_world: MakeWorld) -> None:
    world = make_world()
    world.load()
    entry = world.until_judged("ok")
    assert (entry.fingerprint, entry.model, entry.device) == ("one", str(MODEL), GPU.name)
    assert len(entry.detail.splitlines()) == 2, "the figures of each place are for failures"
    assert world.kept == (entry,)
    assert world.tests.entry == entry
    assert world.tested() == (1, 1)
    assert world.notices == []
    world.until_ended(world.load(OTHER))
    world.until_ended(world.ask())
    assert world.tested() == (1, 1), "known by its fingerprint"
    assert world.tests.entry == entry
    assert WorkerState.GENERATING not in world.states[: world.states.index(WorkerState.READY) + 1]


def test_the_reference_is_asked_without_gpus_and_its_process_ends(make_world: MakeWorld) -> None:
    backends = [
        {"name": "CPU", "path": "/fake/libggml-cpu.so", "loaded": True},
        {"name": "Vulkan", "path": "/fake/libggml-vulkan.so", "loaded": True},
        {"name": "ROCm", "path": "/fake/libggml-hip.so", "loaded": False, "error": "Switched off in the settings."},
    ]
    world = make_world({"backends": backends})
    world.load(options=LoadOptions(n_ctx=777))
    world.until_judged("ok")
    (frame,) = [f for f in world.received("self_test") if f.get("reference")]
    assert frame["reference"]["path"] == str(MODEL)
    assert frame["reference"]["options"]["n_ctx"] == 777
    assert frame["reference"]["probe"]["tokens"]
    assert world.link.added == {"VRAMBLE_BACKENDS_OFF": "Vulkan,ROCm"}
    world.until(lambda: not world.tests.comparing)
    assert world.service.state is WorkerState.READY


def test_disagreement_warns_and_the_button_climbs_a_rung(make_world: MakeWorld) -> None:
    loads = [MARKED, {"info": {"fingerprint": "two"}}]
    world = make_world({"load": loads, "self_test": [{"probe": "wrong"}, {}]})
    world.load()
    entry = world.until_judged("disagrees")
    assert world.kept == (entry,)
    (warning,) = world.warnings
    assert warning.text == ("tiny gives other results on Fake Radeon than on the CPU: answers may be nonsense.")
    assert "After 24 tokens: device 500, CPU 10" in warning.detail
    assert [action.label for action in warning.actions] == [WORDS, ACCEPT]
    world.press(WORDS)
    again = world.until_judged("ok", count=2)
    assert again.fingerprint == "two"
    assert NOTICE in world.withdrawn
    (kept,) = world.settings.get(SafeModeSettings).entries
    assert kept.rungs == ("flash-attention-off",), "a smaller micro-batch would be the same test"
    assert [entry.outcome for entry in world.kept] == ["disagrees", "ok"]


@pytest.mark.parametrize(
    ("probe", "outcome", "words"),
    [
        ("nan", "no-numbers", "tiny gives no valid results on Fake Radeon."),
        ("constant", "constant", "tiny expects the same word whatever it reads, on Fake Radeon."),
    ],
)
def test_what_is_plainly_wrong_is_said_at_once(make_world: MakeWorld, probe: str, outcome: str, words: str) -> None:
    world = make_world({"self_test": {"probe": probe}})
    world.load()
    world.until_judged(outcome)
    assert [warning.text for warning in world.warnings] == [words]
    assert world.tested() == (1, 0), "the CPU need not be asked"


def test_on_the_cpu_there_is_nothing_to_compare_with(make_world: MakeWorld) -> None:
    world = make_world()
    world.load(options=LoadOptions(device="cpu"))
    assert world.until_judged("ok").device == CPU.name
    assert world.tested() == (1, 0)


def test_wrong_on_the_cpu_is_the_files_fault(make_world: MakeWorld) -> None:
    world = make_world({"self_test": {"probe": "constant"}})
    world.load(options=LoadOptions(device="cpu"))
    world.until_judged("constant")
    (warning,) = world.warnings
    assert warning.text.startswith("tiny expects the same word whatever it reads: its file may be damaged.")
    assert [action.label for action in warning.actions] == [ACCEPT]


def test_a_known_failure_warns_at_each_load_until_it_is_accepted(make_world: MakeWorld) -> None:
    world = make_world({"self_test": {"probe": "nan"}})
    world.load()
    world.until_judged("no-numbers")
    world.load()
    world.until(lambda: len(world.warnings) == 2)
    assert world.tested() == (1, 0)
    world.press(ACCEPT)
    assert world.kept[0].accepted
    world.until_ended(world.load())
    world.until_ended(world.ask())
    assert len(world.warnings) == 2


def test_switched_off(make_world: MakeWorld) -> None:
    world = make_world(self_test=False)
    world.until_ended(world.load(), world.ask())
    assert world.tested() == (0, 0)
    assert world.tests.entry is None


def test_a_load_without_a_fingerprint_is_not_tested(make_world: MakeWorld) -> None:
    world = make_world({"load": {}})
    world.until_ended(world.load(), world.ask())
    assert world.tested() == (0, 0)


def test_a_message_that_waits_for_its_model_comes_right_after_the_test(make_world: MakeWorld) -> None:
    world = make_world()
    world.load()
    answer = world.ask("one two")
    world.until_ended(answer)
    assert answer.text == "one two"
    world.until_judged("ok")
    entries = journal_entries(world.journal)
    kinds = [entry["frame"]["type"] for entry in entries if "frame" in entry]
    assert kinds == ["load", "self_test", "generate", "self_test"]


def test_messages_go_before_the_comparison(make_world: MakeWorld) -> None:
    world = make_world({"reference": {"delay": 30}})
    world.load()
    for number in range(1, self_test.MOST_TRIES + 1):
        world.until_tested(1, number)
        answer = world.ask("still there")
        world.until_ended(answer)
        assert answer.text == "still there"
    entry = world.until_judged("unchecked")
    assert entry.detail == INTERRUPTED
    assert world.kept == (), "the next load tries again"
    assert world.notices == []
    world.until(lambda: not world.tests.comparing)
    world.until_ended(world.load())
    world.until(lambda: world.tested()[0] == 2)


def test_without_room_in_ram_the_cpu_is_not_asked(make_world: MakeWorld) -> None:
    world = make_world()
    for room in (RESERVE, None):
        world.room = room
        world.judged.clear()
        world.load()
        entry = world.until_judged("unchecked")
        assert "do not fit into the RAM that is available" in entry.detail
    assert world.tested() == (2, 0)
    assert (world.kept, world.notices) == ((), [])


@pytest.mark.parametrize("reference", [{"signal": "SIGKILL"}, {"exit": 1}, {"fail": {"code": "x", "message": "No."}}])
def test_a_comparison_that_cannot_be_made_is_no_failure(make_world: MakeWorld, reference: dict[str, Any]) -> None:
    world = make_world({"reference": {"after": 0, **reference}})
    world.load()
    assert world.until_judged("unchecked").detail
    assert (world.kept, world.notices) == ((), [])
    assert world.service.state is WorkerState.READY


def test_a_comparison_that_takes_too_long(make_world: MakeWorld) -> None:
    world = make_world({"reference": {"silence": True, "after": 0}})
    world.load()
    world.until_tested(1, 1)
    world.tests._comparison.give_up()
    assert "two minutes" in world.until_judged("unchecked").detail


def test_nothing_to_read_off_is_no_failure(make_world: MakeWorld) -> None:
    world = make_world({"self_test": {"probe": "The model has no vocabulary."}})
    world.load()
    assert world.until_judged("unchecked").detail == "The model has no vocabulary."
    assert world.notices == []


def test_a_test_that_fails_is_no_verdict(make_world: MakeWorld) -> None:
    world = make_world({"self_test": {"after": 0, "fail": {"code": "decode-failed", "message": "Code 3."}}})
    world.load()
    assert world.until_judged("unchecked").detail == "Code 3."
    assert world.kept == ()


def test_a_gpu_that_is_lost_in_the_test(make_world: MakeWorld) -> None:
    """Told like every end of a worker, with the button for safer settings."""
    world = make_world({"runs": [{"self_test": {"after": 0, **LOST}}, {}]})
    world.load()
    world.until(lambda: bool(world.deaths))
    assert world.deaths[0].code == "device-lost"
    (notice,) = world.notices
    assert WORDS in [action.label for action in notice.actions]
    assert world.judged == []
    answer = world.ask("hello again")
    world.until_ended(answer)
    assert answer.text == "hello again"


def test_another_model_ends_the_comparison(make_world: MakeWorld) -> None:
    other = {"info": {"fingerprint": "two"}}
    world = make_world({"load": [MARKED, other], "reference": {"delay": 0.3}})
    world.load()
    world.until_tested(1, 1)
    world.load(OTHER)
    entry = world.until_judged("ok")
    assert entry.fingerprint == "two"
    assert [entry.fingerprint for entry in world.kept] == ["two"]


def test_unloading_ends_it_all(make_world: MakeWorld) -> None:
    world = make_world({"reference": {"delay": 30}})
    world.load()
    world.until_tested(1, 1)
    world.service.unload()
    world.until(lambda: not world.tests.comparing and world.service.state is WorkerState.STOPPED)
    assert (world.judged, world.tests.entry) == ([], None)


def test_quitting_ends_the_comparison(make_world: MakeWorld) -> None:
    world = make_world({"reference": {"delay": 30}})
    world.load()
    world.until_tested(1, 1)
    world.tests.shutdown()
    world.until(lambda: not world.tests.comparing)


def test_verdicts_are_bounded_and_survive_the_file(make_world: MakeWorld) -> None:
    world = make_world()
    kept = Verdicts(world.settings)
    for number in range(MOST_ENTRIES + 3):
        kept.remember(SelfTestEntry(fingerprint=str(number), outcome="ok"))
    kept.remember(SelfTestEntry(fingerprint="5", outcome="constant"))
    kept.remember(SelfTestEntry(fingerprint="u"))
    assert len(world.kept) == MOST_ENTRIES
    assert kept.find("2") is None
    found = kept.find("5")
    assert found is not None
    assert (found.failed, world.kept[-1]) == (True, found)
    encoded = msgspec.json.encode(world.settings.get(SelfTestSettings))
    assert msgspec.json.decode(encoded, type=SelfTestSettings).entries == world.kept
