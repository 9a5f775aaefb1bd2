"""Builds llama.cpp and its Python bindings from the pinned source archive, once for each toolchain.

CMake is driven directly, with the archive's own CMakeLists.txt. Each backend becomes a library of its
own that the program loads at run time. An entry of the cache holds `site/` (what goes into an
environment), `bench/` (what llama-bench is built from, against the same libraries) and `build.json`.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vramble_setup import build_cache, bundle_tree, cmake_build, vulkan_tools
from vramble_setup.cmake_build import FIXED_OPTIONS
from vramble_setup.commands import CommandError, output
from vramble_setup.cpu_level import CpuLevel, this_machine
from vramble_setup.report import say

# Count this up when the build changes in a way that the other facts of the key do not show.
RECIPE = 2
TARGETS = ("llama", "mtmd", "ggml", "ggml-base", "ggml-cpu", "ggml-rpc")
VULKAN_FAILED = "The Vulkan plugin did not compile on this system."


@dataclass(frozen=True)
class Plan:
    """Everything that decides what the build will be."""

    version: str
    archive_hash: str
    cpu: CpuLevel
    vulkan: vulkan_tools.VulkanTools | vulkan_tools.NoVulkan
    toolchain: dict[str, str]

    def without_vulkan(self, reason: str) -> Plan:
        no = vulkan_tools.NoVulkan(reason)
        return Plan(self.version, self.archive_hash, self.cpu, no, self.toolchain)

    @property
    def has_vulkan(self) -> bool:
        return isinstance(self.vulkan, vulkan_tools.VulkanTools)

    def options(self) -> dict[str, str]:
        """The build options that say what is built (not where the tools lie)."""
        options = dict(FIXED_OPTIONS)
        options["GGML_VULKAN"] = "ON" if self.has_vulkan else "OFF"
        options.update({name: "ON" if on else "OFF" for name, on in self.cpu.options})
        return options

    def key(self) -> str:
        tools = self.vulkan
        return build_cache.key_of(
            {
                "version": self.version,
                "archive": self.archive_hash,
                "options": self.options(),
                "cpu": self.cpu.name,
                "vulkan": tools.identity if isinstance(tools, vulkan_tools.VulkanTools) else "",
                "toolchain": self.toolchain,
                "recipe": RECIPE,
            }
        )


def toolchain_facts() -> dict[str, str]:
    """Compiler, C library and architecture of this machine."""
    compiler = os.environ.get("CXX", "c++")
    return {
        "compiler": (output([compiler, "--version"]).splitlines() or ["none"])[0],
        "target": output([compiler, "-dumpmachine"]),
        "libc": " ".join(platform.libc_ver()),
        "machine": platform.machine(),
    }


def make_plan(requirements: Path, root: Path, log: Path) -> Plan:
    version, archive_hash = cmake_build.pinned(requirements)
    vulkan = vulkan_tools.find(root, log)
    return Plan(version, archive_hash, this_machine(), vulkan, toolchain_facts())


def build(plan: Plan, root: Path, fetch: Callable[[Path], None]) -> tuple[Path, Plan]:
    """The cache's entry for the plan, made if need be. Falls back to the CPU if Vulkan fails to build.

    `fetch(folder)` puts the source archive into the folder.
    """
    if not plan.has_vulkan:
        return _entry(plan, root, fetch), plan
    failed = root / f"llama-{plan.key()}.vulkan-failed"
    if not failed.exists():
        try:
            return _entry(plan, root, fetch), plan
        except CommandError as error:
            say(str(error))
    fallback = plan.without_vulkan(VULKAN_FAILED)
    say(f"{VULKAN_FAILED} Building for the processor only.")
    built = _entry(fallback, root, fetch)
    # Only now is it sure that Vulkan was the trouble. Next time it is not tried again.
    failed.touch()
    return built, fallback


def _entry(plan: Plan, root: Path, fetch: Callable[[Path], None]) -> Path:
    name = f"llama-{plan.key()}"

    def make(folder: Path) -> None:
        log = root / "logs" / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("", encoding="utf-8")
        _make(plan, folder, log, fetch)

    return build_cache.entry(root, name, "building llama.cpp", make)


def _make(plan: Plan, folder: Path, log: Path, fetch: Callable[[Path], None]) -> None:
    started = time.monotonic()
    with_what = "with Vulkan" if plan.has_vulkan else "for the CPU only"
    say(f"Building llama.cpp {with_what}. This takes 5 to 20 minutes, once. The log is {log}.")
    source = cmake_build.unpack_source(plan.version, plan.archive_hash, folder / "source", log, fetch)
    objects = folder / "objects"
    _configure(plan, source, objects, log)
    _compile(plan, objects, log)
    bundle_tree.make_site(source, objects, folder / "site", plan.version)
    bundle_tree.make_bench(source, folder / "bench")
    facts = facts_of(plan) | {
        "llama_cpp_version": cmake_build.llama_version(source),
        "llama_cpp_commit": None,  # the source archive does not say it
        "build_seconds": round(time.monotonic() - started),
    }
    (folder / "build.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(objects)
    shutil.rmtree(folder / "source")


def _configure(plan: Plan, source: Path, objects: Path, log: Path) -> None:
    options = plan.options()
    if isinstance(plan.vulkan, vulkan_tools.VulkanTools):
        options.update(plan.vulkan.options)
    cmake_build.configure(source, objects, options, log, f"Configuring llama.cpp{_and_vulkan(plan)}")


def _compile(plan: Plan, objects: Path, log: Path) -> None:
    targets = [*TARGETS, "ggml-vulkan"] if plan.has_vulkan else list(TARGETS)
    cmake_build.compile_targets(objects, targets, cmake_build.jobs(), log, "Building llama.cpp")


def _and_vulkan(plan: Plan) -> str:
    return " with Vulkan" if plan.has_vulkan else ""


def facts_of(plan: Plan) -> dict[str, object]:
    """What `build.json` records. The program reads it to say what it runs on and why."""
    vulkan = plan.vulkan
    return {
        "llama_cpp_python": plan.version,
        "cpu_level": plan.cpu.name,
        "vulkan": plan.has_vulkan,
        "vulkan_reason": vulkan.reason if isinstance(vulkan, vulkan_tools.NoVulkan) else None,
        "vulkan_tools": vulkan.identity if isinstance(vulkan, vulkan_tools.VulkanTools) else None,
        "options": plan.options(),
        "toolchain": plan.toolchain,
        "recipe": RECIPE,
        "key": plan.key(),
    }


def recorded(built: Path) -> dict[str, object]:
    """What the build wrote down about itself."""
    facts: dict[str, object] = json.loads((built / "build.json").read_text(encoding="utf-8"))
    return facts
