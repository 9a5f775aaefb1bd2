"""Why a plugin is not loaded, in a sentence that is true and says what to do where that is known."""

from __future__ import annotations

import ctypes
import platform
import re
from pathlib import Path
from typing import Any

from engine.backends.elf import PLUGIN_ENTRY, Library, numbers
from engine.backends.kinds import CPU, kind_of
from engine.backends.plugin_record import PluginRecord

API_VERSION = 2
"""``GGML_BACKEND_API_VERSION`` of the engine's llama.cpp; a test compares it with the engine's own plugins."""

BASE = "libggml-base"
NO_ENTRY = "It is no plugin of ggml: it has no ggml_backend_init."
LACKS_INSTRUCTIONS = "This processor lacks the instructions that it needs."
NOT_STARTED = "It could not be started."

_MISSING = re.compile(r"lib[^\s:/]+\.so[\w.]*: cannot open shared object file")
_VERSION = re.compile(r"(?:(\S+): )?version [`'](\S+?)' not found")
_UNDEFINED = re.compile(r"undefined symbol: (\S+)")


def system_glibc() -> tuple[int, ...]:
    """Version of the C library of this process; empty where it is another one."""
    name, version = platform.libc_ver()
    return numbers(version) if name == "glibc" else ()


def another_base(library: Library, base: str | None) -> str | None:
    """The sentence for a plugin that wants another libggml-base: a copy beside it would become a second one in here.

    Args:
        base: The name under which the engine's own is known, such as ``libggml-base.so.0``; None: not known.
    """
    wanted = next((name for name in library.needed if name.startswith(f"{BASE}.so")), base)
    if base is None or wanted == base:
        return None
    return f"It was built for another llama.cpp: it needs {wanted}, this engine has {base}."


def another_build(record: PluginRecord, engine: str | None, plugin: Path) -> str | None:
    """The sentence for a plugin of another llama.cpp: such a pair may load and then compute nonsense."""
    made_for = record.llama_cpp_python
    if made_for is None or engine is None or made_for == engine:
        return None
    kind = kind_of(plugin)
    again = f" Build it again: packaging/build-backend {kind}" if kind in {"hip", "vulkan"} else ""
    return f"It was built for another llama.cpp (llama-cpp-python {made_for}); this engine has {engine}.{again}"


def loader_words(plugin: Path) -> str | None:
    """Why the dynamic loader refuses ``plugin``, or None when it does not."""
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        return str(error)
    except UnicodeDecodeError as error:  # the message holds a path of any bytes
        return error.object.decode("utf-8", "replace")
    return None


def explain_loader(words: str, library: Library, record: PluginRecord, glibc: tuple[int, ...]) -> str:
    """The loader's words with what they mean put before them."""
    needed = library.glibc()
    if needed and glibc and needed > glibc:
        built = f" It was built on {record.system}." if record.system else ""
        return f"It needs glibc {_dotted(needed)} or newer; this system has {_dotted(glibc)}.{built} {_ended(words)}"
    if _MISSING.search(words):
        return f"{_ended(words)} It was built with ROCm {record.rocm}." if record.rocm else words
    version = _VERSION.search(words)
    if version:
        where = Path(version[1]).name if version[1] else "a library"
        return f"It needs a newer {where} ({version[2]}). {_ended(words)}"
    symbol = _UNDEFINED.search(words)
    if symbol and symbol[1].startswith(("ggml_", "gguf_", "_Z")):
        return f"It was built for another llama.cpp. {_ended(words)}"
    return words


def why_refused(plugin: Path) -> str:
    """Why ggml did not take a plugin that the loader takes. Calls into it, as ggml did."""
    loaded = ctypes.CDLL(str(plugin))
    if score(loaded) == 0:
        return LACKS_INSTRUCTIONS if kind_of(plugin) == CPU else "It says that this system cannot run it."
    start = _function(loaded, PLUGIN_ENTRY)
    if start is None:
        return NO_ENTRY
    start.restype = ctypes.c_void_p
    registry = start()
    if not registry:
        return NOT_STARTED
    version = ctypes.c_int.from_address(registry).value
    if version != API_VERSION:
        return f"It is made for version {version} of ggml's plugin interface; this engine has version {API_VERSION}."
    return "ggml did not take it."


def score(loaded: ctypes.CDLL) -> int | None:
    """How well the plugin suits this processor: 0 not at all. None: it does not say."""
    function = _function(loaded, "ggml_backend_score")
    if function is None:
        return None
    function.restype = ctypes.c_int
    return int(function())


def _function(loaded: ctypes.CDLL, name: str) -> Any:
    """A function of the library, or None. In a folder of any bytes ctypes cannot even say that there is none."""
    try:
        return getattr(loaded, name, None)
    except UnicodeDecodeError:
        return None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _ended(words: str) -> str:
    return words if words.endswith(".") else f"{words}."
