"""Loading ggml's backend plugins, one for each backend, and saying why another is absent or idle."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from engine.backends import reasons
from engine.backends.build_record import BuildRecord
from engine.backends.elf import Library, NotLoadable, read_library
from engine.backends.finding import Folder, PluginFile, find_plugins
from engine.backends.ggml import Ggml, Registered
from engine.backends.kinds import CPU, backend_name
from engine.backends.load_guard import LoadGuard
from engine.backends.plugin_record import read_record
from engine.protocol.types import SWITCHED_OFF, BackendInfo

PATIENCE_WITH_USERS, PATIENCE_WITH_OWN = 1, 3
"""After so many ends of the engine while it was loaded a plugin is left out."""

VULKAN = "vulkan"


@dataclass(frozen=True)
class Conditions:
    """What decides about loading, besides the files.

    Attributes:
        engine: Version of the bindings; None: not known, nothing is refused for it.
        base: Name under which the engine's libggml-base is known; None likewise.
        off: Names of backends that are switched off, in lower case.
        blocked: Kind -> sentence why it is not even tried.
        why_none: Backend -> sentence for one without a device, or None.
    """

    build: BuildRecord
    guard: LoadGuard
    engine: str | None = None
    base: str | None = None
    glibc: tuple[int, ...] = ()
    off: frozenset[str] = frozenset()
    blocked: Mapping[str, str] = field(default_factory=dict)
    why_none: Callable[[str], str | None] = lambda _: None


def names_off(text: str) -> frozenset[str]:
    """The backends named in a list with commas. The CPU cannot be switched off: every model needs it."""
    names = {name.strip().lower() for name in text.split(",")}
    return frozenset(names - {"", CPU})


def load_plugins(ggml: Ggml, folders: Sequence[Folder], conditions: Conditions) -> tuple[BackendInfo, ...]:
    """Load one plugin of each kind, the user's before the engine's own. What is absent is reported with the reason.

    Of the files of one kind in a folder the one that suits the processor best is tried first. When none of the user's
    can be loaded the engine's own is, and its record says so in ``error``. Names of backends are there once.
    """
    loader = _Loader(ggml, conditions)
    found = [loader.load_kind(kind, groups) for kind, groups in find_plugins(folders).items()]
    if not any(info.name == backend_name(VULKAN) for info in found):
        reason = conditions.build.vulkan_reason or "it is not part of this installation"
        error = f"Vulkan was not built: {reason}"
        found.insert(0, BackendInfo(name=backend_name(VULKAN), path="", loaded=False, error=error))
    return tuple(found)


class _Loader:
    """Loads and remembers which backends are there."""

    def __init__(self, ggml: Ggml, conditions: Conditions) -> None:
        self._ggml = ggml
        self._conditions = conditions
        self._loaded: dict[str, tuple[Registered, Path]] = {}

    def load_kind(self, kind: str, groups: Sequence[Sequence[PluginFile]]) -> BackendInfo:
        """The record for one kind: of what is loaded, else of what could not be; with what was tried in vain."""
        refused: list[BackendInfo] = []
        for group in groups:
            infos = _until_loaded(self._attempts(kind, group))
            if infos[-1].loaded:
                return _with_refused(infos[-1], refused)
            refused.append(infos[0])
        return _with_refused(refused[-1], refused[:-1])

    def _attempts(self, kind: str, group: Sequence[PluginFile]) -> Iterable[BackendInfo]:
        for file in self._best_first(group):
            prevented = self._prevented(kind)
            yield _absent(backend_name(kind), file, prevented) if prevented else self._attempt(kind, file)

    def _best_first(self, group: Sequence[PluginFile]) -> list[PluginFile]:
        """Variants by their score on this processor; those without one by name."""
        if len(group) == 1:
            return list(group)
        return sorted(group, key=lambda file: -self._score(file))

    def _score(self, file: PluginFile) -> int:
        unfit = self._prevented(file.kind) is not None or isinstance(self._inspect(file), str)
        if unfit or self._guard(file) is not None:
            return 0
        try:
            return reasons.score(ctypes.CDLL(str(file.path))) or 0
        except (OSError, UnicodeDecodeError):
            return 0
        finally:
            self._conditions.guard.end()

    def _prevented(self, kind: str) -> str | None:
        """Why files of this kind are not tried."""
        off = self._conditions.off
        if kind != CPU and (backend_name(kind).lower() in off or kind in off):
            return SWITCHED_OFF
        return self._conditions.blocked.get(kind)

    def _attempt(self, kind: str, file: PluginFile) -> BackendInfo:
        name = backend_name(kind)
        library = self._inspect(file)
        if isinstance(library, str):
            return _absent(name, file, library)
        left_out = self._guard(file)
        if left_out:
            return _absent(name, file, left_out)
        try:
            return self._load(name, file, library)
        finally:
            self._conditions.guard.end()

    def _inspect(self, file: PluginFile) -> Library | str:
        """What the file says about itself, or why it cannot be a plugin of this engine. Nothing is loaded."""
        if file.path.is_symlink() and not file.path.exists():
            return "The link points to nothing."
        try:
            library = read_library(file.path)
        except NotLoadable as problem:
            return str(problem)
        if library.is_plugin is False:
            return reasons.NO_ENTRY
        conditions = self._conditions
        made_for_another = reasons.another_build(read_record(file.path), conditions.engine, file.path)
        return made_for_another or reasons.another_base(library, conditions.base) or library

    def _guard(self, file: PluginFile) -> str | None:
        if file.kind == CPU and not file.users:
            return None
        name, patience = (file.path.name, PATIENCE_WITH_USERS) if file.users else (_own(file), PATIENCE_WITH_OWN)
        return self._conditions.guard.begin(name, file.path, patience)

    def _load(self, name: str, file: PluginFile, library: Library) -> BackendInfo:
        registered = self._ggml.load(file.path)
        if registered is None:
            return _absent(name, file, self._why_not(name, file, library))
        return self._unwanted(registered, file) or self._present(registered, file)

    def _why_not(self, name: str, file: PluginFile, library: Library) -> str:
        words = reasons.loader_words(file.path)
        if words is not None:
            return reasons.explain_loader(words, library, read_record(file.path), self._conditions.glibc)
        refused = reasons.why_refused(file.path)
        nothing = self._conditions.why_none(name) if refused == reasons.NOT_STARTED else None
        return nothing or refused

    def _unwanted(self, registered: Registered, file: PluginFile) -> BackendInfo | None:
        """A backend that is only known by its name once it is loaded: switched off, or there already."""
        name = registered.name
        before = self._loaded.get(name)
        if before is not None:
            if before[0].handle != registered.handle:
                self._ggml.unload(registered)
            # Under its file's name: there is one record for each backend, and the first one has it.
            return _absent(file.kind, file, f"{name} is loaded already, from {before[1]}.")
        if name.lower() in self._conditions.off:
            self._ggml.unload(registered)
            return _absent(name, file, SWITCHED_OFF)
        return None

    def _present(self, registered: Registered, file: PluginFile) -> BackendInfo:
        self._loaded[registered.name] = (registered, file.path)
        idle = None if registered.devices else self._conditions.why_none(registered.name)
        return BackendInfo(name=registered.name, path=_sendable(str(file.path)), loaded=True, error=idle)


def _until_loaded(attempts: Iterable[BackendInfo]) -> list[BackendInfo]:
    infos = []
    for info in attempts:
        infos.append(info)
        if info.loaded:
            break
    return infos


def _with_refused(info: BackendInfo, refused: Sequence[BackendInfo]) -> BackendInfo:
    """``info`` with a word about the user's files that it stands in for, so that each backend has one record."""
    others = [f"{other.path} is not used: {other.error}" for other in refused if other.error != info.error]
    words = [*([info.error] if info.error else []), *others]
    return msgspec.structs.replace(info, error=" ".join(words) or None)


def _absent(name: str, file: PluginFile, error: str) -> BackendInfo:
    return BackendInfo(name=_sendable(name), path=_sendable(str(file.path)), loaded=False, error=_sendable(error))


def _sendable(text: str) -> str:
    """File names may be any bytes; what is sent must be text."""
    return text.encode("utf-8", "replace").decode()


def _own(file: PluginFile) -> str:
    """Name of the marker for a plugin of the engine; the user may have one of the same name."""
    return f"engine-{file.path.name}"
