"""The child's end of the pipes to its parent."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from engine.downloads.messages import MAX_LINE, Command, Event, decode_command, encode


class Channel:
    """Reads one request and then commands from stdin, and writes events to a private copy of stdout."""

    def __init__(self) -> None:
        """From here on the real stdout goes to stderr, so that stray prints are log."""
        self._in = 0
        self._out = os.dup(1)
        os.set_inheritable(self._out, False)
        os.dup2(2, 1)
        self._data = bytearray()
        self._sending = threading.Lock()

    def read_line(self) -> bytes:
        """The next line, with its end; empty when the parent is gone."""
        while b"\n" not in self._data and len(self._data) < MAX_LINE:
            block = os.read(self._in, 65536)
            if not block:
                return b""
            self._data += block
        line, _, self._data = self._data.partition(b"\n")
        return bytes(line) + b"\n"

    def follow(self, command: Callable[[Command], None]) -> None:
        """From now on a thread hands each command to ``command``, and the end of stdin ends this process at once.

        That works in the middle of a name look-up or a read that hangs: those let other threads run. No clean-up is
        needed, because what is on disk is right at each moment.
        """
        threading.Thread(target=self._follow, args=(command,), name="commands", daemon=True).start()

    def _follow(self, command: Callable[[Command], None]) -> None:
        try:
            while line := self.read_line():
                wanted = decode_command(line)
                if wanted is not None:
                    command(wanted)
        except OSError:
            pass
        os._exit(0)

    def send(self, event: Event) -> None:
        """Write ``event``; a parent that is gone ends this process."""
        view = memoryview(encode(event))
        try:
            with self._sending:
                while view:
                    view = view[os.write(self._out, view) :]
        except BrokenPipeError:
            os._exit(0)
