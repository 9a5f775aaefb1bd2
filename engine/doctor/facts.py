"""All that the checks look at, as records. None is unknown."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine.doctor.answer import EngineAnswer
from engine.doctor.host import Node
from engine.doctor.parse import Version
from engine.memory.records import RamMemory
from engine.protocol.types import DeviceKind

DECKS = {"Jupiter": "Steam Deck LCD", "Galileo": "Steam Deck OLED", "Fremont": "Steam Machine"}
"""Product names of Valve's machines. Other product names are not looked at: owners change them."""


class System(msgspec.Struct, frozen=True, kw_only=True):
    """The distribution, of the host also inside Flatpak. ``machine`` is one of `DECKS`, else empty."""

    id: str = ""
    like: frozenset[str] = frozenset()
    name: str = ""
    ostree: bool = False
    machine: str = ""

    @property
    def is_steamos(self) -> bool:
        """Whether the root is SteamOS' read-only one."""
        return self.id == "steamos"

    def is_of(self, family: str) -> bool:
        """Whether it is this distribution or one made from it, such as ``debian``."""
        return family == self.id or family in self.like


class Flatpak(msgspec.Struct, frozen=True, kw_only=True):
    """The sandbox that the program runs in."""

    app: str
    version: Version | None
    devices: frozenset[str]
    shared: frozenset[str]
    filesystems: frozenset[str]


class CardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One AMD card. ``driver`` is empty when none is bound; sizes are bytes; ``render`` is the path of its render
    node without the leading slash."""

    pci: str
    name: str
    driver: str
    gfx: str | None = None
    kind: DeviceKind | None = None
    asleep: bool | None = None
    vram: int | None = None
    visible_vram: int | None = None
    gtt: int | None = None
    render: str | None = None
    render_node: Node | None = None

    @property
    def usable(self) -> bool:
        """Whether the driver that compute needs is bound."""
        return self.driver == "amdgpu"

    @property
    def label(self) -> str:
        """Name and address."""
        return f"{self.name} ({self.pci})"


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The database of conversations, examined. ``trouble``: why it could not be, or what is wrong with it; ``pages``:
    every page was looked at.
    """

    conversations: int = 0
    messages: int = 0
    trouble: str = ""
    unreadable: bool = False
    pages: bool = True


class Install(msgspec.Struct, frozen=True, kw_only=True):
    """This installation. ``vulkan`` and ``vulkan_reason`` are the set-up's record of what it built."""

    python: Version
    pyside: str | None = None
    vulkan: bool | None = None
    vulkan_reason: str | None = None
    models_free: int | None = None
    history: History | None = None


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """One machine at one moment.

    Attributes:
        parameters: Kernel command line, by name such as ``amdgpu.lockup_timeout``.
        options: The same names from ``/etc/modprobe.d``.
        live: The same names as the loaded modules have them; nothing inside Flatpak.
        swaps: Kind and bytes of each swap area.
        kfd: ``/dev/kfd``, or None when it is not there.
        rocm: Version of the installed ROCm; empty when it does not say, None when there is none.
        drivers: Vulkan driver name -> driver info, from ``vulkaninfo``.
        mesa_package: Version of the installed package with Mesa's Vulkan drivers.
        engine: What the engine said; None: it was not asked.
        environ: The environment that the program was started in.
    """

    system: System
    kernel: str | None
    cards: tuple[CardFacts, ...]
    ram: RamMemory
    install: Install
    parameters: Mapping[str, str] = {}
    options: Mapping[str, str] = {}
    live: Mapping[str, str] = {}
    swaps: tuple[tuple[str, int], ...] | None = None
    kfd: Node | None = None
    rocm: str | None = None
    flatpak: Flatpak | None = None
    loader: str | None = None
    drivers: Mapping[str, str] = {}
    mesa_package: str | None = None
    engine: EngineAnswer | None = None
    environ: Mapping[str, str] = {}

    @property
    def usable_cards(self) -> tuple[CardFacts, ...]:
        """Cards that amdgpu drives."""
        return tuple(card for card in self.cards if card.usable)

    @property
    def apus(self) -> tuple[CardFacts, ...]:
        """Usable cards that share the system's memory."""
        return tuple(card for card in self.usable_cards if card.kind is DeviceKind.IGPU)

    @property
    def main_apu(self) -> CardFacts | None:
        """The APU that models run on: only where there is no card of its own memory."""
        return self.apus[0] if self.apus and len(self.apus) == len(self.usable_cards) else None

    @property
    def has_hip(self) -> bool:
        """Whether a ROCm backend or ROCm itself is there, so that its needs matter."""
        hello = self.engine.hello if self.engine else None
        return self.rocm is not None or any(b.name == "ROCm" for b in (hello.backends if hello else ()))

    def setting(self, name: str) -> str | None:
        """A module parameter: what the module has, else the command line, else modprobe.d. Empty is unset."""
        for source in (self.live, self.parameters, self.options):
            if source.get(name):
                return source[name]
        return None
