"""The worker for programs without an event loop: its calls wait."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from types import TracebackType
from typing import Self

from engine.client.piped import LOOK_SECONDS, STEP_SECONDS, PipedWorker
from engine.client.pipes import Interrupts
from engine.protocol.frames import TERMINAL_TYPES, FromWorker, Hello, Request


class BlockingWorker(PipedWorker):
    """One worker process. Use it as a context manager, or call `close`.

    ``request`` runs one request at a time and yields its events. The first Ctrl+C during a request cancels it, the
    second raises `KeyboardInterrupt`; `close` then kills without asking first.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(ask=kind is None or not issubclass(kind, KeyboardInterrupt))

    def another(self) -> BlockingWorker:
        """A worker that is started in the same way; a process that has ended is not started again."""
        return BlockingWorker(self._command)

    def start(self) -> Hello:
        """Start the process and wait for its hello.

        Raises:
            VrambleError: It could not be started, died, stayed silent for 30 s or speaks another protocol.
        """
        self._launch()
        while (hello := self._hello()) is None:
            self._advance()
        return hello

    def request(
        self, request: Request, seconds: float | None = None, stopped: Callable[[], bool] | None = None
    ) -> Iterator[FromWorker]:
        """Send ``request`` and yield its events; the last one is its terminal event.

        Args:
            seconds: It is cancelled after so long.
            stopped: Asked several times a second whether to cancel it. With it Ctrl+C is left to the program.

        Raises:
            VrambleError: The worker had died before.
        """
        self._submit(request)
        ends = None if seconds is None else time.monotonic() + seconds
        with Interrupts() if stopped is None else nullcontext() as interrupts:
            while True:
                for event in self._arrived(request.id):
                    yield event
                    if isinstance(event, TERMINAL_TYPES):
                        return
                if interrupts or (stopped is not None and stopped()) or (ends is not None and time.monotonic() >= ends):
                    self.cancel(request.id)
                self._advance()

    def finish(self, id_: int) -> None:
        """Cancel a request whose events nobody takes any more, and wait for its end."""
        self.cancel(id_)
        while self._is_pending(id_) and self._process is not None:
            self._advance()
        self._drop(id_)

    def close(self, ask: bool = True) -> None:
        """End the process: end of input, 1 s, SIGTERM, 1 s, SIGKILL. ``ask`` False: SIGKILL at once."""
        process = self._process
        if process is None:
            self._selector.close()
            return
        self._session.stopping()
        self._close_stdin(process)
        if ask and not self._drain(process, STEP_SECONDS):
            process.terminate()
            self._drain(process, STEP_SECONDS)
        if process.poll() is None:
            process.kill()
        self._reap(process)
        self._selector.close()

    def _drain(self, process: subprocess.Popen[bytes], seconds: float) -> bool:
        """Read on while the process ends, so that it cannot block on a full pipe. True: it has ended."""
        end = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < end:
            self._move(process, LOOK_SECONDS / 5)
        return process.poll() is not None
