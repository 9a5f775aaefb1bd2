"""Cancel latency: from `Cancel` to the terminal event, through the worker process and its protocol.

Cancels come at random moments while a model is loaded, a prompt is read, and an answer is written, on the CPU and on
each usable GPU. Use, in the checkout:

    .venv/bin/python -m tests.bench.cancel_latency [--count 30] [--device cpu] [--json FILE]

``VRAMBLE_ALLOW_SOFTWARE_GPU=1`` includes llvmpipe, with a model of a few MB.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.protocol.frames import Delta, Failed, FromWorker
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions
from tests.bench.big_gguf import SHAPES, numbered_words, write_model
from tests.bench.figures import Spread, machine, machine_line, spread, table, write_json
from tests.bench.timed_worker import ALLOW_SOFTWARE, Timed, TimedWorker, options_for, usable_devices, was_cancelled
from tests.engine.worker.driver import starter_model

WORDS = "the lighthouse keeper walks along the rock and looks at the sea "
PROMPT_SECONDS = 3.0
"""About so long a prompt is made to take."""

ANSWER_TOKENS = 400
ANSWER_SECONDS = 3.0
"""Answers are cancelled in their first seconds."""

TRIES = 5
"""Attempts for each wanted cancel: some come after the end."""


@dataclass(frozen=True)
class Subject:
    """What is cancelled: a model on a device.

    Attributes:
        words: What a prompt is made of.
        most: How many times ``words`` fit into the context.
    """

    device: DeviceInfo
    model: Path
    options: LoadOptions
    words: str = WORDS
    most: int = 250


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """Result for one device and phase; times in ms.

    Attributes:
        killed: Cancels that the worker did not answer in time, so that it was killed.
        phase_ms: How long the phase takes when it is left alone.
    """

    device: str
    kind: str
    phase: str
    phase_ms: float
    latency_ms: Spread | None
    killed: int


def subjects(devices: list[DeviceInfo], folder: Path, model: Path | None) -> Iterator[Subject]:
    """The starter model, or ``model``; on a software driver a small one."""
    for device in devices:
        if device.kind is DeviceKind.SOFTWARE:
            small = folder / "small.gguf"
            write_model(small, SHAPES["tiny"])
            yield Subject(device, small, options_for(device, 2048, n_threads=2), numbered_words(60), 30)
        else:
            yield Subject(device, model or starter_model(), options_for(device, 4096))


class CancelBench:
    """Cancels on one subject. Starts the worker again when a cancel ended it.

    Args:
        seconds: Longest time for one phase; the count is smaller then.
    """

    def __init__(self, subject: Subject, seed: int = 1, seconds: float = 120.0) -> None:
        self._subject = subject
        self._random = random.Random(seed)
        self._seconds = seconds
        self._worker = self._started()
        self._serial = 0

    def close(self) -> None:
        """End the worker."""
        self._worker.close()

    def _started(self) -> TimedWorker:
        worker = TimedWorker(software=self._subject.device.kind is DeviceKind.SOFTWARE)
        worker.start()
        return worker

    def load(self, count: int) -> Latency:
        """Cancels between the request for a load and its end."""
        subject = self._subject
        whole = min(self._worker.load(subject.model, subject.options).seconds for _ in range(2))
        return self._phase("load", whole, count, lambda wait: self._worker.load(subject.model, subject.options, wait))

    def prompt(self, count: int) -> Latency:
        """Cancels while a long prompt is read. Each prompt begins in another way, so that nothing is cached."""
        self._model_there()
        times = self._sized_prompt()
        whole = min(self._read(times).seconds for _ in range(2))
        return self._phase("prompt", whole, count, lambda wait: self._read(times, wait))

    def generation(self, count: int) -> Latency:
        """Cancels while an answer is written: after its first text, and before its end."""
        self._model_there()
        whole = self._written(self._worker.timed(self._worker.question("Tell a very long story.", ANSWER_TOKENS)))
        return self._phase("generation", min(whole, ANSWER_SECONDS), count, self._cancel_answer)

    @staticmethod
    def _written(timed: Timed) -> float:
        return timed.seconds - (timed.first_token or 0.0)

    def _cancel_answer(self, wait: float) -> Timed:
        self._serial += 1
        request = self._worker.question("Tell a very long story.", ANSWER_TOKENS, seed=self._serial)

        def after_first(event: FromWorker) -> float | None:
            return wait if isinstance(event, Delta) else None

        return self._worker.timed(request, on_event=after_first)

    def _sized_prompt(self) -> int:
        """How many times the words make a prompt of `PROMPT_SECONDS` here."""
        most = self._subject.most
        few = max(1, most // 16)
        self._read(few)
        return min(most, max(few, int(few * PROMPT_SECONDS / self._read(few).seconds)))

    def _read(self, times: int, cancel_after: float | None = None) -> Timed:
        self._serial += 1
        text = f"{self._serial} {self._subject.words * times}"
        return self._worker.timed(self._worker.question(text, 1), cancel_after)

    def _model_there(self) -> None:
        self._worker.loaded(self._subject.model, self._subject.options)

    def _phase(self, name: str, whole: float, count: int, run: Callable[[float], Timed]) -> Latency:
        latencies: list[float] = []
        killed, end = 0, time.monotonic() + self._seconds
        for _ in range(count * TRIES):
            if len(latencies) + killed >= count or time.monotonic() > end:
                break
            timed = run(self._random.uniform(0.0, whole))
            if self._worker.pid is None:
                killed += 1
                self._worker = self._started()
                if name != "load":
                    self._model_there()
            elif timed.latency is not None and was_cancelled(timed.end):
                latencies.append(timed.latency * 1000)
            elif isinstance(timed.end, Failed) and timed.end.code != "cancelled":
                raise RuntimeError(f"{name}: {timed.end}")
        device = self._subject.device
        return Latency(
            device=device.id,
            kind=device.kind.value,
            phase=name,
            phase_ms=whole * 1000,
            latency_ms=spread(latencies),
            killed=killed,
        )


def measure(subject: Subject, count: int, seed: int = 1, seconds: float = 120.0) -> list[Latency]:
    """All three phases on one subject."""
    bench = CancelBench(subject, seed, seconds)
    try:
        return [bench.load(count), bench.prompt(count), bench.generation(count)]
    finally:
        bench.close()


def show(results: list[Latency]) -> str:
    """The results as a table."""
    rows: list[list[object]] = [["device", "phase", "phase ms", "cancels", "p50 ms", "p95 ms", "max ms", "killed"]]
    for result in results:
        found = result.latency_ms
        figures = [found.count, found.p50, found.p95, found.max] if found else [0, None, None, None]
        rows.append([f"{result.device} ({result.kind})", result.phase, result.phase_ms, *figures, result.killed])
    return table(rows)


def main() -> None:
    """Run the bench and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=30, help="cancels in each phase")
    parser.add_argument("--device", help="only this device: id, PCI address or kind")
    parser.add_argument("--model", type=Path, help="default: the starter model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    software = bool(os.environ.get(ALLOW_SOFTWARE))
    results: list[Latency] = []
    print(machine_line(), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for subject in subjects(usable_devices(options.device, software=software), Path(folder), options.model):
            results += measure(subject, options.count, options.seed)
    print(show(results))
    print(machine_line())
    write_json(options.json, {"machine": machine(), "results": results})


if __name__ == "__main__":
    main()
