"""The thread that takes frames while the main thread works, so that a cancel arrives during native calls.

One request at a time, but as many answers as the model was loaded for: what is too much is answered ``busy`` from
here. When stdin ends the process ends, also when the main thread is stuck in native code.
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
from engine.protocol.frames import Cancel, Failed, Forget, FromWorker, Generate, Request
from engine.worker.cancel import CancelFlag, Stop

GRACE_SECONDS = 1.0
"""Time for the main thread to end by itself after stdin has ended."""

EXIT_STDIN_ENDED = 0
EXIT_STDOUT_CLOSED = 1

_CHUNK = 1 << 16
_ID = re.compile(
    rb'^\s*\{"type":"(?:load|unload|generate|list_devices|self_test|dry_run|bench|save_caches)","id":(\d{1,15})\D'
)


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
    """Requests for the main thread, and the cancel flags of those that it works on.

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
        self._active: dict[int, Stop] = {}
        self._together = False
        self._alone: int | None = None
        self.limit = 1
        """Answers that may be written at the same time."""

        self.pause = Stop()
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
        item = self._queue.get(timeout=seconds)
        if item is None:
            self._queue.put(None)
        return item

    def ticket(self, request_id: int) -> Stop:
        """Set when the request is cancelled."""
        with self._lock:
            return self._active.get(request_id) or Stop()

    def run_alone(self, request_id: int | None) -> None:
        """Native code works for this request only, so that it may be aborted; None: not any more."""
        with self._lock:
            self._alone = request_id
            if request_id is None:
                self._cancel.clear()

    def finish(self, request_id: int | None = None) -> None:
        """A request is about to get its terminal frame (None: the one that runs): late cancels are ignored."""
        with self._lock:
            if request_id is None:
                self._active.clear()
            else:
                self._active.pop(request_id, None)
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
            self._cancel_request(frame.target)
        elif isinstance(frame, Forget) or self._claim(frame):
            self._queue.put((frame, time.monotonic()))
        else:
            self._send(Failed(id=frame.id, code="busy", message="The engine is busy with another request."))

    def _cancel_request(self, target: int) -> None:
        with self._lock:
            if target not in self._active:
                return
            self._active[target].is_set = True
            self.pause.is_set = True
            if self._alone == target or len(self._active) == 1:
                self._cancel.set()

    def _claim(self, frame: Request) -> bool:
        together = isinstance(frame, Generate)
        with self._lock:
            if self._active and not (together and self._together and len(self._active) < self.limit):
                return False
            self._together = together
            self._active[frame.id] = Stop()
            self.pause.is_set = True
            return True

    def _refuse_garbage(self, garbage: Garbage) -> None:
        print(f"a line on stdin is no frame: {garbage.reason}: {garbage.line!r}", file=sys.stderr, flush=True)
        match = _ID.match(garbage.line)
        if match:
            message = "The request could not be understood."
            self._send(Failed(id=int(match[1]), code="bad-request", message=message, detail=garbage.reason))

    def _end(self) -> None:
        self._cancel.set()
        self.pause.is_set = True
        with self._lock:
            for ticket in self._active.values():
                ticket.is_set = True
        self._on_end()
        self._queue.put(None)
        time.sleep(GRACE_SECONDS)
        os._exit(EXIT_STDIN_ENDED)
