"""Which single block of memory was refused, out of llama.cpp's log, and what makes it smaller."""

from __future__ import annotations

import re
from typing import Final

from engine.errors import VrambleError
from engine.memory.sizes import gib_number

_SHORT_OF_MEMORY: Final = re.compile(
    r"unable to allocate|failed to allocate|out of memory|OutOf(?:Device|Host)Memory|alloc.*failed", re.IGNORECASE
)
_BLOCK: Final = re.compile(r"(?:allocat\w*|buffer)\b[^\n]{0,40}?\bof size (\d{4,})\b(?!\.)", re.IGNORECASE)
"""``Device memory allocation of size 4831838208 failed``, ``failed to allocate Vulkan0 buffer of size 4831838208``."""

_ON_GPU: Final = re.compile(
    r"OutOfDeviceMemory|Device memory allocation|(?:unable|failed) to allocate (?!CPU)(?!buffer\b)\w+ buffer",
    re.IGNORECASE,
)
_COMPUTING: Final = re.compile(r"compute (?:pp |tg )?buffers|graph_reserve|gallocr", re.IGNORECASE)

FOR_WEIGHTS: Final = (
    "Choose a smaller model, fewer GPU layers (n_gpu_layers) or a shorter context (n_ctx), or close other programs."
)
FOR_KV_CACHE: Final = (
    "Choose a shorter context (n_ctx), a KV cache in q8_0 (kv_type_k and kv_type_v) or fewer GPU layers (n_gpu_layers)."
)
FOR_COMPUTING: Final = "Choose a smaller micro-batch (n_ubatch) or a shorter context (n_ctx)."


def load_memory_failure(file: str, log: str) -> VrambleError | None:
    """The error when memory was short for the weights of ``file``; None: that was not it."""
    if not _SHORT_OF_MEMORY.search(log):
        return None
    message = f"There is not enough memory to load {file}{refused_block(log)}."
    return VrambleError("out-of-memory", message, FOR_WEIGHTS, log)


def context_memory_failure(n_ctx: int, log: str) -> VrambleError | None:
    """The error when memory was short for KV cache or computing; None: that was not it."""
    if not _SHORT_OF_MEMORY.search(log):
        return None
    message = f"There is not enough memory for a context of {n_ctx} tokens{refused_block(log)}."
    return VrambleError("context-memory", message, FOR_COMPUTING if _COMPUTING.search(log) else FOR_KV_CACHE, log)


def refused_block(log: str) -> str:
    """``: the graphics driver refused one block of 4.5 GiB``, or empty where the log gives no size.

    The last one counts: llama.cpp tries again with less. Free memory says little here: drivers limit a single block.
    """
    sizes = _BLOCK.findall(log)
    if not sizes:
        return ""
    who = "the graphics driver" if _ON_GPU.search(log) else "the system"
    return f": {who} refused one block of {gib_number(int(sizes[-1]))} GiB"
