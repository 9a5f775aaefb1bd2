"""Makes the environment in `.venv` and fills it with the pinned packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from vramble_setup.commands import CommandError, logged
from vramble_setup.report import SetupError, say


class Environment:
    """The checkout's `.venv`."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.folder = checkout / ".venv"
        self.python = self.folder / "bin" / "python"
        self.shared = self.folder / "share" / "vramble"
        self.log = self.shared / "setup.log"

    @property
    def site_packages(self) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "lib" / version / "site-packages"

    def identity(self) -> str:
        """What an environment belongs to: made by another Python or elsewhere, it does not work."""
        return f"{sys.version} {self.folder}"

    def ensure(self) -> None:
        """Makes the environment, unless a working one is there."""
        mark = self.shared / "identity"
        if self.python.exists() and _text(mark) == self.identity() and self._has_pip():
            return
        if self.folder.exists():
            say("Making .venv anew: it belongs to another Python or another folder.")
            shutil.rmtree(self.folder)
        else:
            say("Making the Python environment .venv.")
        done = subprocess.run(
            [sys.executable, "-m", "venv", self.folder],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise SetupError(
                f"The Python environment could not be made: {done.stdout.strip()}{done.stderr.strip()}",
                "Install Python's venv module (on Debian and Ubuntu the package python3-venv).",
            )
        self.shared.mkdir(parents=True)
        mark.write_text(self.identity(), encoding="utf-8")

    def _has_pip(self) -> bool:
        return (self.folder / "bin" / "pip").exists()

    def pip(self, *arguments: str | Path, what: str) -> None:
        """Runs the environment's pip and keeps what it says in the log."""
        command = [self.python, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
        try:
            logged(command, self.log, what, env=_quiet_environment())
        except CommandError as error:
            raise SetupError(
                error.message,
                f"Check the network and try again. The whole log is in {self.log}.",
            ) from error

    def install_pinned(self, *files: Path) -> None:
        """Installs exactly what the lock files say; pip checks every file's hash."""
        arguments: list[str | Path] = []
        for file in files:
            arguments += ["-r", file]
        # Python compiles what it imports at the first start; pip would compile all that there is.
        options = ("--require-hashes", "--no-compile")
        self.pip("install", *options, *arguments, what="Installing the pinned packages")

    def install_checkout(self) -> None:
        """Puts the program itself into the environment, as it lies in the checkout."""
        self.pip(
            *("install", "--no-deps", "--no-build-isolation", "--editable", self.checkout),
            what="Installing the program",
        )

    def download(self, requirements: Path, folder: Path, *options: str) -> None:
        """Fetches one pinned file as it is."""
        self.pip(
            *("download", "--no-deps", "--require-hashes", *options),
            *("-d", folder, "-r", requirements),
            what=f"Downloading what {requirements.name} pins",
        )

    def share(self, cached: Path, folder: str) -> Path:
        """Links a file of the cache into a folder that the installed program and its tests look into."""
        link = self.shared / folder / cached.name
        if not (link.is_symlink() and link.readlink() == cached):
            link.parent.mkdir(parents=True, exist_ok=True)
            fresh = link.with_suffix(".new")
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(cached)
            fresh.replace(link)
        return link


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _quiet_environment() -> dict[str, str]:
    environment = dict(os.environ)
    environment.pop("PYTHONPATH", None)
    environment["PYTHONNOUSERSITE"] = "1"
    return environment
