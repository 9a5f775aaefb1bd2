"""Answers with and without guesses: speed, processor time for each token, how many guesses were right.

One answer that repeats what was given (a text copied), one that does not (a story), and one in between (a program),
greedy and drawn. The texts of all ways are compared. ``--self-quantised`` needs no second model: the model is written
out in 32 bits, which is the large one, and in 4 bits, which guesses for it. Use, in the checkout:

    .venv/bin/python -m tests.bench.speculation [--model FILE] [--draft FILE] [--self-quantised] [--device Vulkan0]
        [--tokens 160] [--text story] [--least-p 0.6] [--least-p 0] [--exclusive]

``--least-p 0`` asks the draft model whatever that costs; with any other value it rests where it makes an answer slower.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engine.client.command import worker_environment
from engine.protocol.types import LoadOptions, Sampling
from tests.bench.alone import EXCLUSIVE, alone
from tests.bench.decode_ratio import cpu_seconds
from tests.bench.figures import machine_line, table
from tests.bench.quantise import TYPES, quantise
from tests.engine.worker.driver import Worker, starter_model, user

KEEPER = (
    "The keeper of the lighthouse rowed out at dawn with his two nets and a lantern. He counted eleven gulls and one"
    " grey seal, and wrote it down in the book that his father had begun. "
)
QUESTIONS = {
    "copy": "Repeat this text word by word, twice:\n" + 3 * KEEPER,
    "story": "Write a long story about a lighthouse keeper and the sea.",
    "code": "Write a Python class Queue with the methods push, pop, peek, size and is_empty, each with a docstring.",
}
TEMPERATURES = (0.0, 0.7)


Row = tuple[object, ...]
Texts = dict[tuple[str, float], str]
HEADINGS: Row = ("answer", "guesses", "tokens", "tok/s", "CPU ms/token", "guessed", "accepted", "same text")


def answers(worker: Worker, way: str, tokens: int, texts: Texts, names: Sequence[str]) -> Iterator[Row]:
    """A row for each answer; ``texts`` keeps those of the first way."""
    for name in names:
        question = QUESTIONS[name]
        worker.finished(user(question), max_tokens=1)  # the prompt is in the cache
        for temperature in TEMPERATURES:
            begin = cpu_seconds(worker.process.pid)
            sampling = Sampling(temperature=temperature, seed=3)
            text, end = worker.finished(user(question), max_tokens=tokens, sampling=sampling)
            stats, used = end.stats, cpu_seconds(worker.process.pid) - begin
            same = "yes" if texts.setdefault((name, temperature), text) == text else "no"
            figures = (stats.generated_tokens, stats.decode_tps, 1000 * used / stats.generated_tokens)
            yield (f"{name}, temperature {temperature:g}", way, *figures, stats.drafted, stats.accepted, same)


def pair(options: argparse.Namespace, folder: Path) -> tuple[Path, Path | None]:
    """The model, and the one that guesses for it."""
    model = options.model or starter_model()
    if not options.self_quantised:
        return model, options.draft
    large, small = folder / "large.gguf", folder / "small.gguf"
    quantise(model, large, options.large)
    quantise(model, small, options.small)
    return large, small


def ways(draft: Path | None, least: Sequence[float]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names of what is compared, and what they are loaded with."""
    yield "plain", {}
    yield "n-gram", {"ngram": True}
    for least_p in least if draft is not None else ():
        yield f"draft, p {least_p:g}", {"draft": str(draft), "draft_p_min": least_p}
    if draft is not None:
        yield "both", {"draft": str(draft), "ngram": True}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--draft", type=Path, default=None, help="default: n-gram lookup only")
    parser.add_argument("--self-quantised", action="store_true", help="the model itself guesses, in fewer bits")
    parser.add_argument("--large", choices=sorted(TYPES), default="f32")
    parser.add_argument("--small", choices=sorted(TYPES), default="q4_0")
    parser.add_argument("--least-p", type=float, action="append", help="as --draft-p-min; several are compared")
    parser.add_argument("--text", choices=sorted(QUESTIONS), action="append", help="default: all")
    parser.add_argument("--exclusive", action="store_true", help="real-time priority for the worker")
    parser.add_argument("--device", default="cpu", help="ggml's name, such as Vulkan0")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=160)
    options = parser.parse_args()
    load = {"n_threads": options.threads, "n_ctx": 2048, "device": options.device}
    rows: list[Row] = []
    texts: Texts = {}
    prefix = EXCLUSIVE if options.exclusive else ()
    command = [*prefix, sys.executable, "-P", "-m", "engine.worker"]
    with (
        alone(options.exclusive),
        tempfile.TemporaryDirectory() as folder,
        Worker(log=Path(folder) / "log", env=worker_environment(os.environ), command=command) as worker,
    ):
        model, draft = pair(options, Path(folder))
        for way, extra in ways(draft, options.least_p or [LoadOptions().draft_p_min]):
            worker.loaded(model, **load, **extra)
            for row in answers(worker, way, options.tokens, texts, options.text or list(QUESTIONS)):
                print(*row, sep="; ", flush=True)
                rows.append(row)
    print(machine_line())
    print(table([HEADINGS, *sorted(rows, key=lambda row: str(row[0]))]))


if __name__ == "__main__":
    main()
