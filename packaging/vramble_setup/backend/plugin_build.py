"""Builds one plugin from the pinned source, once for each toolchain and set of targets."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.backends.elf import NotLoadable, read_library
from vramble_setup import build_cache, cmake_build
from vramble_setup.report import SetupError, say

# Count this up when the build changes in a way that the other facts of the key do not show.
RECIPE = 1
TITLES = {"hip": "HIP", "vulkan": "Vulkan"}


@dataclass(frozen=True)
class PluginPlan:
    """Everything that decides what the plugin will be.

    Attributes:
        options: CMake's options that say what is built.
        where: CMake's options that say where the tools lie; they are not part of the key.
        tools: Versions of what it is built with, such as `hip` and `clang`.
        gfx: Targets of a HIP plugin.
    """

    backend: str
    version: str
    archive_hash: str
    options: Mapping[str, str]
    where: Mapping[str, str]
    tools: Mapping[str, str]
    toolchain: Mapping[str, str]
    gfx: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """CMake's target."""
        return f"ggml-{self.backend}"

    @property
    def file(self) -> str:
        """Name of the plugin's file."""
        return f"lib{self.target}.so"

    def key(self) -> str:
        return build_cache.key_of(
            {
                "version": self.version,
                "archive": self.archive_hash,
                "options": dict(self.options),
                "tools": dict(self.tools),
                "toolchain": dict(self.toolchain),
                "gfx": sorted(self.gfx),
                "recipe": RECIPE,
            }
        )


def build(plan: PluginPlan, root: Path, fetch: Callable[[Path], None], parallel: int) -> Path:
    """The cache's entry for the plan, made if need be: the plugin, the libggml-base it was linked to, `record.json`."""
    name = f"{plan.target}-{plan.key()}"

    def make(folder: Path) -> None:
        log = log_of(plan, root)
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("", encoding="utf-8")
        _make(plan, folder, log, fetch, parallel)

    return build_cache.entry(root, name, f"building the {TITLES[plan.backend]} plugin", make)


def log_of(plan: PluginPlan, root: Path) -> Path:
    """Where the build of the plan is logged."""
    return root / "logs" / f"{plan.target}-{plan.key()}.log"


def _make(plan: PluginPlan, folder: Path, log: Path, fetch: Callable[[Path], None], parallel: int) -> None:
    title = TITLES[plan.backend]
    say(f"Building the {title} plugin. {_expected(plan)} The log is {log}.")
    started, used = time.monotonic(), _processor_seconds()
    source = cmake_build.unpack_source(plan.version, plan.archive_hash, folder / "source", log, fetch)
    objects = folder / "objects"
    languages = ("HIP",) if plan.backend == "hip" else ()
    options = {**cmake_build.FIXED_OPTIONS, **plan.options, **plan.where}
    what = f"Configuring the {title} plugin"
    cmake_build.configure(source, objects, options, log, what, languages=languages)
    cmake_build.compile_targets(objects, [plan.target], parallel, log, f"Building the {title} plugin")
    _keep(objects, plan.file, folder / plan.file)
    _keep(objects, "libggml-base.so.0", folder / "libggml-base.so.0")
    strip(folder / plan.file)
    seconds = {
        "build_seconds": round(time.monotonic() - started),
        "processor_seconds": round(_processor_seconds() - used),
        "parallel": parallel,
    }
    facts = record_of(plan, folder / plan.file, cmake_build.llama_version(source)) | seconds
    (folder / "record.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(objects)
    shutil.rmtree(folder / "source")


def _expected(plan: PluginPlan) -> str:
    if plan.backend == "hip":
        return f"On two processors this takes about 20 to 40 minutes for each target ({', '.join(plan.gfx)}), once."
    return "This takes 5 to 20 minutes, once."


def _keep(objects: Path, name: str, goal: Path) -> None:
    found = sorted(file for file in objects.rglob(name) if file.is_file())
    if not found:
        raise SetupError(f"The build left no {name}.", "Please report it, with the log of the build.")
    shutil.copyfile(found[0].resolve(), goal)
    goal.chmod(0o755)


def strip(plugin: Path) -> None:
    """Removes the symbols that only a debugger wants, where there is a `strip`."""
    if program := shutil.which("strip"):
        subprocess.run([program, "--strip-unneeded", plugin], check=False, capture_output=True)


def record_of(plan: PluginPlan, plugin: Path, llama_version: str | None) -> dict[str, object]:
    """What is written beside the plugin. The engine reads it to say why one does not fit."""
    try:
        library = read_library(plugin)
    except NotLoadable as error:
        raise SetupError(f"What was built cannot be loaded: {error}", "Please report it, with the log.") from error
    glibc = library.glibc()
    return {
        "backend": plan.backend,
        "llama_cpp_python": plan.version,
        "llama_cpp_version": llama_version,
        "archive_sha256": plan.archive_hash,
        "gfx": list(plan.gfx),
        "rocm": plan.tools.get("hip"),
        "compiler": plan.tools.get("clang") or plan.toolchain.get("compiler"),
        "tools": dict(plan.tools),
        "options": dict(plan.options),
        "glibc_needed": ".".join(map(str, glibc)) if glibc else None,
        "glibc_here": platform.libc_ver()[1] or None,
        "system": _system(),
        "libraries": list(library.needed),
        "bytes": library.size,
        "sha256": build_cache.sha256_of(plugin),
        "built": dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "recipe": RECIPE,
        "key": plan.key(),
    }


def _system() -> str | None:
    try:
        text = Path("/etc/os-release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r'^PRETTY_NAME="?([^"\n]+)', text, re.MULTILINE)
    return found[1] if found else None


def _processor_seconds() -> float:
    """Processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def nice() -> None:
    """The machine stays usable meanwhile."""
    os.nice(max(0, 10 - os.nice(0)))
