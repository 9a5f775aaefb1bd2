"""Builds llama.cpp and its Python bindings from the pinned source archive, once for each toolchain.

CMake is driven directly, with the archive's own CMakeLists.txt. Each backend becomes a library of its
own that the program loads at run time. An entry of the cache holds `site/` (what goes into an
environment), `bench/` (what llama-bench is built from, against the same libraries) and `build.json`.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vramble_setup import build_cache, bundle_tree, vulkan_tools
from vramble_setup.commands import CommandError, logged, output
from vramble_setup.cpu_level import CpuLevel, this_machine
from vramble_setup.report import Progress, SetupError, say

# Count this up when the build changes in a way that the other facts of the key do not show.
RECIPE = 2
TARGETS = ("llama", "mtmd", "ggml", "ggml-base", "ggml-cpu", "ggml-rpc")
FIXED_OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "GGML_BACKEND_DL": "ON",
    "GGML_NATIVE": "OFF",
    "GGML_RPC": "ON",
    "GGML_CCACHE": "OFF",
    "LLAMA_USE_PREBUILT_UI": "OFF",
}
VULKAN_FAILED = "The Vulkan plugin did not compile on this system."
FEWEST_STEPS = 50
KIB_PER_JOB = 1_500_000
NINJA_STEP = re.compile(r"\[(\d+)/(\d+)\]")


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


def pinned(requirements: Path) -> tuple[str, str]:
    """Version and sha256 of llama-cpp-python in the requirements file."""
    text = requirements.read_text(encoding="utf-8")
    found = re.search(r"llama-cpp-python==(\S+)\s+\\?\s*--hash=sha256:([0-9a-f]{64})", text)
    if not found:
        raise SetupError(f"{requirements} pins no llama-cpp-python.", "Restore the file from git.")
    return found.group(1), found.group(2)


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
    version, archive_hash = pinned(requirements)
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
    source = _unpack_source(plan, folder / "source", log, fetch)
    objects = folder / "objects"
    _configure(plan, source, objects, log)
    _compile(plan, objects, log)
    bundle_tree.make_site(source, objects, folder / "site", plan.version)
    bundle_tree.make_bench(source, folder / "bench")
    facts = facts_of(plan) | {
        "llama_cpp_version": _llama_version(source),
        "llama_cpp_commit": None,  # the source archive does not say it
        "build_seconds": round(time.monotonic() - started),
    }
    (folder / "build.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(objects)
    shutil.rmtree(folder / "source")


def _unpack_source(plan: Plan, place: Path, log: Path, fetch: Callable[[Path], None]) -> Path:
    place.mkdir()
    fetch(place)
    archives = sorted(place.glob("llama_cpp_python-*.tar.gz"))
    if not archives or build_cache.sha256_of(archives[0]) != plan.archive_hash:
        raise SetupError(
            "The source archive of llama-cpp-python is missing or not the pinned one.",
            "Try again; if it stays so, check the network and the package index.",
        )
    logged(["tar", "-xzf", archives[0], "-C", place], log, "Unpacking the source of the engine")
    archives[0].unlink()
    return place / f"llama_cpp_python-{plan.version}"


def _configure(plan: Plan, source: Path, objects: Path, log: Path) -> None:
    options = plan.options()
    options["SKBUILD_PLATLIB_DIR"] = str(objects / "unused")
    if isinstance(plan.vulkan, vulkan_tools.VulkanTools):
        options.update(plan.vulkan.options)
    if launcher := shutil.which("ccache"):
        options["CMAKE_C_COMPILER_LAUNCHER"] = launcher
        options["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher
    defines = [f"-D{name}={value}" for name, value in sorted(options.items())]
    command: list[str | Path] = ["cmake", "-G", "Ninja", "-S", source, "-B", objects, *defines]
    logged(command, log, f"Configuring llama.cpp{_and_vulkan(plan)}", env=_environment(source))


def _compile(plan: Plan, objects: Path, log: Path) -> None:
    targets = [*TARGETS, "ggml-vulkan"] if plan.has_vulkan else list(TARGETS)
    progress = Progress("Building llama.cpp")

    def follow(line: str) -> None:
        found = NINJA_STEP.match(line)
        # A build within the build (the shader tool) counts by itself, with a handful of steps.
        if found and int(found.group(2)) >= FEWEST_STEPS:
            progress.at(int(found.group(1)), int(found.group(2)))

    command: list[str | Path] = ["cmake", "--build", objects, "--parallel", str(jobs()), "--target", *targets]
    logged(command, log, "Building llama.cpp", env=_environment(objects), on_line=follow)
    progress.end()


def _and_vulkan(plan: Plan) -> str:
    return " with Vulkan" if plan.has_vulkan else ""


def jobs(meminfo: Path = Path("/proc/meminfo")) -> int:
    """As many compilers at once as there are processors and memory for."""
    processors = len(os.sched_getaffinity(0))
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text(encoding="utf-8"))
    except OSError:
        found = None
    by_memory = int(found.group(1)) // KIB_PER_JOB if found else processors
    return max(1, min(processors + 1, by_memory))


def _environment(base: Path) -> dict[str, str]:
    """The environment of the compiler: ccache then finds the same file in another folder too."""
    environment = dict(os.environ)
    environment["CCACHE_BASEDIR"] = str(base.parent)
    environment["CCACHE_NOHASHDIR"] = "1"
    for name in ("CMAKE_ARGS", "CFLAGS", "CXXFLAGS", "LDFLAGS"):
        environment.pop(name, None)
    return environment


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


def _llama_version(source: Path) -> str | None:
    text = (source / "vendor/llama.cpp/CMakeLists.txt").read_text(encoding="utf-8")
    parts = re.findall(r"LLAMA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
    return ".".join(parts[:3]) if len(parts) >= 3 else None
