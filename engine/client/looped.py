"""The worker for programs with an asyncio loop: its calls are awaited, and nothing blocks the loop for long."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator

from engine.client.command import WorkerCommand
from engine.client.piped import LOOK_SECONDS, STEP_SECONDS, PipedWorker
from engine.protocol.frames import TERMINAL_TYPES, FromWorker, Hello, Request


class AsyncWorker(PipedWorker):
    """One worker process. End it with `close`.

    Several answers may run at once, if the model was loaded for that. The selector of the pipes becomes readable when
    one of them is ready, and the loop watches that.
    """

    def __init__(self, command: WorkerCommand) -> None:
        super().__init__(command)
        self._waiting: set[asyncio.Future[None]] = set()
        self._moving = False
        self._watched: tuple[asyncio.AbstractEventLoop, int] | None = None

    async def start(self) -> Hello:
        """Start the process and wait for its hello.

        Raises:
            VrambleError: It could not be started, died, stayed silent for 30 s or speaks another protocol.
        """
        self._launch()
        while (hello := self._hello()) is None:
            await self._step()
        return hello

    async def request(self, request: Request) -> AsyncIterator[FromWorker]:
        """Send ``request`` and yield its events; the last one is its terminal event.

        Raises:
            VrambleError: The worker had died before.
        """
        self._submit(request)
        while True:
            for event in self._arrived(request.id):
                yield event
                if isinstance(event, TERMINAL_TYPES):
                    return
            await self._step()

    async def finish(self, id_: int) -> None:
        """Cancel a request whose events nobody takes any more, and wait for its end."""
        self.cancel(id_)
        while self._is_pending(id_) and self._process is not None:
            await self._step()
        self._drop(id_)

    async def close(self) -> None:
        """End the process: end of input, 1 s, SIGTERM, 1 s, SIGKILL."""
        process = self._process
        if process is not None:
            self._session.stopping()
            self._close_stdin(process)
            if not await self._drain(process):
                process.terminate()
                await self._drain(process)
        self.kill()

    def kill(self) -> None:
        """End the process at once, without a loop."""
        self._unwatch()
        process = self._process
        if process is not None:
            self._session.stopping()
            process.kill()
            self._reap(process)
        self._selector.close()

    async def _step(self) -> None:
        """Until something may have changed. One of those who wait moves the bytes for all."""
        if self._moving:
            await self._news()
            return
        self._moving = True
        try:
            await self._ready(LOOK_SECONDS)
            self._advance(0)
        finally:
            self._moving = False
            for news in self._waiting:
                if not news.done() and not news.get_loop().is_closed():
                    news.set_result(None)

    async def _news(self) -> None:
        news = asyncio.get_running_loop().create_future()
        self._waiting.add(news)
        try:
            await news
        finally:
            self._waiting.discard(news)

    async def _ready(self, seconds: float) -> None:
        """Until a pipe is ready, ``seconds`` at most."""
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        self._watched = loop, self._selector.fileno()
        timer = loop.call_later(seconds, ready.set)
        loop.add_reader(self._selector.fileno(), ready.set)
        try:
            await ready.wait()
        finally:
            self._unwatch()
            timer.cancel()

    def _unwatch(self) -> None:
        """Before the selector is closed: its number may be another file's afterwards."""
        watched, self._watched = self._watched, None
        if watched is not None and not watched[0].is_closed():
            watched[0].remove_reader(watched[1])

    async def _drain(self, process: subprocess.Popen[bytes]) -> bool:
        """Read on while the process ends, so that it cannot block on a full pipe. True: it has ended."""
        loop = asyncio.get_running_loop()
        end = loop.time() + STEP_SECONDS
        while process.poll() is None and loop.time() < end:
            await asyncio.sleep(LOOK_SECONDS / 10)
            self._move(process, 0)
        return process.poll() is not None
