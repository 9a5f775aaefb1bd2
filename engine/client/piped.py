"""A worker process with pipes and `selectors`: what drivers without Qt share. No threads, and nothing that waits."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from typing import IO

from engine.client.command import WorkerCommand
from engine.client.death import killed_from_outside
from engine.client.logtail import LogTail
from engine.client.memory_trouble import MemoryState, read_memory_state, trouble_between
from engine.client.pipes import CHUNK, fd_of, read_ready
from engine.client.session import Session
from engine.errors import VrambleError
from engine.protocol.frames import Delta, Hello, Progress, Request, Terminal

LOOK_SECONDS = 0.1
"""How often time limits and Ctrl+C are looked at."""

STEP_SECONDS = 1.0
"""Time for each step of the end: end of input, SIGTERM, SIGKILL."""


class PipedWorker:
    """One worker process; a driver adds how it waits. Such a class calls `_launch`, then `_advance` again and again."""

    def __init__(self, command: WorkerCommand) -> None:
        self._command = command
        self._session = Session()
        self._log = LogTail()
        self._process: subprocess.Popen[bytes] | None = None
        self._selector = selectors.DefaultSelector()
        self._unsent = bytearray()
        self._events: deque[Progress | Delta | Terminal] = deque()
        self._ids = 0
        self._failure: VrambleError | None = None
        self._memory: MemoryState | None = None

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return self._process.pid if self._process is not None else None

    @property
    def log_tail(self) -> str:
        """The last lines of the worker's log."""
        return self._log.text()

    def next_id(self) -> int:
        """A request id that was not used yet."""
        self._ids += 1
        return self._ids

    def cancel(self, id_: int) -> None:
        """Ask the worker to end the request; its terminal event still comes."""
        self._send(self._session.cancel(id_))

    def forget(self, conversation: str) -> None:
        """Have the worker keep nothing of this conversation."""
        self._send(self._session.forget((conversation,)))

    def _launch(self) -> None:
        """Start the process; its hello is due.

        Raises:
            VrambleError: It could not be started.
        """
        self._session.started()
        self._memory = read_memory_state()
        try:
            process = subprocess.Popen(
                self._command.arguments,
                env=self._command.environment,
                bufsize=0,
                process_group=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            self._bury(None, None, str(error))
            raise self._error() from error
        self._process = process
        for pipe in (process.stdout, process.stderr):
            os.set_blocking(fd_of(pipe), False)
            self._selector.register(fd_of(pipe), selectors.EVENT_READ)
        os.set_blocking(fd_of(process.stdin), False)

    def _hello(self) -> Hello | None:
        """The worker's hello, once it has come.

        Raises:
            VrambleError: It died, or was ended, before it said one.
        """
        if self._session.hello is None and self._process is None:
            raise self._error()
        return self._session.hello

    def _submit(self, request: Request) -> None:
        """Send a request.

        Raises:
            VrambleError: The worker had died before.
        """
        if self._process is None:
            raise self._error()
        self._send(self._session.submit(request))

    def _arrived(self, id_: int) -> Iterator[Progress | Delta | Terminal]:
        """The events of a request that are there, as they are taken; those of others stay."""
        while (event := next((one for one in self._events if one.id == id_), None)) is not None:
            self._events.remove(event)
            yield event

    def _drop(self, id_: int) -> None:
        """Nobody takes the events of this request any more."""
        self._events = deque(event for event in self._events if event.id != id_)

    def _is_pending(self, id_: int) -> bool:
        return id_ in self._session.pending

    def _error(self) -> VrambleError:
        return self._failure or VrambleError("worker-ended", "The engine is not running.", "Start it again.")

    def _send(self, data: bytes) -> None:
        process = self._process
        if not data or process is None or process.stdin is None or process.stdin.closed:
            return
        if not self._unsent:
            self._selector.register(fd_of(process.stdin), selectors.EVENT_WRITE)
        self._unsent += data

    def _advance(self, seconds: float = LOOK_SECONDS) -> None:
        """Wait up to ``seconds`` for the pipes, move their bytes, look at the clock."""
        process = self._process
        if process is None:
            return
        self._move(process, seconds)
        if process.poll() is not None:
            self._reap(process)
        elif self._session.overdue(time.monotonic()):
            process.kill()

    def _move(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        """Move the bytes that are ready, after ``seconds`` at most."""
        for key, _ in self._selector.select(seconds):
            if key.events & selectors.EVENT_WRITE:
                self._write(process)
                continue
            data = read_ready(key.fd)
            if data is None:
                continue
            is_frames = key.fd == fd_of(process.stdout)
            if not data:
                self._selector.unregister(key.fd)
                if is_frames:
                    self._session.channel_closed()
            elif is_frames:
                self._take(data)
            else:
                self._log.feed(data)

    def _take(self, data: bytes) -> None:
        """Keep the events that ``data`` completes; the hello is the session's to keep."""
        self._events += (event for event in self._session.receive(data) if not isinstance(event, Hello))

    def _write(self, process: subprocess.Popen[bytes]) -> None:
        fd = fd_of(process.stdin)
        try:
            sent = os.write(fd, self._unsent[:CHUNK])
        except BlockingIOError:
            return
        except OSError:
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._selector.unregister(fd)

    def _close_stdin(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None and not process.stdin.closed:
            if self._unsent:
                self._selector.unregister(process.stdin)
                self._unsent.clear()
            process.stdin.close()

    def _reap(self, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        self._close_stdin(process)
        for pipe in (process.stdout, process.stderr):
            self._read_rest(pipe, is_frames=pipe is process.stdout)
        self._process = None
        self._bury(code if code >= 0 else None, -code if code < 0 else None, self._log.text())

    def _read_rest(self, pipe: IO[bytes] | None, is_frames: bool) -> None:
        """What is left in the pipe. A grandchild may hold it open, so the end of the file is not waited for."""
        fd = fd_of(pipe)
        while data := read_ready(fd):
            if is_frames:
                self._take(data)
            else:
                self._log.feed(data)
        if fd in self._selector.get_map():
            self._selector.unregister(fd)
        if pipe is not None:
            pipe.close()

    def _bury(self, exit_code: int | None, number: int | None, log: str) -> None:
        killed = self._session.verdict is None and killed_from_outside(exit_code, number)
        trouble = trouble_between(self._memory, read_memory_state()) if killed else None
        death, failures = self._session.ended(exit_code, number, log, trouble)
        self._events += failures
        if death is not None:
            self._failure = VrambleError(death.code, death.sentence, death.next_step, death.log_tail)
