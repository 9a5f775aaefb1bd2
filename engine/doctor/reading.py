"""Facts from files below a root, each read once. No file is opened that could wake a sleeping card."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

from engine.doctor import parse
from engine.doctor.answer import EngineAnswer
from engine.doctor.facts import DECKS, CardFacts, Facts, Flatpak, Install, System
from engine.doctor.host import MESA_PACKAGE, VULKANINFO, Host
from engine.memory import values
from engine.memory.cards import AMD, Card, CardFinder, kind_of
from engine.memory.host import read_ram
from engine.memory.kfd import KfdNode, Topology
from engine.memory.records import Pool
from engine.memory.sensors import SensorReader
from engine.memory.tree import Tree, read_file

PCI_DEVICES = "sys/bus/pci/devices"
DISPLAY_CLASSES = (0x0300, 0x0302, 0x0380, 0x1200)
"""VGA, 3D, other display, accelerator."""

LIVE = ("amdgpu.lockup_timeout", "amdgpu.gttsize", "ttm.pages_limit", "ttm.page_pool_size")
FLATPAK_INFO = ".flatpak-info"
BUILD_RECORD = Path("share") / "vramble" / "build.json"


def read_facts(
    root: Path,
    host: Host,
    install: Install,
    *,
    engine: EngineAnswer | None = None,
    environ: Mapping[str, str],
    may_wake: bool = True,
    read: Callable[[str], bytes] = read_file,
) -> Facts:
    """Everything about the machine below ``root``.

    Args:
        root: Folder that holds ``sys``, ``proc`` and the rest; ``/`` is this machine.
        may_wake: Whether ``vulkaninfo`` may be started, which wakes sleeping cards.
        read: Reads one file; for tests.
    """
    tree = Tree(root, read)
    flatpak = _flatpak(tree)
    loader, drivers = parse.vulkan_summary(host.ask(VULKANINFO) if may_wake else None)
    return Facts(
        system=_system(tree, "run/host/" if flatpak else ""),
        kernel=values.stripped(tree.text("proc/sys/kernel/osrelease")),
        cards=(*_cards(tree, host), *_strangers(tree)),
        ram=read_ram(tree),
        install=install,
        parameters=parse.cmdline(tree.text("proc/cmdline")),
        options=_options(tree),
        live=_live(tree),
        swaps=parse.swaps(tree.text("proc/swaps")),
        kfd=host.node("dev/kfd"),
        rocm=_rocm(tree),
        flatpak=flatpak,
        loader=loader,
        drivers=drivers,
        mesa_package=values.stripped(host.ask(MESA_PACKAGE)),
        engine=engine,
        environ=environ,
    )


def read_install(prefix: Path, models_free: int | None) -> Install:
    """This installation: Python, PySide6 without importing it, and the set-up's record below ``prefix``."""
    try:
        pyside = metadata.version("PySide6-Essentials")
    except metadata.PackageNotFoundError:
        pyside = None
    vulkan, reason = _build_record(prefix / BUILD_RECORD)
    return Install(
        python=tuple(sys.version_info[:3]), pyside=pyside, vulkan=vulkan, vulkan_reason=reason, models_free=models_free
    )


def _build_record(path: Path) -> tuple[bool | None, str | None]:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None, None
    if not isinstance(record, dict):
        return None, None
    vulkan, reason = record.get("vulkan"), record.get("vulkan_reason")
    return vulkan if isinstance(vulkan, bool) else None, reason if isinstance(reason, str) else None


def _system(tree: Tree, where: str) -> System:
    text = tree.passing(f"{where}etc/os-release") or tree.passing(f"{where}usr/lib/os-release")
    if text is None and where:
        text = tree.passing("run/host/os-release")
    pairs = parse.shell_pairs(text)
    return System(
        id=pairs.get("ID", ""),
        like=frozenset(pairs.get("ID_LIKE", "").split()),
        name=pairs.get("PRETTY_NAME", ""),
        ostree="OSTREE_VERSION" in pairs,
        machine=DECKS.get(values.stripped(tree.passing("sys/class/dmi/id/product_name")) or "", ""),
    )


def _flatpak(tree: Tree) -> Flatpak | None:
    if not tree.exists(FLATPAK_INFO):
        return None
    found = parse.sections(tree.text(FLATPAK_INFO))
    context = found.get("Context", {})
    return Flatpak(
        app=parse.app_id(found.get("Application", {}).get("name")),
        version=parse.version(found.get("Instance", {}).get("flatpak-version")),
        devices=parse.words(context.get("devices")),
        shared=parse.words(context.get("shared")),
        filesystems=parse.words(context.get("filesystems")),
    )


def _options(tree: Tree) -> dict[str, str]:
    folder = "etc/modprobe.d"
    found: dict[str, str] = {}
    for name in tree.names(folder):
        if name.endswith(".conf"):
            found.update(parse.module_options(tree.text(f"{folder}/{name}")))
    return found


def _live(tree: Tree) -> dict[str, str]:
    found = {}
    for name in LIVE:
        module, _, parameter = name.partition(".")
        text = values.stripped(tree.passing(f"sys/module/{module}/parameters/{parameter}"))
        if text is not None:
            found[name] = text
    return found


def _rocm(tree: Tree) -> str | None:
    for folder in ("opt/rocm", *(f"opt/{name}" for name in tree.names("opt") if name.startswith("rocm-"))):
        if tree.exists(folder):
            return values.stripped(tree.passing(f"{folder}/.info/version")) or ""
    return None


def _cards(tree: Tree, host: Host) -> tuple[CardFacts, ...]:
    nodes = Topology(tree).nodes()
    sensors = SensorReader(tree)
    return tuple(_card(tree, host, card, nodes.get(card.pci), sensors) for card in CardFinder(tree).cards())


def _card(tree: Tree, host: Host, card: Card, node: KfdNode | None, sensors: SensorReader) -> CardFacts:
    vram, visible, gtt = (_total(tree, card, name) for name in ("vram", "vis_vram", "gtt"))
    render = next((f"dev/dri/{n}" for n in tree.names(f"{card.path}/drm") if n.startswith("renderD")), None)
    link = tree.link(f"{card.path}/driver") or values.equal_pairs(tree.text(f"{card.path}/uevent")).get("DRIVER", "")
    return CardFacts(
        pci=card.pci,
        name=card.name,
        driver=link.rpartition("/")[2],
        gfx=(node.gfx if node else None) or card.gfx,
        kind=kind_of(card, node, Pool(vram), Pool(gtt), tree),
        asleep=sensors.asleep(card),
        vram=vram,
        visible_vram=visible,
        gtt=gtt,
        render=render,
        render_node=host.node(render) if render else None,
    )


def _total(tree: Tree, card: Card, name: str) -> int | None:
    """By the driver's own counters, which never wake the card."""
    return values.byte_count(tree.text(f"{card.path}/mem_info_{name}_total")) or None


def _strangers(tree: Tree) -> tuple[CardFacts, ...]:
    """AMD graphics on the bus that no graphics driver has taken."""
    found = []
    drawn = {
        (tree.link(f"sys/class/drm/{name}/device") or "").rpartition("/")[2] for name in tree.names("sys/class/drm")
    }
    for pci in tree.names(PCI_DEVICES):
        path = f"{PCI_DEVICES}/{pci}"
        if pci in drawn or tree.exists(f"{path}/drm") or values.hex_id(tree.passing(f"{path}/vendor")) != AMD:
            continue
        if (values.hex_id(tree.passing(f"{path}/class")) or 0) >> 8 not in DISPLAY_CLASSES:
            continue
        driver = (tree.link(f"{path}/driver") or "").rpartition("/")[2]
        found.append(CardFacts(pci=pci, name="AMD graphics", driver=driver))
    return tuple(found)
