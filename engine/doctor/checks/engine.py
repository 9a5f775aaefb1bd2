"""The engine, Vulkan and Mesa, as the engine itself reports them."""

from __future__ import annotations

import re

from engine.doctor import fixes, parse
from engine.doctor.facts import CardFacts, Facts
from engine.doctor.records import Finding, Fix, Skipped, Status
from engine.protocol.frames import Hello
from engine.protocol.types import SWITCHED_OFF, BackendInfo, DeviceInfo, DeviceKind

NOT_ASKED = Skipped("The engine was not asked.")
NO_ANSWER = Skipped("The engine did not answer.")
VULKAN = "Vulkan"
REAL = (DeviceKind.GPU, DeviceKind.IGPU)
RDNA4_MESA = (25, 0)

_MISSING = re.compile(r"(lib[^\s:/]+\.so[\w.]*): cannot open shared object file")


def engine(facts: Facts) -> Finding | Skipped:
    """Whether the worker starts, and what it could load."""
    answer = facts.engine
    if answer is None:
        return NOT_ASKED
    hello = answer.hello
    if hello is None or not hello.engine:
        return Finding(Status.FAIL, answer.problem, answer.advice or "Install Vramble again.")
    loaded = ", ".join(backend.name for backend in hello.backends if backend.loaded) or "none"
    found = f"{hello.engine}; backends: {loaded}"
    absent = [b for b in hello.backends if not b.loaded and b.name not in (VULKAN, "ROCm") and b.error != SWITCHED_OFF]
    if absent:
        found += "".join(f"; {b.name} is not loaded: {b.error or 'no reason given'}" for b in absent)
    if not any(backend.name == "CPU" and backend.loaded for backend in hello.backends):
        return Finding(Status.FAIL, found, "No model can be loaded without it. Install Vramble again on this computer.")
    return Finding(Status.WARN if absent else Status.OK, found)


def vulkan_backend(facts: Facts) -> Finding | Skipped:
    """Whether the Vulkan plugin is there and its libraries are found."""
    hello = _hello(facts)
    if hello is None:
        if facts.install.vulkan is False:
            return _not_built(facts, facts.install.vulkan_reason or "the set-up did not say why")
        return NOT_ASKED if facts.engine is None else NO_ANSWER
    backend = next((b for b in hello.backends if b.name == VULKAN), None)
    if backend is None:
        return _not_built(facts, "it is not part of this installation")
    if backend.loaded:
        return Finding(Status.OK, "The Vulkan plugin is loaded" + (f", loader {facts.loader}" if facts.loader else ""))
    return _not_loaded(facts, backend)


def _not_loaded(facts: Facts, backend: BackendInfo) -> Finding:
    error = backend.error or "no reason given"
    if error == SWITCHED_OFF:
        advice = "Switch it on in the settings, under Backends. Without it only ROCm, where it is added, uses the card."
        return Finding(_severity(facts), "Vulkan is switched off in the settings", advice)
    if error.startswith("Vulkan was not built"):
        return _not_built(facts, error.partition(": ")[2] or "no reason given")
    match = _MISSING.search(error)
    if match and match[1].startswith("libvulkan"):
        found = f"The Vulkan loader ({match[1]}) is missing"
        return Finding(_severity(facts), found, "Install it.", fixes.package(facts, "loader"))
    advice = f"Install what provides {match[1]}." if match else "Set Vramble up again."
    return Finding(_severity(facts), f"The Vulkan plugin is not loaded: {error}", advice)


def _not_built(facts: Facts, reason: str) -> Finding:
    found = f"Vramble was set up without Vulkan: {reason.rstrip('.')}"
    return Finding(
        _severity(facts), found, "Set it up again when that is solved; until then models run on the processor."
    )


def _severity(facts: Facts) -> Status:
    """What an unusable Vulkan means: with an AMD card the GPU lies idle, else nothing is lost."""
    return Status.FAIL if facts.usable_cards else Status.WARN


def vulkan_devices(facts: Facts) -> Finding | Skipped:
    """Whether Vulkan shows the cards that the kernel knows, and not only a software driver."""
    hello = _hello(facts)
    if hello is None:
        return NOT_ASKED if facts.engine is None else NO_ANSWER
    if not any(backend.name == VULKAN and backend.loaded for backend in hello.backends):
        return Skipped("The Vulkan plugin is not loaded.")
    shown = [device for device in hello.devices if device.backend == VULKAN]
    real = [device for device in shown if device.kind in REAL]
    if not real:
        return _no_device(facts, shown)
    found = "; ".join(f"{d.id}: {d.name}{f' ({d.pci})' if d.pci else ''}{_refusal(d)}" for d in real)
    hidden = _hidden(facts, real)
    if hidden:
        advice = "Look at the environment check: a variable can hide a card. Else update Mesa."
        return Finding(Status.WARN, f"{found}; not shown: {', '.join(card.label for card in hidden)}", advice)
    return Finding(Status.WARN if any(not d.usable for d in real) else Status.OK, found)


def _no_device(facts: Facts, shown: list[DeviceInfo]) -> Finding:
    software = [device.name for device in shown if device.kind is DeviceKind.SOFTWARE]
    found = f"Vulkan has only a software driver: {software[0]}" if software else "Vulkan shows no device"
    if not facts.usable_cards:
        return Finding(Status.WARN, found, "Models run on the processor; the software driver would be slower still.")
    if any(card.render_node is not None and not card.render_node.usable for card in facts.usable_cards):
        return Finding(Status.FAIL, found, "The card's render node may not be opened: see that check first.")
    if facts.flatpak is not None:
        return Finding(Status.FAIL, found, "Update the Flatpak runtimes.", Fix("flatpak update"))
    return Finding(Status.FAIL, found, "Install Mesa's Vulkan driver for Radeon (RADV).", fixes.package(facts, "mesa"))


def _refusal(device: DeviceInfo) -> str:
    return "" if device.usable else f", not used: {device.reason or 'no reason given'}"


def _hidden(facts: Facts, real: list[DeviceInfo]) -> list[CardFacts]:
    """Cards that Vulkan does not show. A device without an address could be any of them. An APU beside a shown card
    is not missed: models do not run there."""
    if any(device.pci is None for device in real):
        return []
    addresses = {device.pci for device in real}
    missing = [card for card in facts.usable_cards if card.pci not in addresses]
    main = facts.main_apu is not None
    return [card for card in missing if main or card.kind is not DeviceKind.IGPU]


def mesa(facts: Facts) -> Finding | Skipped:
    """The version of the driver that Vulkan uses."""
    if not facts.usable_cards:
        return Skipped("There is no card that amdgpu drives.")
    text = facts.drivers.get("radv", "")
    package = (facts.mesa_package or "").split()[-1:]  # pacman puts the package's name first
    found = text or "".join(f"Mesa {version}" for version in package)
    version = parse.version(found.partition("Mesa ")[2])
    if version is None:
        if facts.drivers:
            return Finding(Status.WARN, f"No Mesa driver for Radeon; Vulkan uses: {', '.join(sorted(facts.drivers))}")
        return Skipped("Neither vulkaninfo nor the package manager tells the version of Mesa.")
    if version < RDNA4_MESA and any((card.gfx or "").startswith("gfx12") for card in facts.usable_cards):
        return Finding(Status.WARN, found, "RDNA 4 cards need Mesa 25.0 or newer. Update the system.")
    return Finding(Status.OK, found)


def _hello(facts: Facts) -> Hello | None:
    """The hello of an engine that could be loaded."""
    hello = facts.engine.hello if facts.engine else None
    return hello if hello is not None and hello.engine else None
