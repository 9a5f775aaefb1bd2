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

LAYERS_DISABLE = "VK_LOADER_LAYERS_DISABLE"
"""Comma list of layers that the Vulkan loader leaves out, with ``*`` at both ends (loader 1.3.234 and newer)."""

OVERLAY_LAYERS = (
    "*mangohud*",
    "*vkbasalt*",
    "*steam_overlay*",
    "*steam_fossilize*",
    "*obs_vkcapture*",
    "*gamescope_wsi*",
    "*mesa_overlay*",
    "*frame_generation*",
)
"""The same layers by name, whatever variable they look for."""

TUNABLES, HUGE_PAGES = "GLIBC_TUNABLES", "glibc.malloc.hugetlb"
"""The C library asks for huge pages for large blocks (glibc 2.35 and newer): KV cache and buffers, and weights that
are read instead of mapped. Two per cent of the processor time of a token, measured on an EPYC with a small model."""

PRELOADED_OVERLAYS = ("gameoverlayrenderer", "libmangohud", "libmangoapp", "libobs_glcapture")


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
    env[LAYERS_DISABLE] = ",".join([*filter(None, [env.get(LAYERS_DISABLE, "")]), *OVERLAY_LAYERS])
    tunables = env.get(TUNABLES, "")
    if HUGE_PAGES not in tunables:
        env[TUNABLES] = ":".join([*filter(None, [tunables]), f"{HUGE_PAGES}=1"])
    preload = _without_overlays(env.pop("LD_PRELOAD", ""))
    if preload:
        env["LD_PRELOAD"] = preload
    if backends is not None:
        env.setdefault(BACKENDS_ENV, str(backends))
    return with_source(env)


def overlays_kept_away(environ: Mapping[str, str]) -> tuple[str, ...]:
    """What of ``environ`` would have put an overlay into the worker: variables, and files named in ``LD_PRELOAD``."""
    switches = tuple(f"{name}={environ[name]}" for name in OVERLAY_SWITCHES if environ.get(name))
    preloaded = (entry for entry in _entries(environ.get("LD_PRELOAD", "")) if _is_overlay(entry))
    return switches + tuple(dict.fromkeys(entry.rpartition("/")[2] for entry in preloaded))


def _without_overlays(preload: str) -> str:
    """A value for ``LD_PRELOAD`` without overlay libraries."""
    return ":".join(entry for entry in _entries(preload) if not _is_overlay(entry))


def _entries(preload: str) -> list[str]:
    """The files of an ``LD_PRELOAD``, which are separated by colons or blanks."""
    return preload.replace(":", " ").split()


def _is_overlay(library: str) -> bool:
    return any(word in library.lower() for word in PRELOADED_OVERLAYS)
