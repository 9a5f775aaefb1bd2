"""Decode speed of several conversations at once against a single one, through the worker and its protocol.

Each round writes one answer alone, then several together, in the same worker. The rate together counts the tokens of
all from the moment the last one has begun until the first one ends. Beside the clock stands the processor time of the
worker for each token, which other work on the machine hardly changes. In turns with them runs llama-batched-bench of
the same build, which decodes as many sequences without sampling. Use, in the checkout:

    .venv/bin/python -m tests.bench.several [--conversations 4] [--tokens 128] [--device Vulkan0] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.protocol.frames import TERMINAL_TYPES, Delta, Finished, Generate
from engine.protocol.types import Sampling
from tests.bench.build_llama_bench import build, engine_in_cache
from tests.bench.decode_ratio import CPU, cpu_seconds
from tests.bench.figures import machine_line, table
from tests.engine.worker.driver import Worker, starter_model, user

QUESTION = "Write a very long story about {} and the sea. Do not stop early."
PROMPT = 46
"""Tokens of the question with the starter model's template, about."""

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


@dataclass(frozen=True)
class Batched:
    """llama-batched-bench: the rates of one sequence and of ``count``, tokens a second of all."""

    program: Path
    model: Path
    device: str
    threads: int
    count: int

    def run(self, tokens: int) -> tuple[float, float]:
        """Both rates, behind a prompt as long as the worker's."""
        words = ["-m", self.model, "-npp", PROMPT, "-ntg", tokens, "-npl", f"1,{self.count}", "-kvu"]
        words += ["-c", self.count * (PROMPT + tokens), "--output-format", "jsonl"]
        words += ["-t", self.threads] if self.threads else []
        words += ["-dev", "none"] if self.device == CPU else ["-dev", self.device, "-ngl", 99]
        command = [str(self.program), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        rates = {line["pl"]: float(line["speed_tg"]) for line in lines}
        return rates[1], rates[self.count]


def medians(rates: Sequence[Rate]) -> Rate:
    """Of each figure."""
    return Rate(statistics.median(one.tokens for one in rates), statistics.median(one.cpu for one in rates))


def main() -> None:
    """Measure and print."""
    options = arguments()
    count, model = options.conversations, options.model or starter_model()
    program = options.batched_bench or build(engine_in_cache(), "llama-batched-bench")
    native = Batched(program, model, options.device, options.threads, count)
    print(machine_line())
    with tempfile.TemporaryDirectory() as folder, Worker(log=Path(folder) / "log") as worker:
        worker.loaded(
            model,
            n_ctx=max(2048, 2 * count * (options.tokens + 64)),
            device=options.device,
            n_threads=options.threads,
            n_parallel=count,
        )
        run(worker, 1, 8)
        pairs, theirs = [], []
        for _ in range(options.rounds):
            theirs.append(native.run(options.tokens))
            pairs.append((run(worker, 1, options.tokens), run(worker, count, options.tokens)))
    show(pairs, theirs, count)


def show(pairs: Sequence[tuple[Rate, Rate]], theirs: Sequence[tuple[float, float]], count: int) -> None:
    """Print the rounds, and the ratios of the medians."""
    head = (
        "round",
        "alone tok/s",
        f"{count} tok/s",
        "alone CPU ms",
        f"{count} CPU ms",
        "batched-bench 1",
        f"... {count}",
    )
    rows: list[tuple[object, ...]] = [head]
    for place, ((one, all_), native) in enumerate(zip(pairs, theirs, strict=True)):
        rows.append((place + 1, one.tokens, all_.tokens, one.cpu, all_.cpu, *native))
    print(table(rows))
    alone, together = (medians(column) for column in zip(*pairs, strict=True))
    ours = together.tokens / alone.tokens
    single, several = (statistics.median(column) for column in zip(*theirs, strict=True))
    print(f"{count} at once / alone: {ours:.2f} of the rate, {alone.cpu / together.cpu:.2f} by processor time")
    print(
        f"llama-batched-bench: {several / single:.2f}; the worker's gain against its: {ours / (several / single):.3f}"
    )
    print(f"rates, worker / llama-batched-bench: alone {alone.tokens / single:.3f}, {together.tokens / several:.3f}")


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--device", default=CPU, help="ggml's name, such as Vulkan0")
    parser.add_argument("--conversations", type=int, default=4, choices=range(2, len(TOPICS) + 1))
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batched-bench", type=Path, help="default: built against the engine of this environment")
    return parser.parse_args()


if __name__ == "__main__":
    main()
