"""System, kernel, driver, and who may open the device nodes."""

from __future__ import annotations

from engine.doctor import fixes, parse
from engine.doctor.facts import CardFacts, Facts
from engine.doctor.host import Node
from engine.doctor.records import Finding, Fix, Skipped, Status
from engine.protocol.types import SWITCHED_OFF

FDINFO = (5, 19)
"""From here on the kernel tells GPU memory by process in the common form."""

KFD_FOR_ALL = (1, 18)
"""From this Flatpak on ``--device=dri`` includes ``/dev/kfd``."""

ROCM_ON_STRIX_HALO = (6, 18, 4)


def system(facts: Facts) -> Finding | Skipped:
    """The distribution: it decides which lines the other checks offer."""
    parts = [facts.system.name or facts.system.id]
    if not parts[0]:
        return Skipped("The system does not say which distribution it is.")
    if facts.system.machine:
        parts.append(f"on a {facts.system.machine}")
    if facts.flatpak is not None:
        parts.append("with this program inside Flatpak")
    if facts.system.is_steamos:
        parts.append("(read-only root)")
    return Finding(Status.OK, " ".join(parts))


def kernel(facts: Facts) -> Finding | Skipped:
    """Old kernels cannot tell which program holds GPU memory."""
    found = parse.version(facts.kernel)
    if facts.kernel is None or found is None:
        return Finding(Status.WARN, "The kernel's version is unknown.")
    if found < FDINFO:
        return Finding(
            Status.WARN,
            f"Linux {facts.kernel}, which does not tell how much GPU memory each program holds.",
            "Update the system to a kernel of 5.19 or newer.",
        )
    return Finding(Status.OK, f"Linux {facts.kernel}")


def driver(facts: Facts) -> Finding | Skipped:
    """Every AMD card should be driven by amdgpu."""
    if not facts.cards:
        return Finding(
            Status.WARN,
            "No AMD graphics card was found.",
            "Models run on the processor, which is several times slower.",
        )
    found = "; ".join(f"{card.label}{_traits(card)}: {card.driver or 'no driver'}" for card in facts.cards)
    wrong = [card for card in facts.cards if not card.usable]
    if not wrong:
        return Finding(Status.OK, found)
    status = Status.WARN if facts.usable_cards or all(card.driver == "vfio-pci" for card in wrong) else Status.FAIL
    return Finding(status, found, *_driver_advice(wrong[0].driver))


def _traits(card: CardFacts) -> str:
    traits = [card.gfx or "", "asleep" if card.asleep else ""]
    text = ", ".join(trait for trait in traits if trait)
    return f" [{text}]" if text else ""


def _driver_advice(name: str) -> tuple[str, Fix | None]:
    if name == "vfio-pci":
        return "The card was given to a virtual machine. Give it back to use it here.", None
    if name == "radeon":
        parameters = "radeon.si_support=0 radeon.cik_support=0 amdgpu.si_support=1 amdgpu.cik_support=1"
        return f"The old driver has no Vulkan. Add to the kernel's command line: {parameters}", None
    return "Load the driver; if that fails, the kernel is older than the card.", Fix("sudo modprobe amdgpu")


def render_node(facts: Facts) -> Finding | Skipped:
    """Vulkan and ROCm open the card's render node."""
    if not facts.usable_cards:
        return Skipped("There is no card that amdgpu drives.")
    told = [_render(card) for card in facts.usable_cards]
    found = "; ".join(words for _, words in told)
    status = next((s for s in (Status.FAIL, Status.WARN) if any(s is verdict for verdict, _ in told)), Status.OK)
    if status is not Status.FAIL:
        return Finding(status, found)
    refused = next((c.render_node for c in facts.usable_cards if c.render_node and not c.render_node.usable), None)
    if refused is not None:
        return Finding(status, found, *_membership(facts, refused))
    if facts.flatpak is not None:
        fix = fixes.flatpak_permissions(facts, ["--device=dri"])
        return Finding(status, found, "The sandbox does not see the card. Let it, and start the program again.", fix)
    return Finding(status, found, "The system did not make the node. Restart the computer, or check udev.")


def _render(card: CardFacts) -> tuple[Status, str]:
    if card.render is None:
        return Status.WARN, f"{card.label}: the render node is unknown"
    if card.render_node is None:
        return Status.FAIL, f"{card.label}: /{card.render} does not exist"
    return _access(f"{card.label}: /{card.render}", card.render_node)


def _access(what: str, node: Node) -> tuple[Status, str]:
    if node.usable:
        return Status.OK, f"{what} may be opened"
    return Status.FAIL, f"{what} may not be opened (mode {node.mode:o}, group {node.group or 'without a name'})"


def _membership(facts: Facts, node: Node) -> tuple[str, Fix | None]:
    if node.group in (None, "root", "nogroup", "nobody"):
        return "No group opens it. Sign in at the computer itself, or check the udev rules of the system.", None
    advice = f"Join the group {node.group}, then sign out and in again."
    return advice, fixes.join_group(facts, node.group or "")


def kfd(facts: Facts) -> Finding | Skipped:
    """ROCm needs ``/dev/kfd`` as well; Vulkan does not."""
    if not facts.usable_cards:
        return Skipped("There is no card that amdgpu drives.")
    if not facts.has_hip:
        state = "is not there" if facts.kfd is None else _access("", facts.kfd)[1].strip()
        return Finding(Status.OK, f"/dev/kfd {state}; only ROCm needs it, and that is not installed")
    if facts.kfd is None:
        return _no_kfd(facts)
    verdict, words = _access("/dev/kfd", facts.kfd)
    if verdict is Status.OK:
        return Finding(Status.OK, words)
    return Finding(Status.WARN, f"{words}; ROCm cannot work", *_membership(facts, facts.kfd))


def _no_kfd(facts: Facts) -> Finding:
    found = "/dev/kfd is not there; ROCm cannot work"
    if facts.flatpak is None:
        return Finding(Status.WARN, found, "Vulkan works without it. For ROCm use a kernel built with HSA_AMD.")
    old = facts.flatpak.version is None or facts.flatpak.version < KFD_FOR_ALL
    wider = fixes.flatpak_permissions(facts, ["--device=all" if old else "--device=dri"])
    return Finding(Status.WARN, found, "Vulkan works without it. For ROCm let the sandbox see it.", wider)


def rocm(facts: Facts) -> Finding | Skipped:
    """ROCm is a choice: what counts is that one which is there can work."""
    hello = facts.engine.hello if facts.engine else None
    backend = next((b for b in (hello.backends if hello else ()) if b.name == "ROCm"), None)
    if facts.rocm is None and backend is None:
        where = "not visible inside Flatpak" if facts.flatpak is not None else "not installed"
        return Finding(Status.OK, f"ROCm is {where}; Vulkan works without it")
    found = f"ROCm {facts.rocm or 'of unknown version'}" if facts.rocm is not None else "no ROCm in /opt/rocm"
    if backend is not None and backend.error == SWITCHED_OFF:
        return Finding(Status.OK, f"{found}; the plugin is switched off in the settings")
    if backend is not None and not backend.loaded:
        advice = "Install the ROCm that the plugin was built for, or remove the plugin. Vulkan works without it."
        return Finding(Status.WARN, f"{found}; the plugin is not loaded: {backend.error or 'no reason given'}", advice)
    kernel_version = parse.version(facts.kernel)
    halo = any(card.gfx == "gfx1151" for card in facts.usable_cards)
    if halo and kernel_version is not None and kernel_version < ROCM_ON_STRIX_HALO:
        return Finding(
            Status.WARN,
            f"{found} on Linux {facts.kernel}",
            "For Strix Halo ROCm needs Linux 6.18.4 or newer. Use Vulkan.",
        )
    if backend is not None and backend.error:
        # Without a device, or one of two files was not used: worth a look where there is a card.
        status = Status.WARN if facts.usable_cards else Status.OK
        return Finding(status, f"{found}; the plugin is loaded. {backend.error}", "Vulkan works without it.")
    return Finding(Status.OK, f"{found}; {'the plugin is loaded' if backend else 'no plugin uses it'}")
