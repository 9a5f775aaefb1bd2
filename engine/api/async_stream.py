"""An answer that is being given, for ``async for``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from engine.api.async_host import AsyncHost
from engine.api.keywords import AnswerKeywords
from engine.api.request import Answer, Collector, Messages, generate_request
from engine.client.looped import AsyncWorker
from engine.protocol.frames import Delta
from engine.protocol.types import Sampling


@dataclass
class AsyncSeat:
    """The places for answers that run; the others wait, in order."""

    places: asyncio.Semaphore
    runs: list[AsyncRun] = field(default_factory=list)


@dataclass(eq=False)
class AsyncRun:
    """One answer: what was asked for, what has come, and whether it is still wanted."""

    host: AsyncHost
    seat: AsyncSeat
    messages: Messages
    sampling: Sampling
    keywords: AnswerKeywords
    collector: Collector = field(default_factory=Collector)
    wanted: bool = True
    worker: AsyncWorker | None = None
    id: int = 0

    async def deltas(self) -> AsyncGenerator[Delta, None]:
        """Wait for the seat, ask, and leave in order however that ends."""
        async with self.seat.places:
            if not self.wanted:
                return
            worker = self.worker = await self.host.worker()
            self.id = worker.next_id()
            request = generate_request(self.id, self.messages, self.sampling, self.keywords)
            self.seat.runs.append(self)
            try:
                async for event in worker.request(request):
                    if (delta := self.collector.take(event)) is not None:
                        yield delta
            finally:
                self.seat.runs.remove(self)
                self.worker = None
                await worker.finish(self.id)

    def cancel(self) -> None:
        """Ask for its end."""
        self.wanted = False
        if self.worker is not None:
            self.worker.cancel(self.id)


class AsyncStream:
    """An asynchronous iterator over an answer's text, asked for when iteration begins.

    Leave it by reading to its end, by ``async with`` or `close`: until then it keeps its place in the engine.

    Args:
        owner: What must not end before the answer does.
    """

    def __init__(self, owner: object, run: AsyncRun) -> None:
        self._owner, self._run = owner, run
        self._deltas = run.deltas()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        while not (text := (await anext(self._deltas)).text):
            pass
        return text

    def deltas(self) -> AsyncIterator[Delta]:
        """What comes as records, with thoughts, counts and the present speed."""
        return self._deltas

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._run.collector.text

    @property
    def thinking(self) -> str:
        """The thought so far."""
        return self._run.collector.thinking

    async def read(self) -> Answer:
        """Wait for the end.

        Raises:
            VrambleError: The answer failed, or the worker died.
        """
        async for _ in self._deltas:
            pass
        return self.answer()

    def answer(self) -> Answer:
        """What has come so far, with the figures once it has ended."""
        return self._run.collector.answer()

    def cancel(self) -> None:
        """Ask for its end; iteration stops when it has come."""
        self._run.cancel()

    async def close(self) -> None:
        """Cancel it if it runs, and wait for its end. The next answer can come."""
        await self._deltas.aclose()
