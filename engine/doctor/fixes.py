"""Lines to copy, for the distribution at hand, and whether their effect outlives an update of SteamOS.

SteamOS keeps of ``/etc`` only what a list names (since 3.6): accounts and groups are on it, ``/etc/modprobe.d`` is
not, and ``/etc/atomic-update.conf.d`` adds to it. The home folder, where ``flatpak --user`` writes, is always kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.doctor.facts import Facts, System
from engine.doctor.records import Fix

PACKAGES: Mapping[str, Mapping[str, str]] = {
    "mesa": {"debian": "mesa-vulkan-drivers", "fedora": "mesa-vulkan-drivers", "arch": "vulkan-radeon"},
    "loader": {"debian": "libvulkan1", "fedora": "vulkan-loader", "arch": "vulkan-icd-loader"},
    "zram": {"debian": "zram-tools", "fedora": "zram-generator-defaults", "arch": "zram-generator"},
}
INSTALLERS = {"debian": "sudo apt install", "fedora": "sudo dnf install", "arch": "sudo pacman -S"}
REBUILD = {"debian": "sudo update-initramfs -u", "arch": "sudo mkinitcpio -P"}


def family(system: System) -> str:
    """``debian``, ``fedora``, ``arch``, or empty. SteamOS is made from Arch, but its root takes no packages."""
    return next((name for name in INSTALLERS if system.is_of(name)), "")


def package(facts: Facts, what: str) -> Fix | None:
    """Install a package; None where the system brings it itself (SteamOS, Flatpak) or its packages are not known."""
    name = family(facts.system)
    if not name or facts.system.is_steamos or facts.flatpak is not None:
        return None
    if facts.system.ostree:
        return Fix(f"rpm-ostree install {PACKAGES[what][name]}") if name == "fedora" else None
    return Fix(f"{INSTALLERS[name]} {PACKAGES[what][name]}")


def join_group(facts: Facts, group: str) -> Fix:
    """Become a member of ``group``; takes effect at the next login."""
    return Fix(f'sudo usermod -aG {group} "$USER"', True if facts.system.is_steamos else None)


def module_parameters(facts: Facts, parameters: Sequence[tuple[str, str]]) -> Fix:
    """Set parameters such as ``ttm.pages_limit`` for the next start of the system. All are of one module."""
    module = parameters[0][0].partition(".")[0]
    system, name = facts.system, family(facts.system)
    if system.ostree:
        return Fix(
            "sudo rpm-ostree kargs" + "".join(f" --append-if-missing={key}={value}" for key, value in parameters)
        )
    if name == "fedora":
        arguments = " ".join(f"{key}={value}" for key, value in parameters)
        return Fix(f"sudo grubby --update-kernel=ALL --args='{arguments}'")
    options = " ".join(f"{key.partition('.')[2]}={value}" for key, value in parameters)
    file = f"/etc/modprobe.d/vramble-{module}.conf"
    line = f"echo 'options {module} {options}' | sudo tee {file}"
    if system.is_steamos:
        return Fix(f"{line} && echo {file} | sudo tee /etc/atomic-update.conf.d/vramble-{module}.conf", True)
    return Fix(f"{line} && {REBUILD[name]}" if name in REBUILD else line)


def flatpak_permissions(facts: Facts, permissions: Sequence[str]) -> Fix | None:
    """Give the sandbox more; takes effect when the program is started again."""
    if facts.flatpak is None or not facts.flatpak.app or not permissions:
        return None
    line = f"flatpak override --user {' '.join(permissions)} {facts.flatpak.app}"
    return Fix(line, True if facts.system.is_steamos else None)
