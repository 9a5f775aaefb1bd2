"""One model for a program with an asyncio loop."""

from __future__ import annotations

import asyncio
import os
import weakref
from types import TracebackType
from typing import Self, Unpack

from engine.api.async_host import AsyncHost
from engine.api.async_stream import AsyncRun, AsyncSeat, AsyncStream
from engine.api.keywords import AnswerKeywords, LoadKeywords
from engine.api.loading import OnLoad, plan
from engine.api.request import Answer, Messages
from engine.protocol.caching import CachePolicy
from engine.protocol.types import LoadOptions, ModelInfo, Sampling


class AsyncEngine:
    """As `Engine`, awaited: use it in an ``async with`` block, or await `load` and `close`.

    With ``n_parallel`` so many answers are computed together; what is asked for beyond that waits, in order. A task
    that is cancelled cancels its answer.

    >>> import asyncio
    >>> async def ask():
    ...     async with AsyncEngine(model, device="cpu", n_ctx=512) as engine:
    ...         both = (engine.generate(word, max_tokens=3, temperature=0) for word in ("one", "two"))
    ...         answers = await asyncio.gather(*both)
    ...         return [answer.stats.generated_tokens for answer in answers]
    >>> asyncio.run(ask())
    [3, 3]

    Args and errors: as for `Engine`, but the model is loaded by `load`.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        options: LoadOptions | None = None,
        sampling: Sampling | None = None,
        cache: CachePolicy | None = None,
        on_load: OnLoad | None = None,
        **load: Unpack[LoadKeywords],
    ) -> None:
        self.sampling = sampling or Sampling()
        wanted = plan(model, options, cache, load)
        self._host = AsyncHost(wanted, on_load)
        self._finalizer = weakref.finalize(self, self._host.end, os.getpid())
        self._seat = AsyncSeat(asyncio.Semaphore(wanted.options.n_parallel))

    async def __aenter__(self) -> Self:
        await self.load()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def model(self) -> ModelInfo:
        """What is loaded, and where."""
        return self._host.info()

    @property
    def pid(self) -> int | None:
        """The worker's process id while it runs."""
        return self._host.pid

    async def load(self) -> ModelInfo:
        """Start the worker and load the model; nothing happens when it is loaded.

        Raises:
            VrambleError: The load failed.
        """
        await self._host.worker()
        return self._host.info()

    def stream(self, messages: Messages, **keywords: Unpack[AnswerKeywords]) -> AsyncStream:
        """An answer for ``async for``; it is asked for when iteration begins. Arguments as for `Engine.stream`.

        Leave it by reading to its end, or by ``async with``: until then it keeps its place.
        """
        return AsyncStream(self, AsyncRun(self._host, self._seat, messages, self.sampling, keywords))

    async def generate(self, messages: Messages, **keywords: Unpack[AnswerKeywords]) -> Answer:
        """A whole answer."""
        async with self.stream(messages, **keywords) as stream:
            return await stream.read()

    def cancel(self) -> None:
        """End the answers that run; what has come is kept."""
        for run in self._seat.runs:
            run.cancel()

    async def close(self) -> None:
        """End the worker. An answer that runs fails with the code ``stopped``."""
        await self._host.close()
        self._finalizer.detach()
