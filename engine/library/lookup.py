"""From what a user types to a model file."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Callable
from pathlib import Path

from engine.errors import VrambleError
from engine.library.names import base_stem, shown
from engine.library.records import InstalledModel
from engine.library.scan import scan

HUB_PREFIX = "hf:"


def find_model(
    models_folder: Path, name: str, elsewhere: Callable[[], tuple[InstalledModel, ...]] = lambda: ()
) -> Path:
    """The file that ``name`` means: a path, an installed model's name or file, or a unique beginning of one.

    ``hf:owner/repo/file.gguf`` and ``owner/repo/file.gguf`` mean the installed copy of that file. ``elsewhere`` gives
    the models of all folders; it is asked when the own folder has none of exactly this name.

    Raises:
        VrambleError: ``missing-file`` for a path that leads nowhere, ``unreadable-file``, ``model-not-found`` with the
            nearest names, ``model-ambiguous`` with all that fit.
    """
    path = Path(os.path.expanduser(name))  # noqa: PTH111 - the method of Path fails for a user that is not known
    if _is_file(path):
        return path.absolute()
    own = scan(models_folder).models
    wanted = name.removeprefix(HUB_PREFIX).casefold()
    if found := _only(name, _exact(own, models_folder, wanted)):
        return found
    every = elsewhere() or own
    for matches in (_exact(every, models_folder, wanted), _starting(own, wanted), _starting(every, wanted)):
        if found := _only(name, matches):
            return found
    raise _no_file(path, name) if _looks_like_path(name) else _not_found(name, every)


def _only(name: str, matches: list[InstalledModel]) -> Path | None:
    """The path of the one match, of the first among equals; None without any."""
    paths = {model.path for model in matches}
    matches = [model for model in matches if model.duplicate_of not in paths]
    if len(matches) > 1:
        raise _ambiguous(name, matches)
    return matches[0].path if matches else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError as error:
        step = "Check the permissions of its folder."
        raise VrambleError("unreadable-file", f"{shown(path)} cannot be read.", step, str(error)) from error
    except (OSError, ValueError):
        return False


def _looks_like_path(name: str) -> bool:
    return not name.startswith(HUB_PREFIX) and (os.sep in name or name.casefold().endswith(".gguf"))


def _no_file(path: Path, name: str) -> VrambleError:
    step = "Check the path, or name an installed model: “vramble models list” shows them."
    with contextlib.suppress(OSError, ValueError):
        if path.is_dir():
            return VrambleError("missing-file", f"{shown(name)} is a folder, not a model file.", step)
    return VrambleError("missing-file", f"The file {shown(name)} does not exist.", step)


def _spellings(model: InstalledModel, models_folder: Path) -> set[str]:
    file_name = shown(model.path.name)
    inside = shown(model.path.relative_to(models_folder)) if model.path.is_relative_to(models_folder) else file_name
    return {text.casefold() for text in (model.label, file_name, base_stem(file_name), inside, *model.also)}


def _exact(models: tuple[InstalledModel, ...], models_folder: Path, wanted: str) -> list[InstalledModel]:
    best = [model for model in models if wanted in _spellings(model, models_folder)]
    return best or [model for model in models if wanted == model.name.casefold()]


def _starting(models: tuple[InstalledModel, ...], wanted: str) -> list[InstalledModel]:
    if not wanted:
        return []
    return [
        model
        for model in models
        if model.label.casefold().startswith(wanted) or shown(model.path.name).casefold().startswith(wanted)
    ]


def _ambiguous(name: str, matches: list[InstalledModel]) -> VrambleError:
    names = ", ".join(shown(model.path.name) for model in matches[:5])
    return VrambleError(
        "model-ambiguous",
        f"“{name}” fits {len(matches)} models: {names}.",
        "Give more of the name, or the path.",
        "\n".join(shown(model.path) for model in matches),
    )


def _not_found(name: str, models: tuple[InstalledModel, ...]) -> VrambleError:
    labels = [model.label for model in models if model.can_chat]
    folded = {label.casefold(): label for label in labels}
    near = difflib.get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.4)
    if near:
        step = "Did you mean " + " or ".join(folded[text] for text in near) + "?"
    elif labels:
        step = "Installed are: " + ", ".join(labels[:5]) + "."
    else:
        step = "No model is installed: get one with “vramble pull owner/repo”."
    return VrambleError("model-not-found", f"There is no model called “{name}”.", step)
