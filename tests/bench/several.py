"""Decode speed of several conversations at once against a single one, through the worker and its protocol.

Each round writes one answer alone, then several together, in the same worker. The rate together counts the tokens of
all from the moment the last one has begun until the first one ends. Beside the clock stands the processor time of the
worker for each token, which other work on the machine hardly changes. Use, in the checkout:

    .venv/bin/python -m tests.bench.several [--conversations 4] [--tokens 128] [--device Vulkan0] [--rounds 5]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.protocol.frames import TERMINAL_TYPES, Delta, Finished, Generate
from engine.protocol.types import Sampling
from tests.bench.decode_ratio import cpu_seconds
from tests.bench.figures import machine_line, table
from tests.engine.worker.driver import Worker, starter_model, user

QUESTION = "Write a very long story about {} and the sea. Do not stop early."
TOPICS = ("a lighthouse keeper", "a pilot", "a rope maker", "a bell founder", "a clerk", "a diver", "a cook", "a cat")


@dataclass(frozen=True)
class Rate:
    """Tokens a second of all, and processor time for each token in ms."""

    tokens: float
    cpu: float


def run(worker: Worker, count: int, tokens: int) -> Rate:
    """Write ``count`` answers at once."""
    requests = [
        Generate(
            id=worker.new_id(),
            messages=(user(QUESTION.format(topic)),),
            sampling=Sampling(seed=1),
            max_tokens=tokens,
            conversation=topic,
            endless=True,
        )
        for topic in TOPICS[:count]
    ]
    counts = dict.fromkeys([request.id for request in requests], 0)
    begun: tuple[float, int, float] | None = None
    ended: tuple[float, int, float] | None = None
    waiting = set(counts)
    worker.send(*requests)
    while waiting:
        frame = worker.receive()
        now = (time.perf_counter(), 0, cpu_seconds(worker.process.pid))
        if isinstance(frame, Delta):
            counts[frame.id] = frame.tokens
            if begun is None and all(counts.values()):
                begun = (now[0], sum(counts.values()), now[2])
        elif isinstance(frame, TERMINAL_TYPES):
            assert isinstance(frame, Finished), frame
            counts[frame.id] = frame.stats.generated_tokens
            waiting.remove(frame.id)
            ended = ended or (now[0], sum(counts.values()), now[2])
    assert begun is not None
    assert ended is not None
    written = ended[1] - begun[1]
    return Rate(written / (ended[0] - begun[0]), 1000 * (ended[2] - begun[2]) / written)


def medians(rates: Sequence[Rate]) -> Rate:
    """Of each figure."""
    return Rate(statistics.median(one.tokens for one in rates), statistics.median(one.cpu for one in rates))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--device", default="cpu", help="ggml's name, such as Vulkan0")
    parser.add_argument("--conversations", type=int, default=4, choices=range(2, len(TOPICS) + 1))
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    count = options.conversations
    print(machine_line())
    pairs = []
    with tempfile.TemporaryDirectory() as folder, Worker(log=Path(folder) / "log") as worker:
        worker.loaded(
            options.model or starter_model(),
            n_ctx=max(2048, 2 * count * (options.tokens + 64)),
            device=options.device,
            n_threads=options.threads,
            n_parallel=count,
        )
        run(worker, 1, 8)
        pairs = [(run(worker, 1, options.tokens), run(worker, count, options.tokens)) for _ in range(options.rounds)]
    rows: list[tuple[object, ...]] = [("round", "alone tok/s", f"{count} tok/s", "alone CPU ms", f"{count} CPU ms")]
    rows += [(place + 1, one.tokens, all_.tokens, one.cpu, all_.cpu) for place, (one, all_) in enumerate(pairs)]
    print(table(rows))
    alone, together = (medians(column) for column in zip(*pairs, strict=True))
    print(f"{count} at once / alone: {together.tokens / alone.tokens:.2f} of the rate,", end=" ")
    print(f"{alone.cpu / together.cpu:.2f} by processor time")


if __name__ == "__main__":
    main()
