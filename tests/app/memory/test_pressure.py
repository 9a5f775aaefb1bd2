"""A loaded model while memory gets short: told, parked, loaded again. Samples and the clock are made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QTimer

from app.memory.parking import NOTICE as PARKED
from app.memory.parking import ROOM_FOR_S
from app.memory.pressure import APART_S, GRACE_S, GUARD_MS, NEAR_MS, NOTICE, QUIET_S, PressureWatch
from app.memory.pressure_words import shortage_text
from app.memory.service import MemoryService
from app.memory.settings import MemorySettings, Park
from app.notices import Notice, Severity
from engine.client.session import WorkerState
from engine.memory.pressure import Cause, Level, Shortage
from engine.memory.records import GpuMemory, MemorySnapshot, Pool, ProcessMemory, RamMemory, WorkerGpu, WorkerMemory
from engine.memory.takers import Taker
from engine.protocol.types import LoadOptions
from tests.app.worker.conftest import MODEL, OTHER
from tests.app.worker.test_safe_mode import MakeWorld, World, make_world

__all__ = ["make_world"]

GIB, MIB = 1 << 30, 1 << 20
CARD = "0000:03:00.0"
OPTIONS = LoadOptions(n_ctx=2048)


class NeverRuns:
    """The samples come from the test."""

    def submit(self, work: Callable[[], None]) -> None:
        pass

    def close(self) -> None:
        pass


class NoSampler:
    def sample(self, worker: int | None = None) -> MemorySnapshot:
        raise NotImplementedError


class Desk:
    """A model that is loaded, a watch over it, and a machine whose memory the test sets."""

    def __init__(self, world: World, park: Park) -> None:
        self.world = world
        self.now = 5000.0
        world.settings.put(MemorySettings(park=park))
        self.memory = MemoryService(NoSampler(), NeverRuns())
        self.kept: list[Callable[[], None]] = []
        self.saves = False
        self.watch = PressureWatch(
            self.memory,
            world.service,
            world.settings,
            world.service_notices,
            keep=self._keep,
            clock=lambda: self.now,
        )
        self.available: float = 6.0
        self.swap: float = 8.0
        self.evicted = 0
        self.game = 0

    def _keep(self, done: Callable[[], None]) -> None:
        if self.saves:
            self.kept.append(done)
        else:
            done()

    def load(self) -> None:
        self.world.until_ended(self.world.load(options=OPTIONS))
        self.now += GRACE_S

    def run(self, seconds: float, available: float | None = None, swap: float | None = None) -> None:
        """Samples of so many seconds; sizes in GiB."""
        self.available = self.available if available is None else available
        self.swap = self.swap if swap is None else swap
        for _ in range(round(seconds)):
            self.memory.sampled.emit(self.snapshot())
            self.now += 1.0

    def snapshot(self) -> MemorySnapshot:
        held = WorkerGpu(pci=CARD, vram=3 * GIB - self.evicted, gtt=self.evicted, evicted=self.evicted)
        gpu = GpuMemory(
            pci=CARD,
            name="AMD Radeon RX 6600",
            vram=Pool(8 * GIB, 3 * GIB + self.game),
            gtt=Pool(16 * GIB, self.evicted),
            processes=(
                ProcessMemory(pid=9, name="game", vram=self.game),
                ProcessMemory(pid=7, name="python3", vram=held.vram, gtt=held.gtt, ours=True),
            ),
        )
        return MemorySnapshot(
            gpus=(gpu,),
            ram=RamMemory(
                total=16 * GIB,
                available=int(self.available * GIB),
                swap_total=8 * GIB,
                swap_free=int(self.swap * GIB),
            ),
            worker=None if self.world.service.model is None else WorkerMemory(pid=7, ram=GIB, gpus=(held,)),
            taken=self.now,
        )

    def told(self, key: str = NOTICE) -> list[Notice]:
        return [notice for notice in self.world.notices if notice.key == key]

    def press(self, label: str) -> None:
        """A button of the last notice."""
        (action,) = [action for action in self.world.notices[-1].actions if action.label == label]
        action.run()

    @property
    def interval(self) -> int | None:
        """How often is looked, milliseconds."""
        (timer,) = self.memory.findChildren(QTimer)
        return timer.interval() if timer.isActive() else None


@pytest.fixture
def make_desk(make_world: MakeWorld) -> Iterator[Any]:
    made: list[Desk] = []

    def make(park: Park = Park.ASK, **script: Any) -> Desk:
        desk = Desk(make_world(**script), park)
        made.append(desk)
        desk.load()
        return desk

    yield make
    for desk in made:
        desk.watch.deleteLater()
        desk.memory.shutdown()
        desk.memory.deleteLater()


def test_told_once_parked_by_a_click_and_back_by_a_click_with_the_same_options(make_desk: Any) -> None:
    desk = make_desk()
    assert desk.interval == GUARD_MS, "somebody looks while a model is loaded, also without a window"
    desk.run(10)
    assert desk.told() == []
    desk.run(60, available=0.8)
    assert desk.interval == NEAR_MS
    (notice,) = desk.told()
    assert notice.severity is Severity.WARN
    assert notice.text == (
        "Memory is running short: 0.8 GiB are left. Parking tiny gives about 4.0 GiB back until you load it again."
    )
    desk.press("Park the model")
    desk.world.until_state(WorkerState.STOPPED)
    assert desk.watch.parking.parked is not None
    assert desk.interval is None
    (parked,) = desk.told(PARKED)
    assert parked.text == "tiny is parked: about 4.0 GiB come free."
    desk.press("Load again")
    desk.world.until(lambda: desk.world.service.model is not None)
    assert desk.world.service.last_load == (MODEL, OPTIONS)
    assert desk.watch.parking.parked is None
    assert PARKED in desk.world.withdrawn
    assert desk.world.deaths == []


def test_closing_the_notice_is_an_answer_for_half_an_hour_but_critical_is_told(make_desk: Any) -> None:
    desk = make_desk()
    desk.run(10, available=0.8)
    desk.world.service_notices.closed.emit(NOTICE)
    desk.run(60, available=4.0)
    desk.run(APART_S + 10, available=0.8)
    assert len(desk.told()) == 1
    desk.run(5, available=0.4, swap=0.2)
    assert [notice.severity for notice in desk.told()] == [Severity.WARN, Severity.ERROR]
    assert desk.told()[-1].text.startswith(
        "Memory is almost used up: 0.4 GiB are left. The system may end programs at any moment."
    )
    desk.run(60, available=4.0, swap=8.0)
    desk.now += QUIET_S
    desk.run(10, available=0.8)
    assert len(desk.told()) == 3


def test_memory_that_comes_and_goes_is_told_once_a_minute_at_most_and_withdrawn(make_desk: Any) -> None:
    desk = make_desk()
    for _ in range(3):
        desk.run(5, available=0.8)
        desk.run(20, available=4.0)
    assert len(desk.told()) == 2, "75 seconds"
    assert desk.world.withdrawn.count(NOTICE) >= 2
    assert desk.watch.parking.parked is None


def test_loading_moves_memory_and_is_no_shortage(make_desk: Any) -> None:
    desk = make_desk()
    desk.now -= GRACE_S
    desk.run(GRACE_S, available=0.8)
    assert desk.told() == []
    desk.run(3)
    assert len(desk.told()) == 1


def test_a_game_that_pushes_the_model_out_is_named(make_desk: Any) -> None:
    desk = make_desk()
    desk.run(10)
    desk.game, desk.evicted = 5 * GIB, 3 * GIB // 2
    desk.run(5)
    (notice,) = desk.told()
    assert notice.text == (
        "game took 5.0 GiB of graphics memory. 1.5 GiB of tiny were pushed out of the memory of AMD Radeon RX 6600: "
        "answers become slow. Parking tiny gives about 4.0 GiB back until you load it again."
    )
    assert [action.label for action in notice.actions] == ["Park the model"]


def test_an_answer_is_waited_for(make_desk: Any, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    desk = make_desk(generate={"gate": str(gate), "gate_after": 1})
    desk.run(10, available=0.8)
    answer = desk.world.ask("one two three four five six seven eight")
    desk.world.until(lambda: bool(answer.deltas))
    desk.press("Park the model")
    assert desk.world.notices[-1].text == "tiny is parked when the answer is done, because memory is short."
    desk.run(70, available=0.8)
    assert len(desk.told()) == 2, "the warning is not told again over it"
    assert desk.world.service.state is WorkerState.GENERATING
    gate.touch()
    desk.world.until_state(WorkerState.STOPPED)
    assert (answer.text, answer.failure) == ("one two three four five six seven eight", "")
    assert desk.told(PARKED)[-1].text == "tiny is parked: about 4.0 GiB come free."


def test_waiting_can_be_given_up_or_cut_short_and_the_text_stays(make_desk: Any) -> None:
    desk = make_desk(generate={"gate": "/nowhere", "gate_after": 1})
    desk.run(10, available=0.8)
    answer = desk.world.ask("one two three four five six seven eight nine ten")
    desk.world.until(lambda: bool(answer.deltas))
    desk.press("Park the model")
    desk.press("Keep it loaded")
    assert not desk.watch.parking.waiting
    desk.watch.parking.park()
    desk.press("Park it now")
    desk.world.until_ended(answer)
    assert answer.failure == "stopped", "the chat keeps what was written of such an answer"
    assert answer.text.startswith("one ")
    assert desk.told(PARKED)[-1].text.endswith("The answer was stopped; what was written is kept.")


def test_automatically_parks_when_idle_and_spares_a_model_that_was_wanted_back(make_desk: Any) -> None:
    desk = make_desk(Park.AUTOMATICALLY)
    desk.run(10, available=0.8)
    desk.world.until_state(WorkerState.STOPPED)
    assert desk.told() == []
    assert len(desk.told(PARKED)) == 1
    desk.press("Load again")
    desk.world.until(lambda: desk.world.service.model is not None)
    desk.now += GRACE_S
    desk.run(60)
    assert desk.world.service.state is WorkerState.READY, "who loads it again wants it"
    desk.run(5, available=0.4, swap=0.1)
    desk.world.until_state(WorkerState.STOPPED)


def test_automatically_waits_for_an_answer_and_gives_up_when_memory_is_back(make_desk: Any, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    desk = make_desk(Park.AUTOMATICALLY, generate={"gate": str(gate), "gate_after": 1})
    answer = desk.world.ask("one two three four five six")
    desk.world.until(lambda: bool(answer.deltas))
    desk.run(10, available=0.8)
    assert desk.watch.parking.waiting
    desk.run(20, available=4.0)
    assert not desk.watch.parking.waiting
    gate.touch()
    desk.world.until_ended(answer)
    assert desk.world.service.state is WorkerState.READY


def test_automatically_stops_an_answer_only_when_programs_are_about_to_be_ended(make_desk: Any) -> None:
    desk = make_desk(Park.AUTOMATICALLY, generate={"gate": "/nowhere", "gate_after": 1})
    answer = desk.world.ask("one two three four five six seven eight nine ten")
    desk.world.until(lambda: bool(answer.deltas))
    desk.run(5, available=0.4, swap=0.1)
    desk.world.until_ended(answer)
    assert answer.failure == "stopped"
    assert desk.watch.parking.parked is not None


def test_never_offers_nothing_and_tells_only_what_is_critical(make_desk: Any) -> None:
    desk = make_desk(Park.NEVER)
    desk.run(100, available=0.8)
    assert desk.told() == []
    desk.run(5, available=0.4, swap=0.1)
    (notice,) = desk.told()
    assert notice.actions == ()
    assert "Parking" not in notice.text
    assert desk.world.service.state is WorkerState.READY


def test_a_model_that_is_unloaded_by_hand_is_not_parked(make_desk: Any) -> None:
    desk = make_desk()
    desk.run(10, available=0.8)
    desk.world.service.unload()
    desk.world.until_state(WorkerState.STOPPED)
    assert desk.watch.parking.parked is None
    assert desk.world.withdrawn[-1] == NOTICE
    assert desk.interval is None
    desk.run(20)
    assert len(desk.told()) == 1


def test_room_for_a_parked_model_is_told_once_and_another_model_replaces_it(make_desk: Any) -> None:
    desk = make_desk()
    desk.run(10, available=0.8)
    desk.press("Park the model")
    desk.world.until_state(WorkerState.STOPPED)
    desk.run(40, available=5.0)
    assert len(desk.told(PARKED)) == 1, "4 GiB and the reserve do not fit"
    desk.run(3 * ROOM_FOR_S, available=7.0)
    assert [notice.text for notice in desk.told(PARKED)][1:] == ["There is room for tiny again."]
    desk.world.until_ended(desk.world.load(OTHER))
    assert desk.watch.parking.parked is None


def test_a_load_that_fails_is_told_and_can_be_tried_again(make_desk: Any) -> None:
    full = {"fail": {"code": "load-failed", "message": "There is not enough memory.", "detail": "x"}}
    desk = make_desk(runs=[{}, {"load": full}])
    desk.run(10, available=0.8)
    desk.press("Park the model")
    desk.world.until_state(WorkerState.STOPPED)
    desk.press("Load again")
    desk.world.until(lambda: len(desk.told(PARKED)) == 2)
    assert desk.told(PARKED)[-1].text.startswith("tiny could not be loaded again. There is not enough memory.")
    assert desk.watch.parking.parked is not None


def test_what_should_be_kept_is_kept_first_and_a_question_meanwhile_goes_before(make_desk: Any) -> None:
    desk = make_desk()
    desk.saves = True
    desk.watch.parking.park()
    assert len(desk.kept) == 1
    answer = desk.world.ask("one two")
    desk.kept.pop()()
    assert desk.world.service.state is not WorkerState.STOPPED
    desk.world.until_ended(answer)
    desk.world.until(lambda: bool(desk.kept))
    desk.kept.pop()()
    desk.world.until_state(WorkerState.STOPPED)
    assert answer.text == "one two"


def test_unknown_figures_are_no_shortage(make_desk: Any) -> None:
    desk = make_desk()
    for _ in range(20):
        desk.memory.sampled.emit(msgspec.structs.replace(desk.snapshot(), ram=RamMemory(), gpus=(), worker=None))
        desk.now += 1
    assert desk.told() == []


def test_words_for_who_took_what() -> None:
    short = Shortage(level=Level.SHORT, causes=(Cause.RAM,), available=GIB)
    named = msgspec.structs.replace(short, taker=Taker("blender", 5 * GIB, ram=True))
    assert "blender took 5.0 GiB of memory." in shortage_text(named, "Tiny", offered=False)
    evicted = msgspec.structs.replace(named, causes=(Cause.EVICTED,), evicted=GIB)
    assert "blender" not in shortage_text(evicted, "Tiny", offered=False), "that is not why VRAM is short"
    game = msgspec.structs.replace(evicted, taker=Taker("game", 5 * GIB))
    assert shortage_text(game, "Tiny", offered=False).startswith("game took 5.0 GiB of graphics memory. ")
