"""The worker of an `AsyncEngine`."""

from __future__ import annotations

import asyncio
import os

from engine.api.loading import OnLoad, Plan, closed, loaded_of
from engine.client.looped import AsyncWorker
from engine.protocol.types import ModelInfo


class AsyncHost:
    """Holds the worker, and starts another one when it has died. Does not hold the engine, which may be forgotten."""

    def __init__(self, plan: Plan, on_load: OnLoad | None) -> None:
        self._plan, self._on_load = plan, on_load
        self._worker: AsyncWorker | None = None
        self._info: ModelInfo | None = None
        self._closed = False
        self._starting = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return None if self._worker is None else self._worker.pid

    def info(self) -> ModelInfo:
        """What is loaded."""
        if self._info is None:
            raise closed()
        return self._info

    async def worker(self) -> AsyncWorker:
        """A worker with the model; who comes while it is loaded waits."""
        async with self._starting:
            if self._closed:
                raise closed()
            if self._worker is None or self._worker.pid is None:
                self._worker = await self._started()
            return self._worker

    async def _started(self) -> AsyncWorker:
        worker = AsyncWorker(self._plan.command)
        try:
            await worker.start()
            async for event in worker.request(self._plan.request(worker.next_id())):
                if (loaded := loaded_of(event, self._on_load)) is not None:
                    self._info = loaded.model
        except BaseException:
            worker.kill()
            raise
        return worker

    async def close(self) -> None:
        """End the worker for good."""
        self._closed = True
        if self._worker is not None:
            await self._worker.close()

    def end(self, owner: int) -> None:
        """End the worker, in the process that started it: a fork has only copies of the pipes."""
        self._closed = True
        if self._worker is not None and os.getpid() == owner:
            self._worker.kill()
