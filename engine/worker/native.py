"""libllama through the bindings of llama-cpp-python: their C API only, never the high-level class."""

from __future__ import annotations

import ctypes
import importlib
import importlib.metadata
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.backends.ggml import Ggml
from engine.errors import VrambleError
from engine.worker.log import NativeLog

Pointer = Any
"""An opaque pointer of llama.cpp as ctypes hands it around."""

PACKAGE = "llama_cpp"


@dataclass(frozen=True)
class Llama:
    """The loaded library: ``api`` is the bindings module with one function for each C function."""

    api: Any
    ggml: Ggml
    library: Path
    """Folder of the shared libraries, where the plugins lie as well."""

    version: str
    log: NativeLog
    callbacks: tuple[object, ...]
    """Kept alive: native code holds their addresses."""


def import_bindings() -> Any:
    """``llama_cpp.llama_cpp`` without its package's ``__init__``.

    That imports the high-level class, numpy and a log callback of its own: 0.4 s and 35 MiB for nothing.
    """
    if PACKAGE not in sys.modules:
        spec = importlib.util.find_spec(PACKAGE)
        if spec is None:
            raise ImportError(f"no package {PACKAGE}")
        sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"{PACKAGE}.llama_cpp")


def load_llama(log: NativeLog) -> Llama:
    """Load libllama, send its log to ``log``, and start it. Plugins are not loaded yet.

    Raises:
        VrambleError: ``engine-missing`` with the loader's words.
    """
    os.environ["GGML_NO_BACKTRACE"] = "1"
    try:
        api = import_bindings()
        version = importlib.metadata.version("llama-cpp-python")
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise VrambleError(
            "engine-missing",
            "The engine could not be loaded.",
            "Install Vramble again on this computer.",
            f"{type(error).__name__}: {error}",
        ) from error
    callback = api.llama_log_callback(lambda level, text, _data: log.take(level, text))
    api.llama_log_set(callback, ctypes.c_void_p(0))
    library = Path(api.__file__).parent / "lib"
    ggml = Ggml.of_process(library)
    ggml.on_abort(lambda message: log.write(f"E {message}"))
    api.llama_backend_init()
    return Llama(api, ggml, library, version, log, (callback,))
