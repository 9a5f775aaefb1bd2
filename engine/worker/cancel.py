"""Flags that ask work to end; one of them is readable from native code."""

from __future__ import annotations

import ctypes


class Stop:
    """Asks somebody to end. A plain attribute: it is looked at for each token."""

    def __init__(self) -> None:
        self.is_set = False


class CancelFlag(Stop):
    """A flag that Python sets from any thread and that llama.cpp polls without entering Python.

    llama.cpp calls its abort callback for each node of the compute graph, about a thousand times a token. A Python
    callback there costs more than a tenth of the speed of a small model. So the callback is the C library's
    ``strlen`` on a two-byte buffer: the length of "" is 0 (go on), the length of one byte is 1 (abort).
    """

    def __init__(self) -> None:
        super().__init__()
        self._buffer = ctypes.create_string_buffer(2)
        strlen = ctypes.CDLL(None).strlen
        self.callback_address = ctypes.cast(strlen, ctypes.c_void_p).value or 0
        self.data_address = ctypes.addressof(self._buffer)

    def set(self) -> None:
        """Ask the running work to end."""
        self.is_set = True
        self._buffer[0] = b"\x01"

    def clear(self) -> None:
        """Be ready for the next request."""
        self.is_set = False
        self._buffer[0] = b"\x00"
