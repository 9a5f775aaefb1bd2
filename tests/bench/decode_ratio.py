"""Decode speed of the worker, through its process and protocol, against llama-bench of the same build.

llama-bench does not sample; the worker samples, turns tokens into text and writes frames. Both run in turns, with the
same flags, context depth and number of threads. On a machine with other work the clock says little: ``--exclusive``
runs both at real-time priority (``chrt``, needs the right to it) in bursts of seconds, and the CPU time for each token,
which other work hardly changes, stands beside it. Use, in the checkout:

    .venv/bin/python -m tests.bench.decode_ratio [--rounds 5] [--threads 2] [--tokens 128 --tokens 1024] [--exclusive]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.client.command import worker_environment
from engine.protocol.types import FinishReason, LogitBias, Sampling
from tests.bench.alone import EXCLUSIVE, alone
from tests.bench.build_llama_bench import build, engine_in_cache
from tests.engine.worker.driver import Worker, starter_model, user

QUESTION = user("Write a very long story about a lighthouse keeper and the sea. Do not stop early.")
NEVER_ENDS = tuple(LogitBias(token, -1000.0) for token in (0, 2))
"""The starter model's tokens that end a text."""

CPU = "cpu"
WARM_UP_SECONDS = 1.5
REST_SECONDS = 1.0
"""Between two bursts, for everybody else on the machine."""


@dataclass(frozen=True)
class Speed:
    """Wall and CPU time for each token, milliseconds."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Bench:
    """llama-bench, one repetition of its text generation after its own warm-up."""

    program: Path
    model: Path
    threads: int
    device: str
    prefix: Sequence[str]

    def run(self, tokens: int, depth: int) -> Speed:
        """Generate behind ``depth`` tokens. The CPU time is the difference to a run of a quarter of the tokens."""
        few = max(1, tokens // 4)
        (_, before), (wall, after) = self._run(few, depth), self._run(tokens, depth)
        return Speed(wall, 1000 * (after - before) / (tokens - few))

    def _run(self, tokens: int, depth: int) -> tuple[float, float]:
        words = ["-m", self.model, "-p", 0, "-n", tokens, "-d", depth, "-t", self.threads, "-r", 1, "-o", "json"]
        place = ["-dev", "none"] if self.device == CPU else ["-dev", self.device, "-ngl", "99"]
        command = [*self.prefix, str(self.program), *map(str, words), *place]
        begin = _cpu(resource.getrusage(resource.RUSAGE_CHILDREN))
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        (result,) = json.loads(done.stdout)
        return 1000 / float(result["avg_ts"]), _cpu(resource.getrusage(resource.RUSAGE_CHILDREN)) - begin


def _cpu(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def worker_speed(worker: Worker, tokens: int, sampling: Sampling) -> tuple[Speed, int]:
    """One answer after its first token, and the length of its prompt. Another seed where the model ends too soon."""
    for attempt in range(20):
        begin = cpu_seconds(worker.process.pid)
        seeded = msgspec.structs.replace(sampling, seed=attempt)
        _, end = worker.finished(QUESTION, sampling=seeded, max_tokens=tokens)
        used = cpu_seconds(worker.process.pid) - begin
        if end.reason is FinishReason.LENGTH:
            return Speed(1000 / end.stats.decode_tps, 1000 * used / tokens), end.stats.prompt_tokens
    raise RuntimeError("the model ends its answer before the wanted number of tokens: try --endless")


def warm_up(worker: Worker, tokens: int, sampling: Sampling) -> None:
    """Answers for about as long as llama-bench loads its model."""
    end = time.monotonic() + WARM_UP_SECONDS
    while time.monotonic() < end:
        worker_speed(worker, tokens, sampling)


def compare(bench: Bench, worker: Worker, tokens: int, rounds: int, sampling: Sampling) -> None:
    """Run the rounds and print the table."""
    _, depth = worker_speed(worker, 8, sampling)
    pairs = []
    print(f"{tokens} tokens     wall ms/token: llama-bench  worker  ratio     CPU ms/token: llama-bench  worker  ratio")
    for number in range(rounds):
        native = bench.run(tokens, depth)
        time.sleep(REST_SECONDS)
        if bench.device != CPU:  # clocks fell in the pause; llama-bench loads its model just before
            warm_up(worker, tokens, sampling)
        ours, _ = worker_speed(worker, tokens, sampling)
        time.sleep(REST_SECONDS)
        pairs.append((native, ours))
        print(f"{number + 1:10} {_row(native, ours)}", flush=True)
    native, ours = (
        Speed(statistics.median(one.wall for one in column), statistics.median(one.cpu for one in column))
        for column in zip(*pairs, strict=True)
    )
    print(f"    median {_row(native, ours)}")
    ratio = statistics.median(native.wall / ours.wall for native, ours in pairs)
    best = min(native.wall for native, _ in pairs) / min(ours.wall for _, ours in pairs)
    print(f"speed of the worker / llama-bench: median of the pairs {ratio:.3f}, best against best {best:.3f}")


def _row(native: Speed, ours: Speed) -> str:
    return (
        f"{native.wall:26.2f} {ours.wall:7.2f}  {native.wall / ours.wall:5.3f}"
        f" {native.cpu:29.2f} {ours.cpu:7.2f}  {native.cpu / ours.cpu:5.3f}"
    )


def main() -> None:
    """Compare for each number of tokens."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--device", default=CPU, help="ggml's name, such as Vulkan0")
    parser.add_argument("--llama-bench", type=Path, help="default: built against the engine of this environment")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, action="append")
    parser.add_argument("--greedy", action="store_true", help="temperature 0 instead of the default sampling")
    parser.add_argument("--endless", action="store_true", help="forbid the starter model to end; costs a little itself")
    parser.add_argument("--exclusive", action="store_true", help="real-time priority for both")
    options = parser.parse_args()
    prefix = EXCLUSIVE if options.exclusive else ()
    model = options.model or starter_model()
    program = options.llama_bench or build(engine_in_cache())
    bench = Bench(program, model, options.threads, options.device, prefix)
    temperature = 0.0 if options.greedy else Sampling().temperature
    sampling = Sampling(temperature=temperature, logit_bias=NEVER_ENDS if options.endless else ())
    command = [*prefix, sys.executable, "-P", "-m", "engine.worker"]
    with (
        alone(options.exclusive),
        tempfile.TemporaryDirectory() as folder,
        Worker(log=Path(folder) / "log", env=worker_environment(os.environ), command=command) as worker,
    ):
        worker.loaded(model, n_threads=options.threads, n_ctx=2048, device=options.device)
        worker_speed(worker, 32, sampling)
        for tokens in options.tokens or (128,):
            compare(bench, worker, tokens, options.rounds, sampling)


if __name__ == "__main__":
    main()
