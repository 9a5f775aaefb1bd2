"""The MODEL argument of the commands and of the Python module."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from engine.errors import VrambleError
from engine.library.everywhere import scan_everywhere
from engine.library.lookup import find_model
from engine.library.states import FileState
from engine.paths import Paths, starter_model

STARTER = "starter"
HUB = "hf:"

HELP = f"a GGUF file, the name of an installed model, {HUB}OWNER/REPO/FILE, or '{STARTER}'"


def find_model_file(paths: Paths, argument: str) -> Path:
    """The file that ``argument`` means.

    Raises:
        VrambleError: There is no such model, with what to do about it.
    """
    if argument == STARTER and not Path(argument).is_file():
        return _starter()
    if argument.startswith(HUB):
        return _downloaded(paths, argument)
    return find_model(paths.models, argument, lambda: scan_everywhere(paths).models)


def _starter() -> Path:
    found = starter_model()
    if found is None:
        raise VrambleError(
            "no-starter-model", "The starter model is not installed.", "Run ./dev run once, or name another model."
        )
    return found


def _downloaded(paths: Paths, argument: str) -> Path:
    parts = PurePosixPath(argument.removeprefix(HUB)).parts
    if len(parts) < 3 or ".." in parts or parts[0] == "/":
        raise VrambleError(
            "bad-model-name", f"{argument} names no file on the Hub.", f"Write it as {HUB}owner/repo/file.gguf."
        )
    path = paths.models.joinpath(*parts)
    if path.is_file():
        return path
    owner, name, *file = parts
    wanted = (f"{owner}/{name}", "/".join(file))
    for model in scan_everywhere(paths).models:
        if (model.repo, model.file) == wanted and model.state is FileState.OK:
            return model.path
    command = f"vramble pull {wanted[0]} {wanted[1]}"
    raise VrambleError("model-not-downloaded", f"{argument} is not downloaded yet.", f"Get it with: {command}")
