"""The command line of `packaging/build-backend`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.backends.elf import numbers
from vramble_setup import build_cache, cmake_build, llama_build, vulkan_tools
from vramble_setup.backend import hip_tools, installing, loading, plugin_build, source_archive, targets
from vramble_setup.backend.plugin_build import PluginPlan
from vramble_setup.report import SetupError, say

CHECKOUT = Path(__file__).resolve().parents[3]
HIP_ONLY = ("gfx", "rccl", "no_flash_attention")


def parser() -> argparse.ArgumentParser:
    """The options, with a line for each."""
    words = argparse.ArgumentParser(
        prog="packaging/build-backend",
        description="Builds a backend plugin for exactly the llama.cpp that Vramble runs, and puts it where it looks.",
    )
    words.add_argument("backend", choices=("hip", "vulkan"), help="hip: for Radeon cards through ROCm")
    words.add_argument("--gfx", metavar="LIST", help="targets, such as gfx1100,gfx1030 (default: this machine's GPUs)")
    words.add_argument("--output", metavar="FOLDER", type=Path, help="where to put it (default: Vramble's folder)")
    words.add_argument("--rccl", action="store_true", help="use RCCL between several GPUs")
    words.add_argument("--no-flash-attention", action="store_true", help="leave flash attention out: smaller, slower")
    words.add_argument("--jobs", metavar="N", type=int, help="compilers at once (default: as memory allows)")
    words.add_argument("--source", metavar="FILE", type=Path, help="the pinned source archive, if it is here already")
    words.add_argument("--check", action="store_true", help="only look whether it could be built")
    return words


def main(arguments: Sequence[str]) -> int:
    chosen = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run(chosen, os.environ)
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("Stopped. Nothing was installed; run the same command again to go on.")
        return 130
    except OSError as error:
        say(f"It failed: {error}.\nMake sure that this disk has 3 GB free and can be written to.")
        return 1
    except Exception:
        traceback.print_exc()
        say("That is a mistake in the tool. Please report it with the lines above.")
        return 1


def run(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    _refuse_nonsense(chosen, environ)
    _need_programs()
    root = build_cache.cache_root()
    plan = plan_for(chosen, environ, root)
    say(f"For llama-cpp-python {plan.version}, with {_versions(plan)}.")
    _engine_in_checkout(plan)
    if chosen.check:
        say("It can be built here.")
        return 0
    log = plugin_build.log_of(plan, root)
    fetch = source_archive.fetcher(CHECKOUT, root, plan.archive_hash, chosen.source, log)
    plugin_build.nice()
    built = plugin_build.build(plan, root, fetch, chosen.jobs or cmake_build.jobs())
    found = loading.load(built / "libggml-base.so.0", built / plan.file, log)
    folder = (chosen.output or installing.user_folder(environ)).absolute()
    goal = installing.install(built, plan.file, folder)
    _tell(goal, installing.recorded(built), found)
    return 0


def plan_for(chosen: argparse.Namespace, environ: Mapping[str, str], root: Path) -> PluginPlan:
    """What is to be built. Raises SetupError when it cannot be."""
    version, archive_hash = cmake_build.pinned(CHECKOUT / "requirements" / "llama.txt")
    toolchain = llama_build.toolchain_facts()
    if chosen.backend == "vulkan":
        found = vulkan_tools.find(root, root / "logs" / "vulkan-tools.log")
        if isinstance(found, vulkan_tools.NoVulkan):
            raise SetupError(found.reason, "Vulkan cannot be built without that.")
        tools, options = {"vulkan": found.identity}, {"GGML_VULKAN": "ON"}
        return PluginPlan("vulkan", version, archive_hash, options, dict(found.options), tools, toolchain)
    rocm = hip_tools.find(environ, rccl=chosen.rccl)
    gfx = targets.parse(chosen.gfx) if chosen.gfx is not None else targets.of_machine(environ)
    hip_tools.prove(rocm, gfx)
    for name in hip_tools.without_kernels(rocm, gfx):
        say(f"Note: this ROCm's rocBLAS has no kernels for {name}. The plugin compiles, but large prompts may end it.")
    options = {
        "GGML_HIP": "ON",
        "GGML_HIP_RCCL": "ON" if chosen.rccl else "OFF",
        "GGML_CUDA_FA": "OFF" if chosen.no_flash_attention else "ON",
        "CMAKE_HIP_ARCHITECTURES": ";".join(gfx),
    }
    return PluginPlan("hip", version, archive_hash, options, rocm.options(), rocm.identity(), toolchain, gfx)


def _refuse_nonsense(chosen: argparse.Namespace, environ: Mapping[str, str]) -> None:
    given = [f"--{name.replace('_', '-')}" for name in HIP_ONLY if getattr(chosen, name)]
    if chosen.backend != "hip" and given:
        raise SetupError(f"{given[0]} is for the HIP plugin only.", "Leave it out.")
    if chosen.jobs is not None and chosen.jobs < 1:
        raise SetupError("--jobs takes a number from 1 up.", "Leave it out to have as many as memory allows.")
    if os.geteuid() == 0 and environ.get("SUDO_USER") and not chosen.output:
        raise SetupError(
            "Under sudo the plugin would go into root's folder, where Vramble does not look.",
            "Run it as yourself: only packages need root. Or say where with --output.",
        )


def _need_programs() -> None:
    packages = {"cmake": "cmake", "ninja": "ninja-build", "c++": "g++"}
    lacking = [name for name in packages if not shutil.which(name)]
    if lacking:
        names = " ".join(packages[name] for name in lacking)
        raise SetupError(
            f"These programs are missing: {', '.join(lacking)}.", f"On Debian and Ubuntu: apt install {names}"
        )


def _engine_in_checkout(plan: PluginPlan) -> None:
    """Say so when the engine that is set up here is another build, or from a system with another C library."""
    try:
        text = (CHECKOUT / ".venv/share/vramble/build.json").read_text(encoding="utf-8")
        facts = json.loads(text)
        installed, libc = str(facts["llama_cpp_python"]), str(facts["toolchain"]["libc"])
    except (OSError, ValueError, KeyError, TypeError):
        return
    if installed != plan.version:
        say(f"Note: the engine set up here is {installed}. Run `./dev run` once, so that both are {plan.version}.")
    theirs, ours = numbers(libc.removeprefix("glibc ")), numbers(platform.libc_ver()[1])
    if theirs and theirs < ours:
        say(
            f"Note: Vramble here was set up with {libc}; this system has glibc {platform.libc_ver()[1]}. "
            "A plugin built here may load only where glibc is as new."
        )


def _versions(plan: PluginPlan) -> str:
    if plan.backend == "vulkan":
        return f"{plan.tools['vulkan']}, {plan.toolchain['compiler']}, {plan.toolchain['libc']}"
    return f"HIP {plan.tools['hip']}, {plan.tools['clang']}, {plan.toolchain['libc']}, for {', '.join(plan.gfx)}"


def _tell(goal: Path, record: Mapping[str, object], found: loading.Loaded) -> None:
    size = int(str(record["bytes"])) / 1_000_000
    say(f"{found.name} plugin: {goal}, {size:.1f} MB, built in {record['build_seconds']} s.")
    say(f"It needs glibc {record['glibc_needed']} or newer and: {', '.join(_own(record['libraries']))}.")
    if found.devices:
        say(f"It finds here: {', '.join(found.devices)}. Vramble uses it after its next start of the engine.")
    else:
        say("It loads here and finds no device: Vramble will say so.")


def _own(libraries: object) -> list[str]:
    """Those that are not part of every system."""
    common = ("libc.", "libm.", "libgcc_s.", "libstdc++.", "libggml", "ld-linux", "libdl.", "libpthread.")
    return [str(name) for name in libraries if not str(name).startswith(common)] if isinstance(libraries, list) else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
