"""Long work: checking, moving, importing; progress and cancel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.library.service import ImportMode, LibraryService, LibraryTask, RootInfo, TaskKind, TaskState
from app.library.task_queue import _taken
from engine.errors import VrambleError
from engine.library.origin import Origin, origin_path
from engine.library.states import FileState
from tests.app.library.world import World, named, root_at
from tests.engine.library.making import llama
from tests.fakes.model_homes import put

DATA = llama()
SHA256 = hashlib.sha256(DATA).hexdigest()


def described(path: Path, sha256: str = SHA256) -> Path:
    put(origin_path(path), json.dumps({"repo": "a/x", "path": path.name, "commit": "c", "sha256": sha256}).encode())
    return path


def ended(library: LibraryService) -> list[LibraryTask]:
    tasks: list[LibraryTask] = []
    library.task_ended.connect(tasks.append)
    return tasks


def test_a_check_marks_models_and_is_remembered(world: World) -> None:
    described(put(world.own / "a/x/right.gguf", DATA))
    described(put(world.own / "a/x/wrong.gguf", DATA), "0" * 64)
    library = world.library()
    tasks = ended(library)
    number = library.verify(library.models)
    assert [(task.id, task.state, task.count) for task in library.tasks] == [(number, TaskState.QUEUED, 2)]
    world.drain()
    (task,) = tasks
    assert (task.state, task.done_bytes, task.wrong) == (
        TaskState.DONE,
        2 * len(DATA),
        (world.own / "a/x/wrong.gguf",),
    )
    for one in (library, world.library()):
        right, wrong = named(one, "right.gguf"), named(one, "wrong.gguf")
        assert (right.verified, right.checked, right.can_chat) == (True, 1000.0, True)
        assert (wrong.verified, wrong.state, wrong.can_chat) == (False, FileState.DAMAGED, False)


def test_work_that_waits_is_cancelled_at_once(world: World) -> None:
    put(world.own / "m.gguf", DATA)
    library = world.library()
    tasks = ended(library)
    number = library.verify(library.models)
    library.cancel(number)
    assert [task.state for task in tasks] == [TaskState.CANCELLED]
    world.drain()
    assert len(tasks) == 1
    library.dismiss(number)
    assert library.tasks == ()


def test_work_that_has_just_begun_is_told_as_it_ends(world: World) -> None:
    """Its thread has taken it, and nobody knows yet: what it does is done, whatever was wanted meanwhile."""
    put(world.own / "a/x/m.gguf", DATA)
    (world.folder / "drive").mkdir()
    library = world.library()
    library.add_root(world.folder / "drive", lambda _root: None)
    world.drain()
    tasks = ended(library)
    number = library.move(library.models[0], root_at(library, world.folder / "drive").id)
    (job,) = library._queue._jobs
    assert _taken(job)
    library.cancel(number)
    assert tasks == []
    job.ticket.append(None)
    world.drain()
    assert [task.state for task in tasks] == [TaskState.DONE]
    assert (world.folder / "drive/a/x/m.gguf").exists()


def test_what_was_cancelled_never_runs(world: World) -> None:
    put(world.own / "a/x/m.gguf", DATA)
    (world.folder / "drive").mkdir()
    library = world.library()
    library.add_root(world.folder / "drive", lambda _root: None)
    world.drain()
    tasks = ended(library)
    library.cancel(library.move(library.models[0], root_at(library, world.folder / "drive").id))
    assert [task.state for task in tasks] == [TaskState.CANCELLED]
    world.drain()
    assert (world.own / "a/x/m.gguf").exists()
    assert len(tasks) == 1


def test_a_task_that_runs_is_not_dismissed(world: World) -> None:
    put(world.own / "m.gguf", DATA)
    library = world.library()
    number = library.verify(library.models)
    library.dismiss(number)
    assert len(library.tasks) == 1
    world.drain()


def test_a_model_moves_to_another_folder(world: World) -> None:
    described(put(world.own / "a/x/m.gguf", DATA))
    (world.folder / "drive").mkdir()
    library = world.library()
    added: list[RootInfo | VrambleError] = []
    library.add_root(world.folder / "drive", added.append)
    world.drain()
    places: list[Path | VrambleError] = []
    moves: list[tuple[str, str]] = []
    library.moved.connect(lambda *paths: moves.append(paths))
    library.note_used(world.own / "a/x/m.gguf")
    library.move(library.models[0], root_at(library, world.folder / "drive").id, places.append)
    world.drain()
    assert moves == [(str(world.own / "a/x/m.gguf"), str(world.folder / "drive/a/x/m.gguf"))]
    assert places == [world.folder / "drive/a/x/m.gguf"]
    (model,) = library.models
    assert (model.path, model.repo, model.root) == (places[0], "a/x", root_at(library, world.folder / "drive").id)
    assert model.last_used == 1000.0


def test_a_move_to_nowhere_is_a_sentence(world: World) -> None:
    put(world.own / "m.gguf", DATA)
    library = world.library()
    with pytest.raises(VrambleError):
        library.move(library.models[0], "none")


def test_a_failed_task_has_its_reason(world: World) -> None:
    path = put(world.own / "m.gguf", DATA)
    library = world.library()
    tasks = ended(library)
    library.verify(library.models)
    path.unlink()
    world.drain()
    (task,) = tasks
    assert task.state is TaskState.FAILED
    assert task.error is not None
    assert task.error.code == "unreadable"


@pytest.mark.parametrize("how", list(ImportMode))
def test_files_are_brought_in(world: World, how: ImportMode) -> None:
    source = put(world.folder / "downloads/m-Q8_0.gguf", DATA)
    library = world.library()
    places: list[Path | VrambleError] = []
    library.import_files([source], how, done=places.append)
    world.drain()
    assert places == [world.own / "imported/m-Q8_0/m-Q8_0.gguf"]
    assert [model.path for model in library.models] == places
    assert source.exists() == (how is not ImportMode.MOVE)


def test_pieces_are_joined(world: World) -> None:
    put(world.own / "m.gguf.part1of2", DATA[:100])
    put(world.own / "m.gguf.part2of2", DATA[100:])
    library = world.library()
    library.join(library.models[0])
    world.drain()
    assert [(model.path.name, model.state) for model in library.models] == [("m.gguf", FileState.OK)]


def test_likely_duplicates_are_hashed_and_shared(world: World) -> None:
    for name in ("a.gguf", "b.gguf"):
        put(world.own / name, DATA)
    library = world.library()
    assert named(library, "b.gguf").likely_duplicate
    tasks = ended(library)
    library.find_duplicates()
    world.drain()
    assert [(task.kind, task.count) for task in tasks] == [(TaskKind.COMPARE, 2)]
    second = named(library, "b.gguf")
    assert (second.likely_duplicate, second.duplicate_of) == (False, world.own / "a.gguf")
    library.share(second)
    world.drain()
    assert named(library, "b.gguf").same_file
    with pytest.raises(VrambleError):
        library.share(named(library, "a.gguf"))


def test_repair_is_handed_on(world: World) -> None:
    path = described(put(world.own / "a/x/m.gguf", DATA[:-9]))
    asked: list[tuple[Path, Origin | None, Sequence[Path]]] = []
    library = world.library(repair=lambda *what: asked.append(what))
    library.repair(library.models[0])
    ((where, origin, parts),) = asked
    assert (where, tuple(parts)) == (path, (path,))
    assert origin is not None
    assert (origin.repo, origin.path, origin.sha256) == ("a/x", "m.gguf", SHA256)


def test_without_downloads_there_is_no_repair(world: World) -> None:
    put(world.own / "m.gguf", DATA[:-9])
    library = world.library()
    with pytest.raises(VrambleError):
        library.repair(library.models[0])


def test_quitting_ends_what_runs(world: World) -> None:
    put(world.own / "m.gguf", DATA)
    library = world.library()
    tasks = ended(library)
    library.verify(library.models)
    library.shutdown()
    assert tasks == []
    assert not world.files.waiting
