"""The state of one sequence as bytes: out of the context, and back into it."""

from __future__ import annotations

import ctypes
from mmap import mmap
from typing import Any, Final

from engine.worker.native import Pointer

MOVING_PART: Final = 1
"""LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY of llama.h: only what moves on with each token (sliding window, recurrence)."""


class SequenceState:
    """Copies the state of a sequence. Its memory comes from `mmap`, so that what is freed goes back to the system."""

    def __init__(self, api: Any, context: Pointer, sequence: int) -> None:
        self._api, self._context, self._sequence = api, context, sequence

    def size(self) -> int:
        """Bytes of the whole state."""
        return int(self._api.llama_state_seq_get_size_ext(self._context, self._sequence, 0))

    def copy(self, *, moving_part: bool = False) -> mmap | None:
        """The state as it is now; None: it could not be read, or there is no memory for it."""
        flags = MOVING_PART if moving_part else 0
        size = int(self._api.llama_state_seq_get_size_ext(self._context, self._sequence, flags))
        if size <= 0:
            return None
        try:
            data = mmap(-1, size)
        except (OSError, ValueError):
            return None
        if not self.copy_into(memoryview(data), moving_part=moving_part):
            return None
        return data

    def copy_into(self, data: memoryview, *, moving_part: bool = False) -> bool:
        """Put the state into ``data``, which is as large as it; false: it could not be read."""
        cells = (ctypes.c_uint8 * len(data)).from_buffer(data)
        flags = MOVING_PART if moving_part else 0
        written = self._api.llama_state_seq_get_data_ext(self._context, cells, len(data), self._sequence, flags)
        return bool(written == len(data))

    def put(self, data: memoryview, *, moving_part: bool = False) -> bool:
        """Put a state in its place. ``data`` has to be writable, though nothing is written. False: it was refused."""
        cells = (ctypes.c_uint8 * len(data)).from_buffer(data)
        flags = MOVING_PART if moving_part else 0
        read = self._api.llama_state_seq_set_data_ext(self._context, cells, len(data), self._sequence, flags)
        return bool(read > 0)
