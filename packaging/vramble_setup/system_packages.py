"""The packages of the distribution that the program needs, and how they get installed.

Only what is missing is installed, by apt, as root or through sudo. Whoever may not do that gets one
line to type.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from vramble_setup.commands import output
from vramble_setup.report import SetupError, say


@dataclass(frozen=True)
class Need:
    """A package (or one of several names for it), what it is for, and the program it brings."""

    names: tuple[str, ...]
    purpose: str
    command: str = ""
    optional: bool = False


BUILD = "build the engine"
WINDOW = "show the window"
GRAPHICS = "use the graphics card"
TESTS = "run the tests"
ENVIRONMENT = "make the Python environment"

WINDOW_LIBRARIES = (
    "libdbus-1-3 libegl1 libfontconfig1 libfreetype6 libgl1 libwayland-client0 libwayland-cursor0 "
    "libwayland-egl1 libx11-xcb1 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 "
    "libxcb-render-util0 libxcb-shape0 libxcb-sync1 libxcb-xfixes0 libxcb-xkb1 libxkbcommon-x11-0 "
    "libxkbcommon0 fonts-dejavu-core"
)


def needs_for(level: str, *, newer_vulkan_tools: bool, has_ensurepip: bool) -> list[Need]:
    """What `./dev run` (level "run") or `./dev test` (level "test") needs on this system."""
    needs = [
        Need(("g++",), BUILD, command="c++"),
        Need(("cmake",), BUILD, command="cmake"),
        Need(("ninja-build",), BUILD, command="ninja"),
        Need(("ccache",), BUILD, command="ccache", optional=True),
        Need(("libglib2.0-0t64", "libglib2.0-0"), WINDOW),
        *(Need((name,), WINDOW) for name in WINDOW_LIBRARIES.split()),
        Need(("libvulkan1",), GRAPHICS, optional=True),
        Need(("mesa-vulkan-drivers",), GRAPHICS, optional=True),
    ]
    if not newer_vulkan_tools:
        needs += [Need((name,), GRAPHICS, optional=True) for name in ("glslc", "libvulkan-dev", "spirv-headers")]
    if not has_ensurepip:
        minor = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        needs.append(Need((minor, "python3-venv"), ENVIRONMENT))
    if level == "test":
        needs += [
            Need(("xvfb",), TESTS, command="Xvfb"),
            Need(("xauth",), TESTS, command="xauth"),
            Need(("xdotool",), TESTS, command="xdotool"),
        ]
    return needs


def has_ensurepip() -> bool:
    """Debian keeps ensurepip, which fills a new environment with pip, in a package of its own."""
    done = subprocess.run([sys.executable, "-c", "import ensurepip, venv"], capture_output=True, check=False)
    return done.returncode == 0


def missing(needs: Iterable[Need], installed: Callable[[str], bool]) -> list[Need]:
    """The needs that neither an installed package nor a program on the PATH meets."""
    return [
        need
        for need in needs
        if not any(installed(name) for name in need.names) and not (need.command and shutil.which(need.command))
    ]


def dpkg_status(names: Sequence[str]) -> set[str]:
    """Which of these packages are installed."""
    query = ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *names]
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=False)
    except OSError:
        return set()
    found = set()
    for line in done.stdout.splitlines():
        name, _, status = line.partition(" ")
        if status == "installed":
            found.add(name)
    return found


def ensure(needs: Sequence[Need]) -> None:
    """Installs what is missing, or says what to type and gives up."""
    installed = dpkg_status([name for need in needs for name in need.names])
    lacking = missing(needs, installed.__contains__)
    if not lacking:
        return
    if not shutil.which("apt-get"):
        _without_apt(lacking)
        return
    prefix = privileges(os.environ, os.geteuid(), sys.stdin.isatty())
    if prefix is None:
        _without_rights(lacking)
        return
    _install(lacking, prefix)


def privileges(environment: Mapping[str, str], user: int, terminal: bool) -> list[str] | None:
    """The words to put before a command that root must run, or None if that cannot be."""
    if user == 0:
        return []
    sudo = shutil.which("sudo", path=environment.get("PATH"))
    if not sudo:
        return None
    if terminal or subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return [sudo]
    return None


def _install(lacking: Sequence[Need], prefix: Sequence[str]) -> None:
    for purpose in dict.fromkeys(need.purpose for need in lacking):
        names = " ".join(need.names[-1] for need in lacking if need.purpose == purpose)
        say(f"Installing system packages to {purpose}: {names}")
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-oDPkg::Lock::Timeout=120"]
    # A source of someone else that does not answer is no reason to stop: the install will tell.
    subprocess.run([*apt, "update"], stdout=subprocess.DEVNULL, check=False)
    chosen = []
    offered = candidates(apt_policy([name for need in lacking for name in need.names]))
    for need in lacking:
        name = next((name for name in need.names if name in offered), "")
        if name:
            chosen.append(name)
        elif not need.optional:
            raise SetupError(
                f"This system's package sources do not offer {' or '.join(need.names)}, "
                f"which is needed to {need.purpose}.",
                "Check the network and the package sources, then try again.",
            )
        else:
            say(f"This system's package sources do not offer {need.names[0]}; going on without it.")
    command = [*apt, "install", "--yes", "--no-install-recommends", *chosen]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        say("\n".join(done.stdout.splitlines()[-8:]))
        raise SetupError(
            "The system packages could not be installed.",
            f"Try it yourself: {line_to_type(lacking)}",
        )


def apt_policy(names: Sequence[str]) -> str:
    return output(["apt-cache", "policy", *names], {**os.environ, "LC_ALL": "C"})


def candidates(policy: str) -> set[str]:
    """The packages of which apt knows a version, as `apt-cache policy` lists them."""
    found, package = set(), ""
    for line in policy.splitlines():
        if not line.startswith(" "):
            package = line.rstrip(":")
        elif line.strip().startswith("Candidate: ") and "(none)" not in line:
            found.add(package)
    return found


def line_to_type(lacking: Iterable[Need]) -> str:
    """The one line that gets the packages, through sudo where there is sudo."""
    names = " ".join(need.names[-1] for need in lacking)
    install = f"apt-get install --yes --no-install-recommends {names}"
    if shutil.which("sudo"):
        return f"sudo apt-get update && sudo {install}"
    return f"su -c 'apt-get update && {install}'"


def _without_rights(lacking: Sequence[Need]) -> None:
    if all(need.optional for need in lacking):
        return
    raise SetupError(
        "Some system packages are missing, and installing them needs root.",
        f"Type this, then start again: {line_to_type(lacking)}",
    )


def _without_apt(lacking: Sequence[Need]) -> None:
    programs = [need for need in lacking if need.command and not need.optional]
    if not programs:
        return
    names = ", ".join(need.command for need in programs)
    raise SetupError(
        f"These programs are missing, and this system has no apt to install them: {names}.",
        "Install them with the system's own package manager, then start again.",
    )
