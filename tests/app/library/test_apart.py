"""The library looked at in a process of its own: it may die, say nonsense, and never outlives the service."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import psutil
import pytest

from app.library.service import LibraryService, RootInfo
from app.library.surveyor_apart import SurveyorApart
from engine.errors import VrambleError
from engine.library.child.launch import environment
from engine.library.records import ScanResult
from engine.library.survey import Wishes
from tests.app.library.world import World
from tests.engine.library.making import llama
from tests.fakes.model_homes import put

PATIENCE_MS = 60_000
REAL = "import runpy; runpy.run_module('engine.library.child', run_name='__main__')"


def python(code: str) -> list[str]:
    return [sys.executable, "-P", "-c", code]


class Told:
    """What a surveyor said."""

    def __init__(self, surveyor: SurveyorApart, wait: Callable[[Callable[[], object]], None]) -> None:
        self.surveyor, self.wait = surveyor, wait
        self.parts: list[ScanResult] = []
        self.ends: list[ScanResult | Exception] = []
        surveyor.found.connect(self.parts.append)
        surveyor.finished.connect(self.ends.append)
        surveyor.failed.connect(self.ends.append)

    def look(self, *, parts: bool = False) -> ScanResult | Exception:
        count = len(self.ends)
        self.surveyor.begin(Wishes(), (), parts=parts)
        self.wait(lambda: len(self.ends) > count)
        return self.ends[-1]


@pytest.fixture
def make(world: World, qtbot: Any) -> Iterator[Callable[..., Told]]:
    made: list[SurveyorApart] = []

    def build(program: list[str] | None = None) -> Told:
        env = environment(world.around)
        index = world.folder / "index"
        surveyor = SurveyorApart(world.own, index, lambda: env, world.parent, program)
        made.append(surveyor)
        return Told(surveyor, lambda ready: qtbot.waitUntil(ready, timeout=PATIENCE_MS))

    yield build
    for surveyor in made:
        surveyor.stop()


def names(found: ScanResult | Exception) -> list[str]:
    assert isinstance(found, ScanResult)
    return [model.path.name for model in found.models]


def test_models_of_all_folders_come_folder_by_folder(world: World, make: Callable[..., Told]) -> None:
    put(world.own / "a.gguf", llama(name="a"))
    put(world.around.home / ".lmstudio/models/p/r/b.gguf", llama(name="b"))
    told = make()
    assert names(told.look(parts=True)) == ["a.gguf", "b.gguf"]
    assert ["a.gguf"] in [names(part) for part in told.parts]
    before = told.ends[-1]
    again = told.look()
    assert isinstance(before, ScanResult)
    assert isinstance(again, ScanResult)
    assert [one is other for one, other in zip(before.models, again.models, strict=True)] == [True, True]


def test_another_process_goes_on_where_one_was_left(world: World, make: Callable[..., Told]) -> None:
    put(world.own / "a.gguf", llama())
    told = make()
    told.look()
    first = told.surveyor.pid
    told.surveyor.leave()
    assert told.surveyor.pid is None
    assert names(told.look()) == ["a.gguf"]
    assert told.surveyor.pid not in (None, first)


def test_a_process_that_dies_is_started_once_more(world: World, make: Callable[..., Told]) -> None:
    put(world.own / "a.gguf", llama())
    marker = world.folder / "was here"
    dies = f"import pathlib, os\np = pathlib.Path({str(marker)!r})\nif not p.exists():\n p.touch(); os.abort()\n"
    told = make(python(dies + REAL))
    assert names(told.look()) == ["a.gguf"]
    assert marker.exists()


def test_one_that_always_dies_is_a_sentence(world: World, make: Callable[..., Told]) -> None:
    told = make(python("import os, sys; print('no luck', file=sys.stderr, flush=True); os.kill(os.getpid(), 11)"))
    error = told.look()
    assert isinstance(error, VrambleError)
    assert (error.code, "signal 11" in error.message, "no luck" in error.detail) == ("scan-ended", True, True)
    assert isinstance(told.look(), VrambleError)


@pytest.mark.parametrize(
    "program",
    [
        python("import sys, time; sys.stdout.buffer.write(b'\\xff' * 99); sys.stdout.flush(); sys.stdin.read()"),
        python("import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\5hello'); sys.stdout.flush(); sys.stdin.read()"),
        ["/nowhere/at/all"],
    ],
)
def test_nonsense_and_what_cannot_be_started(make: Callable[..., Told], program: list[str]) -> None:
    error = make(program).look()
    assert isinstance(error, VrambleError)
    assert error.code == "scan-ended"


def test_stopping_ends_a_process_that_does_not_listen(make: Callable[..., Told], qtbot: Any) -> None:
    told = make(python("import signal, time\nwhile True: time.sleep(600)"))
    told.surveyor.begin(Wishes(), (), parts=False)
    qtbot.waitUntil(lambda: told.surveyor.pid is not None, timeout=PATIENCE_MS)
    process = psutil.Process(told.surveyor.pid)
    told.surveyor.stop()
    gone, _ = psutil.wait_procs([process], timeout=60)
    assert gone
    assert told.ends == []


# ---- the service


@pytest.fixture
def service(world: World, qtbot: Any) -> Iterator[LibraryService]:
    put(world.own / "a.gguf", llama())
    library = LibraryService(world.own, None, world.crank, world.parent, replace(world.outside, apart=True))
    assert library.scanning
    qtbot.waitUntil(lambda: not library.scanning, timeout=PATIENCE_MS)
    yield library
    library.shutdown()


def settle(world: World, library: LibraryService, qtbot: Any) -> None:
    def quiet() -> bool:
        world.drain()
        return not library.scanning

    qtbot.waitUntil(quiet, timeout=PATIENCE_MS)


def test_the_service_scans_apart(service: LibraryService, world: World, qtbot: Any) -> None:
    (model,) = service.models
    assert model.path.name == "a.gguf"
    service.verify(service.models)
    settle(world, service, qtbot)
    qtbot.waitUntil(lambda: service.models[0].checked == world.now, timeout=PATIENCE_MS)
    told: list[RootInfo | VrambleError] = []
    put(world.folder / "more/b.gguf", llama(name="b"))
    service.add_root(world.folder / "more", told.append)
    settle(world, service, qtbot)
    qtbot.waitUntil(lambda: len(told) == 1, timeout=PATIENCE_MS)
    assert isinstance(told[0], RootInfo)
    assert told[0].models == 1


def test_a_scan_that_fails_leaves_what_was_known(service: LibraryService, world: World, qtbot: Any) -> None:
    before = service.models
    surveyor = service.findChild(SurveyorApart)
    assert surveyor is not None
    surveyor.leave()
    surveyor._program = python("import os; os.abort()")
    told: list[RootInfo | VrambleError] = []
    put(world.folder / "more/b.gguf", llama(name="b"))
    service.add_root(world.folder / "more", told.append)
    settle(world, service, qtbot)
    qtbot.waitUntil(lambda: len(told) == 1, timeout=PATIENCE_MS)
    assert isinstance(told[0], VrambleError)
    assert service.models == before
    assert "signal 6" in service.problems[0]
