"""The figures of ``vramble bench --protocol llama-bench`` against llama-bench itself, of the same build, in one run.

Both measure the same tests with the same flags, in turns: pp512 and tg128, at the depths asked for. The ratio of the
medians should differ from 1 by no more than the runs of either differ among themselves. On a machine with other work
the clock says little: ``--exclusive`` runs both at real-time priority (``chrt``, needs the right to it). Use, in the
checkout:

    .venv/bin/python -m tests.bench.bench_agreement [--model F] [--device cpu] [--depth 0 --depth 4096] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.client.command import worker_environment
from engine.protocol.bench import BenchTest
from engine.protocol.frames import Bench, Benched
from tests.bench.alone import EXCLUSIVE, alone
from tests.bench.build_llama_bench import build, engine_in_cache
from tests.bench.figures import machine_line, table, write_json
from tests.engine.worker.driver import Worker, starter_model

CPU = "cpu"
REST_SECONDS = 1.0
"""Between two bursts, for everybody else on the machine."""


@dataclass(frozen=True)
class Setup:
    """What both get."""

    model: Path
    device: str
    threads: int
    depths: tuple[int, ...]
    prefix: Sequence[str]
    repeat: int

    @property
    def tests(self) -> list[BenchTest]:
        """pp512 and tg128 at each depth."""
        return [
            BenchTest(prompt=prompt, generated=generated, depth=depth)
            for depth in self.depths
            for prompt, generated in ((512, 0), (0, 128))
        ]


@dataclass
class Pair:
    """Tokens a second of both, by round."""

    native: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Ours over llama-bench's, by the medians."""
        return statistics.median(self.ours) / statistics.median(self.native)

    @property
    def noise(self) -> float:
        """How far runs of the same program lie apart, as a share of their median."""
        return max((max(x) - min(x)) / statistics.median(x) for x in (self.native, self.ours))


def native(program: Path, setup: Setup) -> dict[str, list[float]]:
    """Repetitions of each test by llama-bench, tokens a second."""
    depths = ",".join(map(str, setup.depths))
    words = ["-m", setup.model, "-p", 512, "-n", 128, "-d", depths, "-t", setup.threads, "-r", setup.repeat, "-b", 512]
    place = ["-dev", "none"] if setup.device == CPU else ["-dev", setup.device, "-ngl", "99"]
    command = [*setup.prefix, str(program), *map(str, words), *place, "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {
        BenchTest(prompt=found["n_prompt"], generated=found["n_gen"], depth=found["n_depth"]).name: found["samples_ts"]
        for found in json.loads(done.stdout)
    }


def ours(worker: Worker, setup: Setup) -> dict[str, list[float]]:
    """As many runs of each test by the worker, with the same options, after a load of its own."""
    context = max(test.context for test in setup.tests)
    worker.loaded(setup.model, n_ctx=context, n_threads=setup.threads, device=setup.device)
    found: dict[str, list[float]] = {}
    for test in setup.tests:
        for run in range(setup.repeat):
            request = Bench(id=worker.new_id(), test=test, warm=run > 0)
            worker.send(request)
            end = worker.until_terminal(request.id)[1]
            assert isinstance(end, Benched), end
            seconds = end.sample.prompt_s or end.sample.generated_s or 0.0
            found.setdefault(test.name, []).append((test.prompt or test.generated) / seconds)
    return found


def compare(program: Path, setup: Setup, rounds: int) -> dict[str, Pair]:
    """Both in turns."""
    pairs = {test.name: Pair() for test in setup.tests}
    command = [*setup.prefix, sys.executable, "-P", "-m", "engine.worker"]
    with (
        tempfile.TemporaryDirectory() as folder,
        Worker(log=Path(folder) / "log", env=worker_environment(os.environ), command=command) as worker,
    ):
        for _ in range(rounds):
            for name, speeds in native(program, setup).items():
                pairs[name].native += speeds
            time.sleep(REST_SECONDS)
            for name, speeds in ours(worker, setup).items():
                pairs[name].ours += speeds
            time.sleep(REST_SECONDS)
    return pairs


def main() -> int:
    """Print the table; 1 when a figure is off by more than the noise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--device", default=CPU, help="ggml's name, such as Vulkan0")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--depth", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=1, help="runs after a load: a GPU's clocks rise with them")
    parser.add_argument("--llama-bench", type=Path, help="default: built against the engine of this environment")
    parser.add_argument("--exclusive", action="store_true", help="real-time priority for both")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    options = parser.parse_args()
    prefix = EXCLUSIVE if options.exclusive else ()
    depths = tuple(options.depth or (0,))
    setup = Setup(options.model or starter_model(), options.device, options.threads, depths, prefix, options.repeat)
    program = options.llama_bench or build(engine_in_cache())
    with alone(options.exclusive):
        pairs = compare(program, setup, options.rounds)
    rows: list[Sequence[object]] = [("test", "llama-bench tok/s", "vramble tok/s", "ratio", "noise")]
    for name, pair in pairs.items():
        native_, ours_ = statistics.median(pair.native), statistics.median(pair.ours)
        rows.append((name, native_, ours_, f"{pair.ratio:.3f}", f"{pair.noise:.3f}"))
    print(table(rows))
    print(machine_line())
    write_json(
        options.json, {name: {"native": p.native, "ours": p.ours, "ratio": p.ratio} for name, p in pairs.items()}
    )
    off = [name for name, pair in pairs.items() if abs(pair.ratio - 1) > max(pair.noise, 0.02)]
    if off:
        print(f"off by more than the noise: {', '.join(off)}")
    return int(bool(off))


if __name__ == "__main__":
    sys.exit(main())
