"""The thread that takes frames while the main thread works, so that a cancel arrives during native calls.

One request at a time: a second one is answered ``busy`` from here. When stdin ends the process ends, also when the
main thread is stuck in native code.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from engine.protocol.codec import Garbage, encode, worker_input
from engine.protocol.frames import Cancel, Failed, Forget, FromWorker, Request
from engine.worker.cancel import CancelFlag

GRACE_SECONDS = 1.0
"""Time for the main thread to end by itself after stdin has ended."""

EXIT_STDIN_ENDED = 0
EXIT_STDOUT_CLOSED = 1

_CHUNK = 1 << 16
_ID = re.compile(rb'^\s*\{"type":"(?:load|unload|generate|list_devices|self_test|dry_run|bench)","id":(\d{1,15})\D')


class FrameWriter:
    """Writes frames to the private copy of stdout, from both threads."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()

    def send(self, frame: FromWorker) -> None:
        """Write one frame. A closed pipe ends the process: nobody is there to answer to."""
        rest = memoryview(encode(frame))
        with self._lock:
            try:
                while rest:
                    rest = rest[os.write(self._fd, rest) :]
            except BrokenPipeError:
                os._exit(EXIT_STDOUT_CLOSED)


class Inbox:
    """Requests for the main thread, and the cancel flag of the one that it works on.

    Args:
        on_end: Called from the reading thread when stdin has ended: the process is about to end, as is wanted.
    """

    def __init__(
        self,
        fd: int,
        send: Callable[[FromWorker], None],
        cancel: CancelFlag,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._fd = fd
        self._send = send
        self._cancel = cancel
        self._on_end = on_end
        self._lock = threading.Lock()
        self._active: int | None = None
        self._queue: SimpleQueue[tuple[Request | Forget, float] | None] = SimpleQueue()
        self._decoder = worker_input()
        self._thread = threading.Thread(target=self._read, name="frames", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    @property
    def waiting(self) -> bool:
        """Something has come that `next` has not given out yet."""
        return not self._queue.empty()

    def next(self, seconds: float | None = None) -> tuple[Request | Forget, float] | None:
        """Wait for a request; it comes with the monotonic time of its arrival. None: stdin has ended.

        Raises:
            queue.Empty: Nothing came in so many ``seconds``.
        """
        return self._queue.get(timeout=seconds)

    def finish(self) -> None:
        """The active request is about to get its terminal frame: the next one may come, late cancels are ignored."""
        with self._lock:
            self._active = None
            self._cancel.clear()

    def _read(self) -> None:
        try:
            while data := os.read(self._fd, _CHUNK):
                self.feed(data)
        except OSError as error:
            print(f"reading stdin failed: {error}", file=sys.stderr, flush=True)
        self._end()

    def feed(self, data: bytes) -> None:
        """Take bytes from stdin. The reading thread calls this."""
        for frame in self._decoder.feed(data):
            self._take(frame)

    def _take(self, frame: Request | Cancel | Forget | Garbage) -> None:
        if isinstance(frame, Garbage):
            self._refuse_garbage(frame)
        elif isinstance(frame, Cancel):
            with self._lock:
                if frame.target == self._active:
                    self._cancel.set()
        elif isinstance(frame, Forget) or self._claim(frame.id):
            self._queue.put((frame, time.monotonic()))
        else:
            self._send(Failed(id=frame.id, code="busy", message="The engine is busy with another request."))

    def _claim(self, request_id: int) -> bool:
        with self._lock:
            if self._active is not None:
                return False
            self._active = request_id
            return True

    def _refuse_garbage(self, garbage: Garbage) -> None:
        print(f"a line on stdin is no frame: {garbage.reason}: {garbage.line!r}", file=sys.stderr, flush=True)
        match = _ID.match(garbage.line)
        if match:
            message = "The request could not be understood."
            self._send(Failed(id=int(match[1]), code="bad-request", message=message, detail=garbage.reason))

    def _end(self) -> None:
        self._cancel.set()
        self._on_end()
        self._queue.put(None)
        time.sleep(GRACE_SECONDS)
        os._exit(EXIT_STDIN_ENDED)
