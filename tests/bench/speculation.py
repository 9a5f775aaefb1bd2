"""Answers with and without guesses: speed, processor time for each token, how many guesses were right.

One answer that repeats what was given (a text copied) and one that does not (a story), greedy and drawn. The texts of
all ways are compared. Use, in the checkout:

    .venv/bin/python -m tests.bench.speculation [--model FILE] [--draft FILE] [--device Vulkan0] [--tokens 160]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.client.command import worker_environment
from engine.protocol.types import Sampling
from tests.bench.decode_ratio import cpu_seconds
from tests.bench.figures import machine_line, table
from tests.engine.worker.driver import Worker, starter_model, user

KEEPER = (
    "The keeper of the lighthouse rowed out at dawn with his two nets and a lantern. He counted eleven gulls and one"
    " grey seal, and wrote it down in the book that his father had begun. "
)
QUESTIONS = {
    "copy": "Repeat this text word by word, twice:\n" + 3 * KEEPER,
    "story": "Write a long story about a lighthouse keeper and the sea.",
}
TEMPERATURES = (0.0, 0.7)


Row = tuple[object, ...]
Texts = dict[tuple[str, float], str]
HEADINGS: Row = ("answer", "guesses", "tokens", "tok/s", "CPU ms/token", "guessed", "accepted", "same text")


def answers(worker: Worker, way: str, tokens: int, texts: Texts) -> Iterator[Row]:
    """A row for each answer; ``texts`` keeps those of the first way."""
    for name, question in QUESTIONS.items():
        worker.finished(user(question), max_tokens=1)  # the prompt is in the cache
        for temperature in TEMPERATURES:
            begin = cpu_seconds(worker.process.pid)
            sampling = Sampling(temperature=temperature, seed=3)
            text, end = worker.finished(user(question), max_tokens=tokens, sampling=sampling)
            stats, used = end.stats, cpu_seconds(worker.process.pid) - begin
            same = "yes" if texts.setdefault((name, temperature), text) == text else "no"
            figures = (stats.generated_tokens, stats.decode_tps, 1000 * used / stats.generated_tokens)
            yield (f"{name}, temperature {temperature:g}", way, *figures, stats.drafted, stats.accepted, same)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--draft", type=Path, default=None, help="default: n-gram lookup only")
    parser.add_argument("--device", default="cpu", help="ggml's name, such as Vulkan0")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=160)
    options = parser.parse_args()
    ways: dict[str, dict[str, Any]] = {"plain": {}, "n-gram": {"ngram": True}}
    if options.draft is not None:
        ways |= {"draft": {"draft": str(options.draft)}, "both": {"draft": str(options.draft), "ngram": True}}
    load = {"n_threads": options.threads, "n_ctx": 2048, "device": options.device}
    rows: list[Row] = []
    texts: Texts = {}
    environment = worker_environment(os.environ)
    with tempfile.TemporaryDirectory() as folder, Worker(log=Path(folder) / "log", env=environment) as worker:
        for way, extra in ways.items():
            worker.loaded(options.model or starter_model(), **load, **extra)
            rows += answers(worker, way, options.tokens, texts)
    print(machine_line())
    print(table([HEADINGS, *sorted(rows, key=lambda row: str(row[0]))]))


if __name__ == "__main__":
    main()
