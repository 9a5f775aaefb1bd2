"""Deleting by the service: the plan, the trash, the way back."""

from __future__ import annotations

import os
from pathlib import Path

from app.library.service import Deletion
from app.library.trash import qt_trash
from engine.errors import VrambleError
from tests.app.library.world import World
from tests.engine.library.making import llama
from tests.fakes.model_homes import put

DATA = llama()


def home_trash() -> None:
    """A home folder in which a desktop has been."""
    (Path(os.environ["HOME"]) / ".local/share").mkdir(parents=True)


def test_the_plan_names_the_owner(world: World) -> None:
    path = put(world.around.home / ".lmstudio/models/a/b/m.gguf", DATA)
    library = world.library()
    plans: list[Deletion | VrambleError] = []
    library.plan_delete(library.models[0], plans.append)
    world.drain()
    (plan,) = plans
    assert isinstance(plan, Deletion)
    assert (plan.owner, plan.frees_bytes > 0, path.exists()) == ("LM Studio", True, True)


def test_models_of_any_root_are_deleted(world: World) -> None:
    path = put(world.around.home / ".lmstudio/models/a/b/m.gguf", DATA)
    taken = path.stat().st_blocks * 512
    library = world.library()
    freed: list[int | VrambleError] = []
    library.delete(library.models[0], freed.append)
    world.drain()
    assert freed == [taken]
    assert library.models == ()


def test_the_trash_and_back(world: World) -> None:
    home_trash()
    path = put(world.own / "a/x/m.gguf", DATA)
    library = world.library()
    freed: list[int | VrambleError] = []
    library.trash(library.models[0], freed.append)
    world.drain()
    assert isinstance(freed[0], int)
    assert freed[0] >= len(DATA)
    assert (library.models, path.exists(), library.can_undo_trash) == ((), False, True)
    undone: list[VrambleError | None] = []
    library.undo_trash(undone.append)
    world.drain()
    assert undone == [None]
    assert [model.path for model in library.models] == [path]
    assert not library.can_undo_trash
    library.undo_trash(undone.append)
    assert isinstance(undone[1], VrambleError)


def test_qt_cannot_carry_every_name(tmp_path: Path) -> None:
    home_trash()
    path = put(tmp_path / os.fsdecode(b"\xff.gguf"), DATA)
    assert qt_trash(path) is None
    assert path.exists()


def test_a_link_goes_to_the_trash_and_not_what_it_points_to(tmp_path: Path) -> None:
    home_trash()
    target = put(tmp_path / "real.gguf", DATA)
    link = tmp_path / "link.gguf"
    link.symlink_to(target)
    there = qt_trash(link)
    assert there is not None
    assert (target.exists(), link.is_symlink(), there.is_symlink()) == (True, False, True)
