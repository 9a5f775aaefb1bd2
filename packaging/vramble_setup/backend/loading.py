"""Loads a built plugin in a process of its own: does it fit this system, and what does it find?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from vramble_setup.report import SetupError

SECONDS = 120

# argv: libggml-base, the plugin. The devices are asked only for their names: memory would wake cards.
PROBE = """
import ctypes, json, sys
base = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
plugin = ctypes.CDLL(sys.argv[2])
plugin.ggml_backend_init.restype = ctypes.c_void_p
registry = plugin.ggml_backend_init()
def call(name, result, *arguments):
    function = getattr(base, name)
    function.restype, function.argtypes = result, [ctypes.c_void_p, ctypes.c_size_t][: len(arguments)]
    return function(*arguments)
count = call("ggml_backend_reg_dev_count", ctypes.c_size_t, registry)
devices = [call("ggml_backend_reg_dev_get", ctypes.c_void_p, registry, index) for index in range(count)]
print(json.dumps({
    "name": call("ggml_backend_reg_name", ctypes.c_char_p, registry).decode(),
    "api": ctypes.c_int.from_address(registry).value,
    "devices": [call("ggml_backend_dev_description", ctypes.c_char_p, device).decode() for device in devices],
}))
"""


@dataclass(frozen=True)
class Loaded:
    """The backend's name, ggml's plugin interface, and the devices it sees."""

    name: str
    api: int
    devices: tuple[str, ...]


def load(base: Path, plugin: Path, log: Path) -> Loaded:
    """Raises SetupError with the loader's words when the plugin does not load on this system."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROBE, base, plugin],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            env=environment,
            cwd="/",
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(
            f"The plugin was built, but loading it took more than {SECONDS} s.", f"The log is {log}."
        ) from error
    with log.open("a", encoding="utf-8") as file:
        file.write(f"Loading {plugin}:\n{done.stdout}{done.stderr}")
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        raise SetupError(
            f"The plugin was built, but does not load here: {_last(done.stderr, done.returncode)}.",
            f"It was not installed. The log is {log}.",
        )
    answer = json.loads(lines[-1])
    return Loaded(answer["name"], answer["api"], tuple(answer["devices"]))


def _last(stderr: str, code: int) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    if code < 0:
        return f"it ended the process (signal {-code})"
    return lines[-1].removeprefix("OSError: ").rstrip(".") if lines else "it ended without a word"
