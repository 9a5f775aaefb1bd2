"""The child's end of the pipes to its parent."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal

from engine.downloads.messages import MAX_LINE, Event, encode


class Channel:
    """Reads one request from stdin and writes events to a private copy of stdout."""

    def __init__(self) -> None:
        """From here on the real stdout goes to stderr, so that stray prints are log."""
        self._in = 0
        self._out = os.dup(1)
        os.set_inheritable(self._out, False)
        os.dup2(2, 1)

    def read_line(self) -> bytes:
        """The request's line; empty when the parent is gone."""
        data = bytearray()
        while b"\n" not in data and len(data) < MAX_LINE:
            block = os.read(self._in, 65536)
            if not block:
                return b""
            data += block
        return bytes(data)

    def end_with_parent(self) -> None:
        """From now on the end of stdin ends this process at once.

        The kernel sends SIGIO when the other end of the pipe closes, and SIGIO ends a process that
        does not handle it: that works in the middle of a name look-up or a read that hangs. No
        clean-up is needed, because what is on disk is right at each moment.
        """
        with contextlib.suppress(OSError, ValueError):
            signal.signal(signal.SIGIO, signal.SIG_DFL)
            fcntl.fcntl(self._in, fcntl.F_SETOWN, os.getpid())
            flags = fcntl.fcntl(self._in, fcntl.F_GETFL)
            fcntl.fcntl(self._in, fcntl.F_SETFL, flags | os.O_ASYNC)
        ready, _, _ = select.select([self._in], [], [], 0)
        if ready and not os.read(self._in, 1):
            os._exit(0)

    def send(self, event: Event) -> None:
        """Write ``event``; a parent that is gone ends this process."""
        view = memoryview(encode(event))
        try:
            while view:
                view = view[os.write(self._out, view) :]
        except BrokenPipeError:
            os._exit(0)
