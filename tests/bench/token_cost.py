"""What one token of an answer costs the processor outside of ``llama_decode``, by processor time of the main thread.

The worker's own answer loop runs in this process, alone, with one thread for computing, and the calls into llama.cpp
are clocked. Other work on the machine hardly changes these figures: a thread that waits for a processor uses none. What
is left over between decode calls is sampling, text, frames and Python; llama-bench, which does none of that, has
nothing there. Use, in the checkout:

    .venv/bin/python -m tests.bench.token_cost [--tokens 128] [--rounds 5] [--model FILE]
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from engine.backends.catalogue import Catalogue
from engine.protocol.frames import FromWorker, Generate
from engine.protocol.types import LoadOptions, Sampling
from engine.worker.cancel import CancelFlag, Stop
from engine.worker.generator import Generator
from engine.worker.loader import Loader
from engine.worker.log import NativeLog
from engine.worker.native import load_llama
from engine.worker.output import INTERVAL_SECONDS
from engine.worker.reader import FrameWriter
from engine.worker.templates.process import TemplateProcess
from tests.bench.figures import machine_line, table
from tests.engine.worker.driver import starter_model, user

QUESTION = user("Write a very long story about a lighthouse keeper and the sea. Do not stop early.")


class Clocked:
    """A native function whose calls are clocked in processor time of this thread."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.spans: list[tuple[float, float]] = []

    def __call__(self, *arguments: Any) -> Any:
        begin = time.thread_time()
        result = self._function(*arguments)
        self.spans.append((begin, time.thread_time()))
        return result

    @property
    def microseconds(self) -> list[float]:
        """Of each call."""
        return [1e6 * (end - begin) for begin, end in self.spans]


class ClockedApi:
    """The bindings, two functions of them clocked."""

    def __init__(self, api: Any) -> None:
        self._api = api
        self.llama_decode = Clocked(api.llama_decode)
        self.llama_sampler_sample = Clocked(api.llama_sampler_sample)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)


@dataclass(frozen=True)
class Cost:
    """Microseconds for each token: computing, sampling in C, and the rest between two decode calls.

    Attributes:
        rest: Without a frame.
        frame: What a frame adds; 0 where none was sent. On a busy machine each token has one.
    """

    decode: float
    sample: float
    rest: float
    frame: float

    @property
    def ratio(self) -> float:
        """Speed against a loop that only decodes, when nothing else runs."""
        frames = self.frame * min(1.0, self.decode / (1e6 * INTERVAL_SECONDS))
        return self.decode / (self.decode + self.sample + self.rest + frames)


class Bench:
    """One loaded model."""

    def __init__(self, model: Path, threads: int) -> None:
        self._nowhere = os.open(os.devnull, os.O_WRONLY)
        self._llama = load_llama(NativeLog(fd=self._nowhere))
        self._templates, self._cancel = TemplateProcess(), CancelFlag()
        catalogue = Catalogue.load(self._llama.ggml, self._llama.library)
        options = LoadOptions(n_ctx=2048, device="cpu", n_threads=threads)
        loader = Loader(self._llama, catalogue, self._templates, self._cancel)
        self._loaded = loader.load(model, options, lambda _parts: None)

    def answer(self, tokens: int, sampling: Sampling) -> Cost:
        """Medians over the tokens of one answer."""
        api = ClockedApi(self._llama.api)
        self._loaded.llama = dataclasses.replace(self._llama, api=api)
        request = Generate(id=1, messages=(QUESTION,), sampling=sampling, max_tokens=tokens)
        spans, framed = api.llama_decode.spans, set[int]()
        write = FrameWriter(self._nowhere).send

        def send(frame: FromWorker) -> None:
            framed.add(len(spans))
            write(frame)

        answer = Generator(self._loaded, self._templates, request, Stop(), send, time.monotonic())
        answer.prepare()
        answer.enter()
        first = len(spans)
        answer.alone(Stop())
        answer.close()
        between = [1e6 * (after[0] - before[1]) for before, after in pairwise(spans)]
        apart: dict[bool, list[float]] = {False: [], True: []}
        for number, cost in enumerate(between[first + 1 :], first + 2):
            apart[number in framed].append(cost)
        plain = statistics.median(apart[False] or [math.nan])
        frame = statistics.median(apart[True]) - plain if apart[True] else 0.0
        sample = statistics.median(api.llama_sampler_sample.microseconds or [0.0])
        decode = statistics.median(api.llama_decode.microseconds[1:])
        return Cost(decode, sample, plain - sample, frame)

    def close(self) -> None:
        """Free the model."""
        self._loaded.llama = self._llama
        self._loaded.close()
        self._templates.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None, help="default: the starter model")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(machine_line())
    bench = Bench(options.model or starter_model(), options.threads)
    rows: list[tuple[object, ...]] = [("sampling", "decode us", "sampler us", "rest us", "a frame us", "decode / all")]
    for name, sampling in (("greedy", Sampling(temperature=0)), ("usual", Sampling(seed=1))):
        costs = [bench.answer(options.tokens, sampling) for _ in range(options.rounds)]
        best = min(costs, key=lambda cost: cost.sample + cost.rest)
        for label, cost in ((name, _median(costs)), (f"{name}, best round", best)):
            rows.append((label, cost.decode, cost.sample, cost.rest, cost.frame, f"{cost.ratio:.4f}"))
    bench.close()
    print(table(rows))


def _median(costs: Sequence[Cost]) -> Cost:
    names = ("decode", "sample", "rest", "frame")
    return Cost(*(statistics.median(getattr(cost, name) for cost in costs) for name in names))


if __name__ == "__main__":
    main()
