"""The pinned source archive of the engine, kept in the cache so that a second plugin does not fetch it again."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from vramble_setup import build_cache
from vramble_setup.cmake_build import ARCHIVES
from vramble_setup.commands import CommandError, logged
from vramble_setup.report import SetupError, say


def fetcher(checkout: Path, root: Path, archive_hash: str, given: Path | None, log: Path) -> Callable[[Path], None]:
    """A function that puts the archive into a folder: the given file, or the cache's after fetching it once."""

    def fetch(folder: Path) -> None:
        archive = given or _cached(checkout, root, archive_hash, log)
        if given is not None and not given.is_file():
            raise SetupError(f"There is no file {given}.", "--source takes the source archive of llama-cpp-python.")
        shutil.copyfile(archive, folder / ARCHIVES.replace("*", "pinned"))

    return fetch


def _cached(checkout: Path, root: Path, archive_hash: str, log: Path) -> Path:
    def make(folder: Path) -> None:
        say("Fetching the source of the engine (77 MB).")
        requirements = checkout / "requirements" / "llama.txt"
        options = ("--no-deps", "--require-hashes", "--no-binary", "llama-cpp-python", "--no-build-isolation")
        python = _python_with_pip(checkout)
        pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "download"]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        try:
            logged([*pip, *options, "-d", folder, "-r", requirements], log, "Fetching the source", env=environment)
        except CommandError as error:
            raise SetupError(
                error.message, f"Check the network, or name the archive with --source. The log is {log}."
            ) from error
        archives = sorted(folder.glob(ARCHIVES))
        if len(archives) != 1 or build_cache.sha256_of(archives[0]) != archive_hash:
            raise SetupError("The index sent another archive than the pinned one.", "Try again later.")

    place = build_cache.entry(root, f"engine-source-{archive_hash[:16]}", "the engine's source", make)
    return next(iter(sorted(place.glob(ARCHIVES))))


def _python_with_pip(checkout: Path) -> Path:
    """The checkout's own environment if it was set up: its pip has what is needed to look into a source archive."""
    own = checkout / ".venv" / "bin" / "python"
    if (own.parent / "pip").exists():
        return own
    if importlib.util.find_spec("pip") is None:
        raise SetupError(
            "Nothing is here to fetch the source with: this Python has no pip, and the checkout is not set up.",
            "Run `./dev run` once, install python3-pip, or name the archive with --source.",
        )
    return Path(sys.executable)
