"""Safer settings with a real worker service and a scripted worker: offered, tried, kept, forgotten."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.jobs import SerialRunner, ThreadExecutor
from app.notices import Notices
from app.paths import Paths
from app.settings.store import SettingsStore
from app.worker.safe_mode import LAST_STEP, WORDS, SafeMode
from app.worker.safer_settings import MOST_ENTRIES, SafeModeEntry, SafeModeSettings, SaferSettings
from app.worker.service import WorkerService
from engine.client.session import WorkerState
from engine.protocol.types import DeviceInfo, LoadOptions
from tests.app.worker.conftest import MODEL, OTHER, Answer, Bench
from tests.fakes.fake_worker import CPU, GPU, journal_entries, worker_command

LOST = {"signal": "SIGABRT", "stderr": ["terminate called after throwing an instance of 'vk::DeviceLostError'"]}
ASSERT = {"signal": "SIGABRT", "stderr": ["GGML_ASSERT(n_tokens > 0) failed"]}
FULL = {"fail": {"code": "out-of-memory", "message": "There is not enough memory.", "detail": "ErrorOutOfDeviceMemory"}}
HOST_FULL = {"fail": {"code": "out-of-memory", "message": "There is not enough memory.", "detail": "std::bad_alloc"}}
SPEC = "GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM"
PCI = GPU.pci or ""


class World(Bench):
    """A bench whose service keeps safer settings."""

    def __init__(self, folder: Path, qtbot: QtBot, script: dict[str, Any], layers: int, kept: SafeModeSettings) -> None:
        journal = folder / "journal.jsonl"
        environ = {
            **os.environ,
            "VRAMBLE_WORKER_COMMAND": worker_command({"journal": str(journal), **script}, folder),
        }
        notices = Notices()
        self.files = SerialRunner(ThreadExecutor("files"))
        self.settings = SettingsStore(folder / "settings.json", self.files, notices)
        self.settings.put(kept)
        paths = Paths(folder / "data", folder / "config", folder / "cache", folder / "state")
        service = WorkerService(
            paths, notices=notices, environ=environ, settings=self.settings, layers=lambda _path: layers
        )
        super().__init__(service, notices, qtbot, journal)
        self.service_notices = notices

    @property
    def safe_mode(self) -> SafeMode:
        assert self.service.safe_mode is not None
        return self.service.safe_mode

    @property
    def kept(self) -> tuple[SafeModeEntry, ...]:
        return self.settings.get(SafeModeSettings).entries

    @property
    def button(self) -> bool:
        """The present notice offers safer settings."""
        return bool(self.notices) and [action.label for action in self.notices[-1].actions] == [WORDS]

    def press(self) -> None:
        assert self.button, self.notices
        self.notices[-1].actions[0].run()

    def until_notice(self, start: str) -> None:
        self.until(lambda: bool(self.notices) and self.notices[-1].text.startswith(start), timeout=60_000)

    def fail_answer(self, text: str = "a b c d e f") -> Answer:
        answer = self.ask(text)
        self.until_ended(answer)
        return answer

    def changes(self) -> list[dict[str, Any]]:
        """What each load had other than the one before: its options, and the variables of its process."""
        variables: dict[int, dict[str, str]] = {}
        plain: list[dict[str, Any]] = []
        for line in journal_entries(self._journal):
            if line.get("start"):
                variables[line["pid"]] = line["ggml"]
            elif line["frame"]["type"] == "load":
                options = {**msgspec.to_builtins(LoadOptions()), **line["frame"]["options"]}
                spec = variables[line["pid"]].get(SPEC, "")
                plain.append({**options, SPEC: spec})
        return [{key: value for key, value in new.items() if old.get(key) != value} for old, new in pairwise(plain)]

    def loads(self, *fields: str) -> list[tuple[Any, ...]]:
        """Fields of the options of all loads the worker got, their defaults where nothing was sent."""
        defaults = msgspec.to_builtins(LoadOptions())
        return [tuple({**defaults, **f["options"]}[name] for name in fields) for f in self.received("load")]


MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(qtbot: QtBot, tmp_path: Path) -> Iterator[MakeWorld]:
    made: list[World] = []

    def make(layers: int = 32, kept: tuple[SafeModeEntry, ...] = (), **script: Any) -> World:
        world = World(tmp_path, qtbot, script, layers, SafeModeSettings(entries=kept))
        made.append(world)
        return world

    yield make
    for world in made:
        world.service.shutdown()
        world.files.close()
        for part in (world.service, world.settings):
            part.deleteLater()
    made.clear()
    gc.collect()  # here, not on a thread of the next test


def entry(*rungs: str, model: Path = MODEL, device: str = PCI, n_layers: int = 32) -> SafeModeEntry:
    return SafeModeEntry(model=str(model), device=device, rungs=rungs, n_layers=n_layers)


def test_device_lost_in_mid_answer_is_offered_tried_and_kept(make_world: MakeWorld) -> None:
    world = make_world(runs=[{"generate": {"after": 3, **LOST}}, {}])
    world.load()
    answer = world.fail_answer()
    assert (answer.text, answer.failure) == ("a b c ", "device-lost")
    assert not world.kept
    world.press()
    world.until_notice("tiny is loaded with safer settings")
    assert world.loads("n_ubatch") == [(512,), (128,)]
    assert world.kept == (entry("micro-batch-128", n_layers=4),), "the loaded model's own number of layers"
    assert world.safe_mode.in_use == ("The GPU reads prompts in steps of 128 tokens.",)
    assert world.service.last_load == (MODEL, LoadOptions()), "what the user asked stays what it is"
    again = world.ask("are you there")
    world.until_ended(again)
    assert again.text == "are you there"


def test_it_climbs_by_itself_while_loads_fail_and_stops_at_what_works(make_world: MakeWorld) -> None:
    crash = {"load": {"after": 1, **LOST}}
    world = make_world(runs=[crash, crash, crash, crash, crash, {}])
    world.until_ended(world.load())
    assert len(world.notices) == 1
    world.press()
    world.until_notice("tiny is loaded")
    assert world.loads("n_ubatch", "flash_attention", "kv_on_cpu") == [
        (512, "auto", False),
        (128, "auto", False),
        (64, "auto", False),
        (64, "off", False),
        (64, "off", False),
        (64, "off", True),
    ]
    texts = [notice.text for notice in world.notices[1:-1]]
    assert len(texts) == 5
    assert all(text.startswith("Loading tiny again with safer settings: ") for text in texts)
    assert "Flash attention is off." in texts[2]
    (kept,) = world.kept
    assert kept.rungs[-1] == "kv-on-cpu"
    assert world.service.state is WorkerState.READY


def test_failures_that_leave_the_worker_alive_climb_too(make_world: MakeWorld) -> None:
    world = make_world(load=[FULL, FULL, {}])
    world.until_ended(world.load())
    world.press()
    world.until_notice("tiny is loaded")
    assert world.loads("n_ubatch") == [(512,), (128,), (64,)]
    assert world.starts() == 1
    assert world.deaths == []


WHOLE_LADDER = [
    {"n_ubatch": 128},
    {"n_ubatch": 64},
    {"flash_attention": "off"},
    {SPEC: "1"},
    {"kv_on_cpu": True},
    {"n_gpu_layers": 24},
    {"n_gpu_layers": 16},
]
TO_THE_CPU = {
    "device": "cpu",
    "n_ubatch": 512,
    "flash_attention": "auto",
    SPEC: "",
    "kv_on_cpu": False,
    "n_gpu_layers": -1,
}


def test_the_whole_ladder_changes_one_thing_at_a_time_and_ends_at_the_cpu(make_world: MakeWorld) -> None:
    world = make_world(load={"after": 1, **ASSERT})
    world.until_ended(world.load())
    world.press()
    world.until_notice("Safer settings did not help.")
    assert world.notices[-1].text.endswith(LAST_STEP)
    assert "use fewer GPU layers or the CPU" not in world.notices[-1].text
    assert world.changes() == [*WHOLE_LADDER, TO_THE_CPU]
    assert world.starts() == 9
    assert world.kept == ()
    assert world.safe_mode.climbing is None
    assert not world.button


def test_the_cpu_works_where_no_gpu_setting_does_and_is_kept(make_world: MakeWorld) -> None:
    crash = {"load": {"after": 1, **LOST}}
    world = make_world(runs=[*[crash] * 8, {}])
    world.until_ended(world.load())
    world.press()
    world.until_notice("tiny is loaded with safer settings")
    assert world.changes() == [*WHOLE_LADDER, TO_THE_CPU]
    (kept,) = world.kept
    assert kept.rungs[-1] == "cpu"
    assert world.safe_mode.in_use == ("The model runs on the CPU.",)
    world.service.unload()
    world.until_state(WorkerState.STOPPED)
    world.until_ended(world.load())
    assert world.changes()[-1] == {}, "what worked is used again at once"


def test_each_death_while_answering_climbs_one_rung(make_world: MakeWorld) -> None:
    world = make_world(generate={"after": 1, **LOST})
    world.load()
    for batch in (512, 128, 64):
        assert world.fail_answer().failure == "device-lost"
        assert world.loads("n_ubatch")[-1] == (batch,)
        world.press()
        world.until_notice("tiny is loaded")
    (kept,) = world.kept
    assert kept.rungs == ("micro-batch-128", "micro-batch-64", "flash-attention-off")


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGILL", "SIGBUS"])
def test_ends_that_no_option_avoids_offer_the_same_load_again(make_world: MakeWorld, name: str) -> None:
    world = make_world(runs=[{"generate": {"after": 1, "signal": name}}, {}])
    world.load()
    world.fail_answer()
    (button,) = world.notices[-1].actions
    assert (button.label, world.starts()) == ("Load again", 1)
    button.run()
    world.until_state(WorkerState.READY)
    assert world.loads("n_ubatch") == [(512,), (512,)]


def test_failures_that_no_option_avoids_offer_nothing(make_world: MakeWorld) -> None:
    world = make_world()
    world.until_ended(world.load())
    offer = world.safe_mode.offer
    for code, detail in (("out-of-memory", "std::bad_alloc"), ("not-gguf", ""), ("cancelled", ""), ("killed", "")):
        assert offer(MODEL, LoadOptions(), code, detail) == ()
    assert offer(MODEL, LoadOptions(device="cpu"), "device-lost", "") == ()
    assert len(offer(MODEL, LoadOptions(), "device-lost", "")) == 1


def test_climbing_ends_at_another_kind_of_failure(make_world: MakeWorld) -> None:
    world = make_world(runs=[{"load": LOST}, {"load": HOST_FULL}, {}])
    world.until_ended(world.load())
    world.press()
    world.until_notice("Safer settings did not help. There is not enough memory.")
    assert world.kept == ()
    assert len(world.received("load")) == 2


def test_without_a_gpu_nothing_safer_is_offered(make_world: MakeWorld) -> None:
    world = make_world(devices=[msgspec.to_builtins(CPU)], runs=[{"generate": LOST}, {}])
    world.load()
    world.fail_answer()
    assert [action.label for action in world.notices[-1].actions] == ["Load again"]


def test_an_unanswered_stop_is_a_hang(make_world: MakeWorld) -> None:
    world = make_world(runs=[{"generate": {"after": 2, "silence": True}}, {}])
    world.load()
    answer = world.ask("a b c d e")
    world.until(lambda: len(answer.deltas) == 2)
    world.service.cancel(answer.id)
    world.until_ended(answer)
    assert answer.text == "a b "
    world.press()
    world.until_notice("tiny is loaded")


def test_computing_that_fails_gets_another_process_and_safer_settings(make_world: MakeWorld) -> None:
    """Vulkan may report a lost device instead of aborting; in that process it stays lost."""
    fail = {"code": "decode-failed", "message": "The engine failed while computing.", "next_step": "Try again."}
    world = make_world(runs=[{"generate": {"after": 2, "fail": fail}}, {}])
    world.load()
    answer = world.fail_answer()
    assert (answer.text, answer.failure, world.deaths) == ("a b ", "decode-failed", [])
    assert world.notices[-1].text == "The engine failed while computing. Try again."
    again = world.ask("still there")
    world.until_ended(again)
    assert (again.text, world.starts()) == ("still there", 2)
    assert world.loads("n_ubatch") == [(512,), (512,)]
    world.press()
    world.until_notice("tiny is loaded with safer settings")
    assert world.loads("n_ubatch")[-1] == (128,)


def test_stop_while_trying(make_world: MakeWorld) -> None:
    world = make_world(runs=[{"load": LOST}, {"load": {"steps": 1000, "delay": 0.01}}])
    world.until_ended(world.load())
    world.press()
    world.until(lambda: len(world.received("load")) == 2)
    assert world.safe_mode.climbing == MODEL
    (stop,) = world.notices[-1].actions
    stop.run()
    world.until(lambda: world.safe_mode.climbing is None)
    assert world.withdrawn[-1] == "worker"
    assert (world.kept, len(world.received("load"))) == ((), 2)


def test_another_model_while_trying_ends_it(make_world: MakeWorld) -> None:
    world = make_world(runs=[{"load": LOST}, {"load": [{"steps": 1000, "delay": 0.01}, {}]}])
    world.until_ended(world.load())
    world.press()
    world.until(lambda: len(world.received("load")) == 2)
    other = world.load(OTHER)
    world.until_ended(other)
    assert world.safe_mode.climbing is None
    assert world.loads("n_ubatch") == [(512,), (128,), (512,)]
    assert (world.kept, world.safe_mode.in_use) == ((), ())


def test_the_next_load_starts_from_what_was_kept(make_world: MakeWorld) -> None:
    """Also the first one, before the worker has told its devices; other models are left alone."""
    kept = (entry("micro-batch-128", "micro-batch-64", "layers-half"), entry("cpu", model=OTHER, device="0000:99:00.0"))
    world = make_world(kept=kept)
    world.until_ended(world.load())
    world.until_ended(world.load(OTHER))
    assert world.loads("n_ubatch", "n_gpu_layers", "device") == [(64, 16, None), (512, -1, None)]
    assert world.starts() == 1


def test_variables_of_a_rung_need_another_process(make_world: MakeWorld, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    world = make_world(kept=(entry("host-visible-memory-off"),))
    environ = world.service._link._environ
    assert isinstance(environ, dict)
    command = environ["VRAMBLE_WORKER_COMMAND"]
    environ["VRAMBLE_WORKER_COMMAND"] = f"sh -c 'echo \"[${{{SPEC}}}]\" >> {seen}; exec {command}'"
    world.service.start()
    world.until_state(WorkerState.IDLE)
    world.until_ended(world.load())
    world.until_ended(world.ask())
    world.until_ended(world.load(OTHER))
    assert seen.read_text().split() == ["[]", "[1]", "[]"]
    assert world.deaths == []
    assert world.notices == []


def test_normal_settings_again(make_world: MakeWorld) -> None:
    other = entry("cpu", model=OTHER)
    world = make_world(kept=(entry("micro-batch-64"), other))
    world.until_ended(world.load())
    assert world.safe_mode.in_use
    world.safe_mode.use_normal()
    world.until(lambda: len(world.received("load")) == 2 and world.service.state is WorkerState.READY)
    assert world.loads("n_ubatch") == [(64,), (512,)]
    assert (world.kept, world.safe_mode.in_use) == ((other,), ())


def test_who_never_needs_it_sees_no_difference(make_world: MakeWorld) -> None:
    world = make_world()
    options = LoadOptions(n_ctx=777, n_ubatch=300)
    world.until_ended(world.load(options=options), world.ask())
    assert world.loads("n_ctx", "n_ubatch") == [(777, 300)]
    assert (world.starts(), world.notices, world.safe_mode.in_use) == (1, [], ())
    assert world.settings.get(SafeModeSettings) == SafeModeSettings()


def test_entries_are_bounded_and_the_newest_stay(make_world: MakeWorld) -> None:
    world = make_world()
    kept = SaferSettings(world.settings)
    for number in range(MOST_ENTRIES + 5):
        kept.remember(entry("cpu", model=Path(f"/models/{number}.gguf")))
    kept.remember(entry("micro-batch-64", model=Path("/models/10.gguf")))
    assert len(world.kept) == MOST_ENTRIES
    assert not kept.knows(Path("/models/4.gguf"))
    assert kept.find(Path("/models/10.gguf"), PCI) == world.kept[-1]


def test_two_cards_have_their_own_entries(make_world: MakeWorld) -> None:
    second: DeviceInfo = msgspec.structs.replace(GPU, id="Vulkan1", pci="0000:c4:00.0", memory_free=1)
    devices = [msgspec.to_builtins(device) for device in (CPU, GPU, second)]
    world = make_world(devices=devices, kept=(entry("micro-batch-64", device="0000:c4:00.0"),))
    world.until_ended(world.load())
    world.until_ended(world.load(options=LoadOptions(device="0000:c4:00.0")))
    assert world.loads("n_ubatch") == [(512,), (64,)]


def test_the_service_is_let_go_without_the_cyclic_collector(make_world: MakeWorld, tmp_path: Path) -> None:
    """That one runs on any thread, where Qt's objects must not end."""
    folders = Paths(tmp_path, tmp_path, tmp_path, tmp_path)
    gc.disable()
    try:
        service = WorkerService(folders, notices=Notices(), settings=make_world().settings)
        assert service.safe_mode is not None
        gone = weakref.ref(service)
        del service
        assert gone() is None
    finally:
        gc.enable()
