"""Finds what the Vulkan plugin is built with: headers, glslc and the loader to link to."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vramble_setup import build_cache, newer_debian
from vramble_setup.commands import output
from vramble_setup.report import SetupError, say

# VK_EXT_layer_settings came with 262. 275 is Ubuntu 24.04's; older ones are not tried.
OLDEST_HEADERS = 275
SYSTEM_HEADERS = Path("/usr/include/vulkan/vulkan_core.h")
SPIRV_HEADERS = Path("/usr/share/cmake/SPIRV-Headers/SPIRV-HeadersConfig.cmake")
PRIVATE_PACKAGES = ("glslc", "libvulkan-dev", "spirv-headers")
RECIPE = 1

GLSLC_LIBRARIES = re.compile(r"lib(c|m|stdc\+\+|gcc_s|shaderc.*|glslang.*|SPIRV.*)\.so\.[.0-9]+")

WRAPPER = """#!/bin/sh
# Starts this folder's glslc with its own loader and libraries: they are newer than the system's.
root=${0%/bin/glslc}
exec "$root/@LOADER@" --library-path "$root/@LIBRARIES@" "$root/usr/bin/glslc" "$@"
"""


@dataclass(frozen=True)
class VulkanTools:
    """What CMake is told, and what of it belongs in the key of the build."""

    options: tuple[tuple[str, str], ...]
    identity: str


@dataclass(frozen=True)
class NoVulkan:
    """Why the Vulkan plugin cannot be built here, in one sentence."""

    reason: str


def os_release(path: Path = Path("/etc/os-release")) -> dict[str, str]:
    """The fields of /etc/os-release."""
    fields = {}
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            fields[name.strip()] = value.strip().strip("\"'")
    return fields


def needs_newer(release: Mapping[str, str]) -> bool:
    """Whether this is Debian 12, whose Vulkan headers and glslc are too old."""
    return release.get("ID") == "debian" and release.get("VERSION_CODENAME") == "bookworm"


def find(root: Path, log: Path) -> VulkanTools | NoVulkan:
    """The tools to build with; on Debian 12 newer ones are fetched into the cache first."""
    if os.environ.get("VRAMBLE_NO_VULKAN", "") not in ("", "0"):
        return NoVulkan("Vulkan was switched off by VRAMBLE_NO_VULKAN.")
    loader = _loader()
    if loader is None:
        return NoVulkan("The Vulkan loader (libvulkan.so.1) is not installed.")
    if needs_newer(os_release()):
        return _private_tools(root, log, loader)
    return _system_tools()


def _system_tools() -> VulkanTools | NoVulkan:
    header = header_version(SYSTEM_HEADERS)
    if header is None:
        return NoVulkan("The Vulkan headers are not installed.")
    if header < OLDEST_HEADERS:
        return NoVulkan(
            f"The Vulkan headers of this system (1.x.{header}) are too old; 1.3.{OLDEST_HEADERS} or newer are needed."
        )
    if not SPIRV_HEADERS.exists():
        return NoVulkan("The SPIR-V headers are not installed.")
    glslc = shutil.which("glslc")
    version = output([glslc, "--version"]) if glslc else ""
    if not version:
        return NoVulkan("The shader compiler glslc is not installed.")
    return VulkanTools((), f"system headers {header}, {_first_line(version)}")


def _private_tools(root: Path, log: Path, loader: Path) -> VulkanTools | NoVulkan:
    def make(folder: Path) -> None:
        say("Fetching newer Vulkan headers and glslc from Debian 13 into the build cache.")
        newer_debian.unpack_packages(PRIVATE_PACKAGES, folder / "usr-root", log, current="bookworm", following="trixie")
        _keep_what_is_needed(folder)

    try:
        place = build_cache.entry(root, f"vulkan-tools-trixie-{RECIPE}", "the Vulkan tools", make)
    except SetupError as error:
        say(str(error))
        return NoVulkan("Newer Vulkan headers and glslc could not be fetched from Debian 13.")
    glslc = place / "bin" / "glslc"
    version = output([glslc, "--version"])
    header = header_version(place / "usr/include/vulkan/vulkan_core.h")
    if not version or header is None:
        return NoVulkan("The glslc of Debian 13 does not start on this system.")
    options = (
        ("Vulkan_INCLUDE_DIR", str(place / "usr/include")),
        ("Vulkan_LIBRARY", str(loader)),
        ("Vulkan_GLSLC_EXECUTABLE", str(glslc)),
        ("SPIRV-Headers_DIR", str(place / "usr/share/cmake/SPIRV-Headers")),
    )
    return VulkanTools(options, f"Debian 13 headers {header}, {_first_line(version)}")


def _keep_what_is_needed(folder: Path) -> None:
    """Leaves headers, glslc and its libraries, and writes the wrapper that starts it."""
    unpacked = folder / "usr-root"
    kept = folder / "usr"
    for part in ("include/vulkan", "include/vk_video", "include/spirv", "share/cmake/SPIRV-Headers"):
        shutil.copytree(unpacked / "usr" / part, kept / part, symlinks=True)
    (kept / "bin").mkdir()
    shutil.copy2(unpacked / "usr/bin/glslc", kept / "bin/glslc")
    loader = _one(unpacked, "usr/lib*/**/ld-linux*.so.*", "lib*/**/ld-linux*.so.*")
    libraries = _one(unpacked, "usr/lib/*-linux-gnu/libstdc++.so.6").parent
    goal = kept / "lib"
    goal.mkdir()
    for library in sorted(libraries.iterdir()):
        if GLSLC_LIBRARIES.fullmatch(library.name):
            shutil.copy2(library, goal / library.name)
    shutil.copy2(loader, goal / loader.name)
    shutil.rmtree(unpacked)
    wrapper = folder / "bin" / "glslc"
    wrapper.parent.mkdir()
    text = WRAPPER.replace("@LOADER@", f"usr/lib/{loader.name}").replace("@LIBRARIES@", "usr/lib")
    wrapper.write_text(text, encoding="utf-8")
    wrapper.chmod(0o755)


def _one(root: Path, *patterns: str) -> Path:
    for pattern in patterns:
        for found in sorted(root.glob(pattern)):
            if found.is_file():
                return found
    raise SetupError(
        f"The Debian 13 packages hold no file {patterns[0]}.",
        "Set VRAMBLE_NO_VULKAN=1 to build without Vulkan.",
    )


def _loader() -> Path | None:
    for folder in ("/usr/lib", "/usr/lib64", "/lib"):
        for pattern in ("libvulkan.so.1", "*/libvulkan.so.1"):
            for found in sorted(Path(folder).glob(pattern)):
                return found
    return None


def header_version(header: Path) -> int | None:
    """VK_HEADER_VERSION in vulkan_core.h, or None without that file."""
    try:
        text = header.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r"^#define VK_HEADER_VERSION (\d+)", text, re.MULTILINE)
    return int(found.group(1)) if found else None


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else ""
