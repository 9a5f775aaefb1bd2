"""Where things lie. `VRAMBLE_HOME` moves all of them below one folder."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True)
class Paths:
    """The folders of this installation; none is created by reading it."""

    data: Path
    config: Path
    cache: Path
    state: Path

    @property
    def models(self) -> Path:
        """Own models folder: ``<owner>/<repo>/<file>`` below it."""
        return self.data / "models"

    @property
    def database(self) -> Path:
        """Conversations and measured facts."""
        return self.data / "vramble.sqlite3"

    @property
    def settings(self) -> Path:
        """The one settings file."""
        return self.config / "settings.json"

    @property
    def backends(self) -> Path:
        """Folder for ggml plugins the user adds."""
        return self.data / "backends"

    @property
    def logs(self) -> Path:
        """Worker and program logs."""
        return self.state / "logs"


def find_paths(environ: dict[str, str] | None = None) -> Paths:
    """The folders after ``VRAMBLE_HOME``, else the platform's own (XDG)."""
    env = os.environ if environ is None else environ
    home = env.get("VRAMBLE_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return Paths(root / "data", root / "config", root / "cache", root / "state")
    dirs = platformdirs.PlatformDirs("vramble", appauthor=False)
    return Paths(dirs.user_data_path, dirs.user_config_path, dirs.user_cache_path, dirs.user_state_path)


def installed_share() -> Path:
    """Folder that the set-up fills: starter model, build record."""
    return Path(sys.prefix) / "share" / "vramble"


def starter_model() -> Path | None:
    """The model that came with the installation, or None."""
    found = sorted((installed_share() / "starter").glob("*.gguf"))
    return found[0] if found else None
