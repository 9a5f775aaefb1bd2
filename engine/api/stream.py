"""An answer that is being given. What runs does not hold the `Stream`: a stream that is dropped ends its answer."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from engine.api.loading import busy
from engine.api.request import Answer, Collector
from engine.client.blocking import BlockingWorker
from engine.protocol.frames import Delta, Generate


@dataclass
class Seat:
    """The one place for an answer that runs."""

    run: Run | None = None


@dataclass
class Run:
    """One answer: its request, what has come, and whether it is still wanted."""

    worker: BlockingWorker
    request: Generate
    seat: Seat
    collector: Collector = field(default_factory=Collector)
    wanted: bool = True

    def deltas(self) -> Generator[Delta, None, None]:
        """Ask for it when iteration begins, and leave it in order however that ends."""
        if self.seat.run is not None:
            raise busy()
        self.seat.run = self
        try:
            for event in self.worker.request(self.request, stopped=lambda: not self.wanted):
                if (delta := self.collector.take(event)) is not None:
                    yield delta
        finally:
            try:
                self.worker.finish(self.request.id)
            finally:
                self.seat.run = None


class Stream:
    """An iterator over an answer's text. Leave it by reading to its end, `close`, ``with``, or by dropping it.

    The answer is asked for when iteration begins.

    >>> from engine.api import Engine
    >>> with Engine(model, device="cpu", n_ctx=512) as engine, engine.stream("Hi", max_tokens=4, seed=1) as stream:
    ...     pieces = list(stream)
    >>> "".join(pieces) == stream.text
    True

    Args:
        owner: What must not end before the answer does.
    """

    def __init__(self, owner: object, run: Run) -> None:
        self._owner, self._run = owner, run
        self._deltas = run.deltas()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while not (text := next(self._deltas).text):
            pass
        return text

    def deltas(self) -> Iterator[Delta]:
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

    def read(self) -> Answer:
        """Wait for the end.

        Raises:
            VrambleError: The answer failed, or the worker died.
        """
        for _ in self._deltas:
            pass
        return self.answer()

    def answer(self) -> Answer:
        """What has come so far, with the figures once it has ended."""
        return self._run.collector.answer()

    def cancel(self) -> None:
        """Ask for its end, within a tenth of a second; iteration stops when it has come. From any thread."""
        self._run.wanted = False

    def close(self) -> None:
        """Cancel it if it runs, and wait for its end. The engine can answer again."""
        self._deltas.close()
