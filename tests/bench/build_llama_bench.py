#!/usr/bin/env python3
"""Builds llama-bench or llama-batched-bench against the very libraries of the engine in this environment.

Prints the path of the program. It is built once (some minutes) and kept beside the engine in the
build cache. Use: python3 tests/bench/build_llama_bench.py [llama-batched-bench]
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
SOURCES = {"llama-bench": "llama-bench", "llama-batched-bench": "batched-bench"}
"""Folder in llama.cpp's tools of each program."""


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


def build(entry: Path, program: str = "llama-bench") -> Path:
    """The program (`llama-bench` or `llama-batched-bench`) in the cache's entry; made if it is not there yet."""
    if not (entry / "bench" / "tools" / SOURCES[program]).is_dir():
        sys.exit(f"{entry} is from before {program} was kept. Run `./dev clean --cache`, then `./dev setup`.")
    goal = entry / program
    with (entry / f"{program}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not goal.is_dir():
            unfinished = entry / f"{program}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            _compile(entry, unfinished / "objects", program)
            _put_together(entry, unfinished, program)
            unfinished.rename(goal)
    return goal / program


def _compile(entry: Path, objects: Path, program: str) -> None:
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
    _run("cmake", "--build", objects / "out", "--target", program)


def _put_together(entry: Path, folder: Path, program: str) -> None:
    """The program with links to the engine's plugins beside it: there it looks for them."""
    shutil.copy2(folder / "objects" / "out" / "bin" / program, folder / program)
    for plugin in (entry / "site" / "llama_cpp" / "lib").glob("libggml-*.so"):
        if not plugin.is_symlink():
            (folder / plugin.name).symlink_to(plugin)
    shutil.rmtree(folder / "objects")


def _run(*command: str | Path) -> None:
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    print(build(engine_in_cache(), *sys.argv[1:2]))
