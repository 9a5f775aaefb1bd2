"""Dry runs in a process of their own: one at a time, the newest wish wins, nothing is asked twice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot

from app.fit.ram_speed import ROOM, RamProbe
from app.load.dry_runs import DryRuns
from engine.memory.fit import FitModel, fit_devices
from engine.memory.fit.records import LayerCache, Piece
from engine.protocol.frames import Bench, Benched, DryRan, DryRun, Failed, Request
from engine.protocol.types import LoadOptions, MemoryUse
from tests.ui.shell.standins import HELLO

KEY = (Path("/models/a.gguf"), 5)
MODEL = FitModel(n_layers=4, n_vocab=100, pieces=(Piece(0, 1000),), caches=(LayerCache(keys=64, values=64),) * 4)
DEVICES = fit_devices(HELLO.devices)
ASKED = LoadOptions(n_ctx=4096)


class FakeLink(QObject):
    heard = Signal(object)
    ended = Signal(object, object, object)

    def __init__(self) -> None:
        super().__init__()
        self.running = False
        self.starts = self.stops = self.shut = 0
        self.requests: list[DryRun] = []
        self.cancelled: list[int] = []
        self.probes: list[int] = []

    def start(self, added: Mapping[str, str]) -> None:
        self.running, self.starts = True, self.starts + 1

    def submit(self, request: Request) -> None:
        if isinstance(request, Bench):
            assert request.test is None
            self.probes.append(request.id)
            return
        assert isinstance(request, DryRun)
        self.requests.append(request)

    def cancel(self, target: int) -> None:
        self.cancelled.append(target)

    def stop(self) -> None:
        self.stops += 1

    def shutdown(self) -> None:
        self.shut += 1

    def answer(self, compute: int = 77) -> None:
        memory = (MemoryUse(device="Vulkan0", compute=compute),)
        self.heard.emit(DryRan(id=self.requests[-1].id, memory=memory))

    def fail(self, code: str) -> None:
        self.heard.emit(Failed(id=self.requests[-1].id, code=code, message="No."))

    def die(self) -> None:
        self.running = False
        self.ended.emit(None, None, [])


@pytest.fixture
def link(qtbot: QtBot) -> FakeLink:
    return FakeLink()


@pytest.fixture
def runs(link: FakeLink) -> DryRuns:
    return DryRuns(link)


def want(runs: DryRuns, options: LoadOptions = ASKED) -> None:
    runs.want(KEY, options, MODEL, DEVICES)


def compute(runs: DryRuns, options: LoadOptions = ASKED) -> int | None:
    found = runs.measured(KEY, options)
    return None if found is None else found.compute.get("Vulkan0")


def test_the_process_starts_when_wanted_and_answers_once(runs: DryRuns, link: FakeLink, qtbot: QtBot) -> None:
    assert link.starts == 0
    want(runs)
    assert runs.is_asked(KEY, ASKED)
    assert (link.starts, link.requests) == (1, [])
    link.heard.emit(HELLO)
    with qtbot.waitSignal(runs.changed):
        link.answer()
    assert compute(runs) == 77
    want(runs)
    want(runs, msgspec.structs.replace(ASKED, n_threads=3))
    assert len(link.requests) == 1, "what makes no difference to memory is no other wish"


def test_a_newer_wish_takes_the_place(runs: DryRuns, link: FakeLink) -> None:
    want(runs)
    link.heard.emit(HELLO)
    for n_ctx in (5000, 6000, 7000):
        want(runs, LoadOptions(n_ctx=n_ctx))
    assert link.cancelled
    link.fail("cancelled")
    assert [request.options.n_ctx for request in link.requests] == [4096, 7000]
    link.answer(9)
    assert compute(runs, LoadOptions(n_ctx=7000)) == 9
    assert not runs.is_settled(KEY, ASKED), "what was cancelled may be asked again"
    assert runs.measured(KEY, ASKED) is not None, "another dry run of the model corrects the formula"
    assert runs.measured((KEY[0], 6), ASKED) is None, "another file at the same place is another model"


def test_what_aborts_is_not_tried_again(runs: DryRuns, link: FakeLink, qtbot: QtBot) -> None:
    want(runs)
    link.heard.emit(HELLO)
    with qtbot.waitSignal(runs.changed):
        link.die()
    assert runs.is_settled(KEY, ASKED)
    want(runs)
    assert link.starts == 1
    want(runs, LoadOptions(n_ctx=9000))
    assert link.starts == 2
    link.heard.emit(HELLO)
    link.fail("bad-load-options")
    assert runs.is_settled(KEY, LoadOptions(n_ctx=9000))
    assert runs.measured(KEY, ASKED) is None


def test_a_process_that_never_speaks_is_not_started_for_ever(runs: DryRuns, link: FakeLink) -> None:
    want(runs)
    link.die()
    assert link.starts == 1
    assert runs.is_settled(KEY, ASKED)


def test_a_wish_while_the_process_rests(runs: DryRuns, link: FakeLink) -> None:
    want(runs)
    link.heard.emit(HELLO)
    link.answer()
    runs._end_process()
    assert link.stops == 1
    want(runs, LoadOptions(n_ctx=9000))
    link.die()
    assert link.starts == 2
    link.heard.emit(HELLO)
    assert link.requests[-1].options.n_ctx == 9000


def test_nobody_waits_any_more(runs: DryRuns, link: FakeLink) -> None:
    want(runs)
    link.heard.emit(HELLO)
    runs.leave()
    assert link.cancelled == [link.requests[-1].id]
    runs.shutdown()
    want(runs, LoadOptions(n_ctx=9000))
    assert (link.shut, len(link.requests)) == (1, 1)


# The speed of the RAM


class Machine:
    """What the probe asks."""

    def __init__(self) -> None:
        self.known, self.idle, self.available = False, True, ROOM
        self.kept: list[float] = []
        self.probe = RamProbe(lambda: self.known, lambda: self.idle, lambda: self.available, self.kept.append)


def start(link: FakeLink, machine: Machine) -> DryRuns:
    runs = DryRuns(link, None, machine.probe)
    want(runs)
    link.heard.emit(HELLO)
    return runs


def test_the_ram_is_measured_once_no_dry_run_is_wished_for(link: FakeLink) -> None:
    machine = Machine()
    runs = start(link, machine)
    assert link.probes == []
    link.answer()
    assert compute(runs) == 77
    (probe,) = link.probes
    link.heard.emit(Benched(id=probe, ram=25e9))
    assert machine.kept == [25e9]
    want(runs, msgspec.structs.replace(ASKED, n_ctx=512))
    link.answer(5)
    assert len(link.probes) == 1, "once in a run"


def test_a_wish_meanwhile_waits_for_the_measurement(link: FakeLink) -> None:
    machine = Machine()
    runs = start(link, machine)
    link.answer()
    other = msgspec.structs.replace(ASKED, n_ctx=512)
    want(runs, other)
    assert len(link.requests) == 1
    assert runs.is_asked(KEY, other)
    link.heard.emit(Benched(id=link.probes[0], ram=25e9))
    assert len(link.requests) == 2
    link.answer(5)
    assert compute(runs, other) == 5


@pytest.mark.parametrize("why", ["known", "busy", "no room", "unknown room"])
def test_it_is_not_measured_where_it_would_be_wrong_or_for_nothing(link: FakeLink, why: str) -> None:
    machine = Machine()
    machine.known, machine.idle = why == "known", why != "busy"
    machine.available = {"no room": ROOM - 1, "unknown room": None}.get(why, ROOM)  # type: ignore[assignment]
    start(link, machine)
    link.answer()
    assert link.probes == []


@pytest.mark.parametrize("end", ["failed", "died", "nothing"])
def test_a_measurement_that_gives_nothing_is_not_tried_again(link: FakeLink, end: str) -> None:
    machine = Machine()
    runs = start(link, machine)
    link.answer()
    if end == "failed":
        link.heard.emit(Failed(id=link.probes[0], code="internal", message="No."))
    elif end == "nothing":
        link.heard.emit(Benched(id=link.probes[0]))
    else:
        link.die()
    assert machine.kept == []
    want(runs, msgspec.structs.replace(ASKED, n_ctx=512))
    if end == "died":
        link.heard.emit(HELLO)
    link.answer(5)
    assert len(link.probes) == 1
