"""Puts the built engine into the environment and looks whether it works there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from vramble_setup.environment import Environment
from vramble_setup.report import SetupError, say

# Runs in the environment. Prints the devices as JSON. argv[1]: "cpu" or "all".
PROBE = """
import ctypes, json, sys
from pathlib import Path
import llama_cpp.llama_cpp as bindings
folder = Path(bindings.__file__).with_name("lib")
ggml = ctypes.CDLL(str(folder / "libggml.so"))
base = ctypes.CDLL(str(folder / "libggml-base.so"))
if sys.argv[1] == "cpu":
    load = ggml.ggml_backend_load
    load.restype = ctypes.c_void_p
    load(str(folder / "libggml-cpu.so").encode())
else:
    ggml.ggml_backend_load_all_from_path(str(folder).encode())
count, get = ggml.ggml_backend_dev_count, ggml.ggml_backend_dev_get
count.restype, get.restype, get.argtypes = ctypes.c_size_t, ctypes.c_void_p, [ctypes.c_size_t]
name = base.ggml_backend_dev_name
name.restype, name.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
print(json.dumps([name(get(index)).decode() for index in range(count())]))
"""


def install(environment: Environment, built: Path) -> None:
    """Replaces the environment's llama_cpp by the one from the cache."""
    site = environment.site_packages
    for old in [site / "llama_cpp", *site.glob("llama_cpp_python-*.dist-info")]:
        shutil.rmtree(old, ignore_errors=True)
    for part in sorted((built / "site").iterdir()):
        shutil.copytree(part, site / part.name, symlinks=True)


def is_installed(environment: Environment) -> bool:
    return (environment.site_packages / "llama_cpp" / "lib" / "libggml.so").exists()


def record(environment: Environment, facts: dict[str, object]) -> None:
    """Writes build.json, which the program reads to say what it runs on and why."""
    goal = environment.shared / "build.json"
    fresh = goal.with_suffix(".new")
    fresh.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    fresh.replace(goal)


def verify(environment: Environment) -> list[str]:
    """The devices that the engine finds. The processor must be one; graphics cards are a bonus."""
    devices = probe(environment, "cpu")
    if devices is None or "CPU" not in devices:
        raise SetupError(
            "The engine was built but does not start on this machine.",
            "Run `./dev clean --cache`, then start again; if it stays so, please report it.",
        )
    everything = probe(environment, "all")
    if everything is None:
        say("The graphics driver failed while the engine looked for devices; the processor works.")
        return devices
    return everything


def probe(environment: Environment, what: str) -> list[str] | None:
    """Device names as the engine in the environment reports them; None if it failed."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(
            [environment.python, "-c", PROBE, what],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120,
            env=clean,
            cwd="/",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    environment.shared.mkdir(parents=True, exist_ok=True)
    with environment.log.open("a", encoding="utf-8") as log:
        log.write(f"Looking for devices ({what}):\n{done.stdout}{done.stderr}")
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        return None
    devices = json.loads(lines[-1])
    return [str(device) for device in devices]
