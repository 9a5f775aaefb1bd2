"""Folders of the library, and the models of other programs."""

from __future__ import annotations

from pathlib import Path

from app.library.service import LibraryService, RootInfo, RootKind, RootState
from app.library.settings import LibrarySettings
from engine.errors import VrambleError
from tests.app.library.world import World, named, root_at
from tests.engine.library.making import llama
from tests.fakes.model_homes import eject, insert, put

DATA = llama()
UUID = "9016-4EF8"


def add(world: World, library: LibraryService, path: Path) -> RootInfo | VrambleError:
    outcomes: list[RootInfo | VrambleError] = []
    library.add_root(path, outcomes.append)
    world.drain()
    (outcome,) = outcomes
    return outcome


def test_an_added_folder_shows_its_models_and_lasts(world: World) -> None:
    put(world.folder / "more/m.gguf", DATA)
    library = world.library()
    told: list[bool] = []
    library.roots_changed.connect(lambda: told.append(True))
    root = add(world, library, world.folder / "more")
    assert isinstance(root, RootInfo)
    assert (root.models, root.root.kind, bool(told)) == (1, RootKind.FOLDER, True)
    assert [model.path.name for model in world.library().models] == ["m.gguf"]


def test_removing_leaves_the_files(world: World) -> None:
    path = put(world.folder / "more/m.gguf", DATA)
    library = world.library()
    root = add(world, library, world.folder / "more")
    assert isinstance(root, RootInfo)
    library.remove_root(root.id)
    world.drain()
    assert (library.models, path.exists()) == ((), True)


def test_the_same_folder_is_added_once(world: World) -> None:
    put(world.folder / "more/m.gguf", DATA)
    library = world.library()
    add(world, library, world.folder / "more")
    outcome = add(world, library, world.folder / "more/../more")
    assert isinstance(outcome, VrambleError)
    assert outcome.code == "already-in-library"


def test_a_folder_that_is_not_there_is_a_sentence(world: World) -> None:
    outcome = add(world, world.library(), world.folder / "none")
    assert isinstance(outcome, VrambleError)
    assert outcome.code == "no-such-folder"


def test_other_programs_are_shown_at_once_hidden_and_shown_again(world: World) -> None:
    put(world.around.home / ".lmstudio/models/a/b/m.gguf", DATA)
    library = world.library()
    (root,) = [root for root in library.roots if root.found]
    assert (root.name, named(library, "m.gguf").owner) == ("LM Studio", "LM Studio")
    library.remove_root(root.id)
    world.drain()
    assert (library.models, [one.id for one in library.hidden_roots]) == ((), [root.id])
    library.show_root(root.id)
    world.drain()
    assert len(library.models) == 1


def test_adding_a_hidden_folder_shows_it_again(world: World) -> None:
    put(world.around.home / ".lmstudio/models/a/b/m.gguf", DATA)
    library = world.library()
    library.remove_root(next(root.id for root in library.roots if root.found))
    world.drain()
    outcome = add(world, library, world.around.home / ".lmstudio/models")
    assert isinstance(outcome, RootInfo)
    assert (outcome.root.kind, world.settings.get(LibrarySettings).roots) == (RootKind.LM_STUDIO, ())


def test_others_can_be_switched_off(world: World) -> None:
    put(world.around.home / ".lmstudio/models/a/b/m.gguf", DATA)
    library = world.library()
    for others, count in ((False, 0), (True, 1)):
        world.settings.put(LibrarySettings(others=others))
        world.drain()
        assert len(library.models) == count


def test_a_card_is_not_inserted_and_comes_back(world: World) -> None:
    put(world.around.system / "sys/class/block/mmcblk0/removable", b"1\n")
    point = insert(world.around, "mmcblk0p1", UUID, world.folder / "run/media/deck/SD", "exfat")
    put(point / "m.gguf", DATA)
    library = world.library()
    add(world, library, point)
    (before,) = library.models
    eject(world.around, "mmcblk0p1")
    point.rename(world.folder / "pocket")
    library.rescan()
    world.drain()
    assert (root_at(library, point).state, named(library, "m.gguf").can_chat) == (RootState.NOT_INSERTED, False)
    insert(world.around, "mmcblk0p1", UUID, world.folder / "run/media/deck/OTHER", "exfat").rmdir()
    (world.folder / "pocket").rename(world.folder / "run/media/deck/OTHER")
    library.rescan()
    world.drain()
    (after,) = library.models
    assert (after.path, after.root) == (world.folder / "run/media/deck/OTHER/m.gguf", before.root)


def test_what_each_folder_brings_is_shown_before_the_last_is_read(world: World) -> None:
    put(world.own / "mine.gguf", DATA)
    put(world.around.home / ".lmstudio/models/a/b/m.gguf", llama(name="other"))
    library = LibraryService(world.own, None, world.crank, world.parent, world.outside)
    world.libraries.append(library)
    seen: list[int] = []
    library.models_changed.connect(lambda: seen.append(len(library.models)))
    world.drain()
    assert (seen[0], seen[-1]) == (1, 2)


def test_use_is_noted_and_lasts(world: World) -> None:
    path = put(world.own / "mine.gguf", DATA)
    library = world.library()
    library.note_used(path)
    assert library.models[0].last_used == 1000.0
    world.drain()
    assert world.library().models[0].last_used == 1000.0
    library.note_used(world.folder / "elsewhere.gguf")
