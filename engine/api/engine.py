"""One model for a program, answer after answer."""

from __future__ import annotations

import os
import weakref
from types import TracebackType
from typing import Self, Unpack

from engine.api.keywords import AnswerKeywords, LoadKeywords
from engine.api.loading import OnLoad, Plan, busy, closed, loaded_of, plan
from engine.api.request import Answer, Messages, generate_request
from engine.api.stream import Run, Seat, Stream
from engine.client.blocking import BlockingWorker
from engine.protocol.caching import CachePolicy
from engine.protocol.types import LoadOptions, ModelInfo, Sampling


class Engine:
    """A model in a worker process. Use it in a ``with`` block, or call `close`.

    The worker ends with the engine: when it is closed, forgotten, or the interpreter ends, however that happens. When
    the worker dies, the answer that ran fails with the reason, and the next one starts another worker. Not for
    several threads at once; the thread that makes an engine has to outlive it.

    >>> with Engine(model, device="cpu", n_ctx=512) as engine:
    ...     answer = engine.generate("Hello", temperature=0, max_tokens=4)
    >>> answer.stats.generated_tokens
    4

    Args:
        model: A GGUF file, the name of an installed model, ``hf:owner/repo/file.gguf`` (downloaded before), or
            ``"starter"``.
        options: How it is loaded; single fields can be given by keyword.
        sampling: How tokens are chosen where a call does not say otherwise.
        cache: Budgets for the KV caches of conversations with a name.
        on_load: Hears how much of the model is loaded, 0 to 1.

    Raises:
        VrambleError: There is no such model, an option cannot be meant, or the load failed.
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
        self._host = _Host(plan(model, options, cache, load), on_load)
        self._finalizer = weakref.finalize(self, self._host.end, os.getpid())
        self._seat = Seat()
        self._host.worker()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def model(self) -> ModelInfo:
        """What is loaded, and where."""
        return self._host.info()

    @property
    def pid(self) -> int | None:
        """The worker's process id while it runs."""
        return self._host.pid

    def stream(self, messages: Messages, **keywords: Unpack[AnswerKeywords]) -> Stream:
        """Begin an answer; iterate over what comes for its text.

        Args:
            messages: A question, or a conversation that ends with one.
            keywords: Fields of `Sampling` and of `Generate`; those of `Sampling` replace the engine's own.

        Raises:
            VrambleError: ``busy`` while another answer runs, ``bad-argument``, and how the last worker could not be
                started again.
        """
        if self._seat.run is not None:
            raise busy()
        worker = self._host.worker()
        request = generate_request(worker.next_id(), messages, self.sampling, keywords)
        return Stream(self, Run(worker, request, self._seat))

    def generate(self, messages: Messages, **keywords: Unpack[AnswerKeywords]) -> Answer:
        """A whole answer. Arguments and errors as for `stream`; Ctrl+C cancels it and raises `KeyboardInterrupt`."""
        with self.stream(messages, **keywords) as stream:
            return stream.read()

    def forget(self, conversation: str) -> None:
        """Keep nothing of the KV cache of a conversation that answers were asked for by name."""
        self._host.worker().forget(conversation)

    def cancel(self) -> None:
        """End the answer that runs; what has come is kept. May be called from other threads and signal handlers."""
        run = self._seat.run
        if run is not None:
            run.wanted = False

    def close(self) -> None:
        """End the worker. An answer that runs fails with the code ``stopped``."""
        self._finalizer()


class _Host:
    """Holds the worker, and starts another one when it has died. Does not hold the engine, which may be forgotten."""

    def __init__(self, plan: Plan, on_load: OnLoad | None) -> None:
        self._plan, self._on_load = plan, on_load
        self._worker: BlockingWorker | None = None
        self._info: ModelInfo | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        return None if self._worker is None else self._worker.pid

    def info(self) -> ModelInfo:
        if self._info is None:
            raise closed()
        return self._info

    def worker(self) -> BlockingWorker:
        """A worker with the model."""
        if self._closed:
            raise closed()
        if self._worker is not None and self._worker.pid is not None:
            return self._worker
        worker = BlockingWorker(self._plan.command)
        try:
            worker.start()
            for event in worker.request(self._plan.request(worker.next_id()), stopped=lambda: False):
                if (loaded := loaded_of(event, self._on_load)) is not None:
                    self._info = loaded.model
        except BaseException:
            worker.close(ask=False)
            raise
        self._worker = worker
        return worker

    def end(self, owner: int) -> None:
        """End the worker, in the process that started it: a fork has only copies of the pipes."""
        self._closed = True
        if self._worker is not None and os.getpid() == owner:
            self._worker.close()
