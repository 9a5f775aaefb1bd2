"""Puts a built plugin into the folder that the engine looks into, in one step."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from vramble_setup.report import SetupError


def user_folder(environ: Mapping[str, str]) -> Path:
    """Where Vramble looks for plugins of the user: as `engine.paths` finds it, without its libraries."""
    if own := environ.get("VRAMBLE_BACKENDS_DIR"):
        return Path(own).absolute()
    if home := environ.get("VRAMBLE_HOME"):
        return Path(home).expanduser().absolute() / "data" / "backends"
    data = environ.get("XDG_DATA_HOME", "").strip()
    base = Path(data) if data else Path.home() / ".local" / "share"
    return base / "vramble" / "backends"


def install(built: Path, name: str, folder: Path) -> Path:
    """Copies plugin and record to `folder`, each under another name first and then moved to its place.

    The plugin is moved first: a record that does not belong to the file beside it (another size) is passed over by the
    engine, so a stop in between leaves a plugin that works.
    """
    goal, record = folder / name, folder / Path(name).with_suffix(".json")
    fresh = folder / f".{name}.new-{os.getpid()}"
    fresh_record = fresh.with_name(f"{fresh.name}.json")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_folder(goal)
        shutil.copyfile(built / name, fresh)
        fresh.chmod(0o755)
        fresh_record.write_text((built / "record.json").read_text(encoding="utf-8"), encoding="utf-8")
        _flush(fresh)
        _flush(fresh_record)
        fresh.replace(goal)
        fresh_record.replace(record)
        _flush(folder)
    except OSError as error:
        raise SetupError(
            f"The plugin was built, but could not be put into {folder}: {error.strerror}.",
            "Make room or give write access, then start again: the build is kept and is not done again.",
        ) from error
    finally:
        for left in (fresh, fresh_record):
            with contextlib.suppress(OSError):
                left.unlink()
    return goal


def _refuse_folder(goal: Path) -> None:
    if goal.is_dir():
        raise SetupError(f"{goal} is a folder.", "Move it away and start again.")


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def recorded(built: Path) -> dict[str, object]:
    """The record of a build."""
    facts: dict[str, object] = json.loads((built / "record.json").read_text(encoding="utf-8"))
    return facts
