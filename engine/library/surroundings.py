"""Where programs of this user keep things: home folder, environment, system folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.memory.tree import sysroot


@dataclass(frozen=True)
class Surroundings:
    """What decides where other programs keep their models.

    Attributes:
        home: The user's home folder.
        environ: Environment variables.
        system: Folder that stands for ``/``.
    """

    home: Path
    environ: Mapping[str, str]
    system: Path = Path("/")

    def variable(self, name: str) -> Path | None:
        """The folder that an environment variable names, None when it is not set."""
        value = self.environ.get(name, "").strip()
        return self.expanded(value) if value else None

    def expanded(self, text: str) -> Path:
        """``text`` as a path, with ``~`` and relative ones from the home folder."""
        if text == "~" or text.startswith("~/"):
            return self.home / text[2:]
        return self.home / text

    def xdg(self, variable: str, default: str) -> Path:
        """A base folder of the XDG specification, as programs outside of a Flatpak sandbox see it.

        Inside of one the variable names the sandbox's own folder, and ``HOST_`` before it the true one
        (flatpak-run(1)). ``default`` is below the home folder.
        """
        outside = self.environ.get(f"HOST_{variable}", "")
        found = outside or ("" if self.environ.get("FLATPAK_ID") else self.environ.get(variable, ""))
        return Path(found) if found.startswith("/") else self.home / default


def here(environ: Mapping[str, str] | None = None) -> Surroundings:
    """Those of this process."""
    env = os.environ if environ is None else environ
    home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - never fails
    return Surroundings(Path(home), env, sysroot(env))
