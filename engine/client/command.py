"""How the worker process is started: its command line and its environment."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.own_process import module_command, with_source

COMMAND_ENV = "VRAMBLE_WORKER_COMMAND"
"""Replaces the worker's command line, for tests. Split as a shell would."""

BACKENDS_ENV = "VRAMBLE_BACKENDS_DIR"
"""Folder with ggml plugins that the user added."""

OVERLAY_SWITCHES = ("MANGOHUD", "MANGOAPP", "ENABLE_VKBASALT", "OBS_VKCAPTURE", "ENABLE_GAMESCOPE_WSI")
"""Variables that switch a Vulkan layer on. A layer made for games draws on a picture; here it can only crash."""

OVERLAYS_OFF = {
    "DISABLE_MANGOHUD": "1",
    "DISABLE_VKBASALT": "1",
    "DISABLE_GAMESCOPE_WSI": "1",
    "DISABLE_VK_LAYER_VALVE_steam_overlay_1": "1",
    "DISABLE_VK_LAYER_VALVE_steam_fossilize_1": "1",
}
"""The switches that Steam's and the desktops' implicit layers look for."""

PRELOADED_OVERLAYS = ("gameoverlayrenderer", "libmangohud", "libmangoapp")


@dataclass(frozen=True)
class WorkerCommand:
    """What to start: program and arguments, and the whole environment of the process."""

    arguments: tuple[str, ...]
    environment: dict[str, str]


def worker_command(backends: Path | None = None, environ: Mapping[str, str] | None = None) -> WorkerCommand:
    """The worker of this installation, or what ``VRAMBLE_WORKER_COMMAND`` says instead.

    Args:
        backends: Folder for ggml plugins of the user; not passed on when the environment names one already.
        environ: Environment to start from; default: this process's own.
    """
    env = os.environ if environ is None else environ
    replaced = shlex.split(env.get(COMMAND_ENV, ""))
    arguments = replaced or module_command("engine.worker")
    return WorkerCommand(tuple(arguments), worker_environment(env, backends))


def worker_environment(environ: Mapping[str, str], backends: Path | None = None) -> dict[str, str]:
    """``environ`` without the layers that games want, and with what the worker needs to find its parts."""
    env = {key: value for key, value in environ.items() if key not in OVERLAY_SWITCHES}
    env.update(OVERLAYS_OFF)
    preload = _without_overlays(env.pop("LD_PRELOAD", ""))
    if preload:
        env["LD_PRELOAD"] = preload
    if backends is not None:
        env.setdefault(BACKENDS_ENV, str(backends))
    return with_source(env)


def _without_overlays(preload: str) -> str:
    """A value for ``LD_PRELOAD`` without overlay libraries. Entries are separated by colons or blanks."""
    entries = preload.replace(":", " ").split()
    return ":".join(e for e in entries if not any(word in e.lower() for word in PRELOADED_OVERLAYS))
