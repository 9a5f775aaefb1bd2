"""The image encoder of a model (mmproj file), loaded by libmtmd beside it: its memory, and its end."""

from __future__ import annotations

import ctypes
import importlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import VrambleError
from engine.library.gguf import HeaderProblem
from engine.memory.fit.image import Encoder, read_encoder
from engine.protocol.types import FlashAttention, MemoryUse
from engine.worker.cancel import CancelFlag
from engine.worker.log import NativeLog
from engine.worker.native import PACKAGE, Llama, Pointer
from engine.worker.plan import Plan
from engine.worker.threads import physical_cores

OTHER_ENCODER = "Choose the image encoder that was published with this model, or load the model without one."
NO_ROOM = "Load the model without its image encoder, or with fewer layers on the GPU."

CPU = "CPU"
_FLASH = {FlashAttention.AUTO: -1, FlashAttention.ON: 1, FlashAttention.OFF: 0}
_WIDTHS = re.compile(r"mismatch between text model \(n_embd = (\d+)\) and mmproj \(n_embd = (\d+)\)")
_NO_MEMORY = re.compile(r"failed to allocate|OutOfDeviceMemory|out of memory", re.IGNORECASE)


class ImageEncoder:
    """A loaded encoder.

    Attributes:
        memory: What it holds on each device; only ``image`` is filled.
    """

    def __init__(self, api: Any, handle: Pointer, memory: tuple[MemoryUse, ...]) -> None:
        self._api, self._handle = api, handle
        self.memory = memory

    def close(self) -> None:
        """Free it; before its model is."""
        handle, self._handle = self._handle, None
        if handle:
            self._api.mtmd_free(handle)


class ImageEncoders:
    """Loads encoders. libmtmd itself is loaded with the first one.

    Kept as long as the process lives: native code holds the address of the log callback.
    """

    def __init__(self, llama: Llama, cancel: CancelFlag) -> None:
        self._llama, self._cancel = llama, cancel
        self._api: Any = None
        self._callback: object = None
        self._log = NativeLog()

    def load(self, plan: Plan, model: Pointer) -> ImageEncoder | None:
        """The encoder that the options of ``plan`` name, for ``model``, on its main device; None when they name none.

        Raises:
            VrambleError: ``missing-encoder``, ``not-an-encoder``, ``encoder-mismatch``, ``encoder-memory``,
                ``encoder-failed``, ``cancelled`` and ``engine-missing``.
        """
        if plan.options.mmproj is None:
            return None
        path = Path(plan.options.mmproj)
        encoder = checked(path)
        api = self._bindings()
        self._log.begin_load()
        report = api.mtmd_progress_callback(lambda _done, _data: not self._cancel.is_set)
        handle = api.mtmd_init_from_file(os.fsencode(path), model, self._params(api, plan, report))
        if not handle:
            if self._cancel.is_set:
                raise VrambleError("cancelled", "Loading was cancelled.")
            raise failure(path, self._log.tail())
        return ImageEncoder(api, handle, self._memory(plan, encoder))

    def _params(self, api: Any, plan: Plan, report: object) -> Any:
        params = api.mtmd_context_params_default()
        params.use_gpu = bool(plan.handles)
        params.device = plan.handles[0] if plan.handles else None
        params.print_timings = False
        params.n_threads = plan.options.n_threads if plan.options.n_threads > 0 else physical_cores()
        params.flash_attn_type = _FLASH[plan.options.flash_attention]
        params.warmup = True
        params.progress_callback = report
        return params

    def _memory(self, plan: Plan, encoder: Encoder) -> tuple[MemoryUse, ...]:
        """Weights by the file, the buffers by libmtmd's own report."""
        home = plan.placement.main.id if plan.handles else CPU
        sizes = {home: encoder.weights}
        for (device, _), size in self._log.report.buffers.items():
            sizes[device] = sizes.get(device, 0) + size
        return tuple(MemoryUse(device=device, image=size) for device, size in sizes.items())

    def _bindings(self) -> Any:
        if self._api is None:
            try:
                api = importlib.import_module(f"{PACKAGE}.mtmd_cpp")
            except (ImportError, OSError, RuntimeError, AttributeError) as error:
                message = "The engine has no library for image encoders."
                raise VrambleError("engine-missing", message, "Load the model without one.", str(error)) from error
            self._callback = self._llama.api.llama_log_callback(lambda level, text, _data: self._log.take(level, text))
            api.mtmd_log_set(self._callback, ctypes.c_void_p(0))
            self._api = api
        return self._api


def with_images(memory: Sequence[MemoryUse], images: Sequence[MemoryUse]) -> tuple[MemoryUse, ...]:
    """``memory`` of a model with that of its image encoder, device by device."""
    more = {use.device: use.image for use in images}
    known = [msgspec.structs.replace(use, image=more.pop(use.device, 0)) for use in memory]
    return (*known, *(MemoryUse(device=device, image=size) for device, size in more.items()))


def checked(path: Path) -> Encoder:
    """What the header of an encoder says.

    Raises:
        VrambleError: ``missing-encoder`` or ``not-an-encoder``.
    """
    if not path.exists():
        message = f"The image encoder {path.name} does not exist."
        raise VrambleError("missing-encoder", message, OTHER_ENCODER, str(path))
    found = read_encoder(path)
    if isinstance(found, HeaderProblem):
        raise VrambleError("not-an-encoder", f"{path.name}: {found.message}", OTHER_ENCODER, str(path))
    if found is None:
        raise VrambleError("not-an-encoder", f"{path.name} is no image encoder.", OTHER_ENCODER, str(path))
    return found


def failure(path: Path, log: str) -> VrambleError:
    """Why libmtmd gave no encoder, out of its log."""
    if match := _WIDTHS.search(log):
        message = (
            f"{path.name} does not belong to this model: it was made for one of width {match[2]}, and this one has"
            f" {match[1]}."
        )
        return VrambleError("encoder-mismatch", message, OTHER_ENCODER, log)
    if _NO_MEMORY.search(log):
        message = f"There is not enough memory for the image encoder {path.name}."
        return VrambleError("encoder-memory", message, NO_ROOM, log)
    message = f"The engine could not load the image encoder {path.name}."
    return VrambleError("encoder-failed", message, OTHER_ENCODER, log)
