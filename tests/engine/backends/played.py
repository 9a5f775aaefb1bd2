"""ggml as the tests of plugins play it, and a machine with the two folders."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from engine.backends.build_record import BuildRecord
from engine.backends.finding import Folder
from engine.backends.ggml import Ggml, Registered
from engine.backends.load_guard import LoadGuard
from engine.backends.plugins import Conditions, load_plugins
from engine.memory.tree import Tree
from engine.protocol.types import BackendInfo
from tests.engine.backends.toy_plugins import ToyPlugins

NAMES = {"cpu": "CPU", "vulkan": "Vulkan", "rpc": "RPC", "hip": "ROCm"}


@dataclass
class FakeGgml:
    """Takes every plugin but those in ``refuse``; knows backends by the first word of the file's name."""

    refuse: tuple[str, ...] = ()
    called: dict[str, str] = field(default_factory=dict)
    """File name -> what the backend calls itself, where that is not what the name says."""
    devices: int = 1
    loaded: list[Path] = field(default_factory=list)
    unloaded: list[Registered] = field(default_factory=list)

    def load(self, plugin: Path) -> Registered | None:
        self.loaded.append(plugin)
        if plugin.name in self.refuse:
            return None
        kind = plugin.stem.split("-")[1]
        return Registered(len(self.loaded), self.called.get(plugin.name, NAMES.get(kind, kind)), self.devices)

    def unload(self, registered: Registered) -> None:
        self.unloaded.append(registered)


@dataclass
class Machine:
    """The engine's own folder and the user's."""

    toys: ToyPlugins
    own: Path
    users: Path

    def put(self, folder: Path, *kinds: str) -> None:
        for kind in kinds:
            self.toys.put(folder / f"libggml-{kind}.so")

    def load(self, ggml: FakeGgml, **conditions: Any) -> list[BackendInfo]:
        values = {"build": BuildRecord(), "guard": LoadGuard(None, Tree(self.own)), **conditions}
        folders = [Folder(self.own), Folder(self.users, users=True)]
        return list(load_plugins(cast("Ggml", ggml), folders, Conditions(**values)))
