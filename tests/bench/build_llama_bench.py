#!/usr/bin/env python3
"""Builds llama-bench against the very libraries of the engine in this environment.

Prints the path of the program. It is built once (some minutes) and kept beside the engine in the
build cache. Use: python3 tests/bench/build_llama_bench.py
"""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
RECIPE = Path(__file__).with_suffix(".cmake")


def engine_in_cache(checkout: Path = CHECKOUT) -> Path:
    """The entry of the build cache that this checkout's engine came from."""
    record = checkout / ".venv" / "share" / "vramble" / "build.json"
    try:
        place = Path(json.loads(record.read_text(encoding="utf-8"))["cache"])
    except (OSError, KeyError, ValueError):
        sys.exit("The engine is not set up. Run `./dev setup` once, then try again.")
    if not (place / "bench").is_dir():
        sys.exit(f"{place} is gone. Run `./dev clean`, then `./dev setup`, then try again.")
    return place


def build(entry: Path) -> Path:
    """The program `llama-bench` in the cache's entry; made if it is not there yet."""
    goal = entry / "llama-bench"
    with (entry / "llama-bench.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not goal.is_dir():
            unfinished = entry / "llama-bench.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            _compile(entry, unfinished / "objects")
            _put_together(entry, unfinished)
            unfinished.rename(goal)
    return goal / "llama-bench"


def _compile(entry: Path, objects: Path) -> None:
    objects.mkdir(parents=True)
    shutil.copy2(RECIPE, objects / "CMakeLists.txt")
    # cmake/common.cmake looks for its helper from the folder of the project.
    (objects / "ggml").symlink_to(entry / "bench" / "ggml")
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "LLAMA_SOURCE": entry / "bench",
        "ENGINE": entry / "site" / "llama_cpp" / "lib",
    }
    if launcher := shutil.which("ccache"):
        options["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher
    defines = [f"-D{name}={value}" for name, value in options.items()]
    _run("cmake", "-G", "Ninja", "-S", objects, "-B", objects / "out", *defines)
    _run("cmake", "--build", objects / "out", "--target", "llama-bench")


def _put_together(entry: Path, folder: Path) -> None:
    """The program with links to the engine's plugins beside it: there it looks for them."""
    shutil.copy2(folder / "objects" / "out" / "bin" / "llama-bench", folder / "llama-bench")
    for plugin in (entry / "site" / "llama_cpp" / "lib").glob("libggml-*.so"):
        if not plugin.is_symlink():
            (folder / plugin.name).symlink_to(plugin)
    shutil.rmtree(folder / "objects")


def _run(*command: str | Path) -> None:
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    print(build(engine_in_cache()))
