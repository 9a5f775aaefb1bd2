"""From `kill -9` of the worker to the next token, against a load in a worker that runs.

Each run kills the worker in mid-answer, then starts another, loads the model again and waits for its first text. Use,
in the checkout:

    .venv/bin/python -m tests.bench.restart_ready [--runs 10] [--device cpu] [--json FILE]
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path

import msgspec

from engine.protocol.frames import Delta, Failed, FromWorker
from engine.protocol.types import DeviceKind
from tests.bench.cancel_latency import Subject, subjects
from tests.bench.figures import Spread, machine, machine_line, spread, table, write_json
from tests.bench.timed_worker import ALLOW_SOFTWARE, TimedWorker, usable_devices

QUESTION = "Tell a story."
TOKENS_BEFORE_KILL = 8


class Restart(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds for one device: the steps of a restart, their sum, and a plain load with its first token."""

    device: str
    kind: str
    noticed: Spread
    hello: Spread
    load: Spread
    first_token: Spread
    ready: Spread
    plain: Spread


class _Steps(msgspec.Struct, frozen=True):
    """Seconds of one run."""

    noticed: float
    hello: float
    load: float
    first_token: float
    plain: float

    @property
    def ready(self) -> float:
        return self.noticed + self.hello + self.load + self.first_token


def measure(subject: Subject, runs: int) -> Restart:
    """Kill and come back ``runs`` times."""
    taken = [_one_run(subject) for _ in range(runs)]

    def of(name: str) -> Spread:
        found = spread([getattr(steps, name) * 1000 for steps in taken])
        assert found is not None
        return found

    device = subject.device
    names = ("noticed", "hello", "load", "first_token", "ready", "plain")
    return Restart(device=device.id, kind=device.kind.value, **{name: of(name) for name in names})


def _one_run(subject: Subject) -> _Steps:
    software = subject.device.kind is DeviceKind.SOFTWARE
    with TimedWorker(software=software) as worker:
        worker.start()
        plain = worker.load(subject.model, subject.options).seconds + _first_token(worker)
        killed = _kill_in_answer(worker)
        noticed = time.perf_counter() - killed
    begin = time.perf_counter()
    with TimedWorker(software=software) as worker:
        worker.start()
        hello = time.perf_counter() - begin
        load = worker.load(subject.model, subject.options).seconds
        return _Steps(noticed, hello, load, _first_token(worker), plain)


def _first_token(worker: TimedWorker) -> float:
    timed, _ = worker.finished(QUESTION, 1)
    return timed.seconds


def _kill_in_answer(worker: TimedWorker) -> float:
    """Kill the worker while it writes. When that was; returns when its death was noticed."""
    killed = 0.0

    def kill(event: FromWorker) -> None:
        nonlocal killed
        if isinstance(event, Delta) and event.tokens >= TOKENS_BEFORE_KILL and not killed and worker.pid is not None:
            killed = time.perf_counter()
            os.kill(worker.pid, signal.SIGKILL)

    for seed in range(1, 20):
        end = worker.timed(worker.question(QUESTION, None, seed), on_event=kill).end
        if killed:
            assert isinstance(end, Failed), end
            return killed
    raise RuntimeError("every answer was too short")


def show(results: list[Restart]) -> str:
    """The results as a table; each figure is the median, the last two columns have the largest too."""
    rows: list[list[object]] = [
        ["device", "runs", "noticed", "hello", "load", "first token", "ready again", "max", "plain load", "max"]
    ]
    for result in results:
        steps = (result.noticed, result.hello, result.load, result.first_token)
        ends = (result.ready, result.plain)
        figures = [step.p50 for step in steps] + [figure for end in ends for figure in (end.p50, end.max)]
        rows.append([f"{result.device} ({result.kind})", result.ready.count, *figures])
    return table(rows)


def main() -> None:
    """Run the bench and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--device", help="only this device: id, PCI address or kind")
    parser.add_argument("--model", type=Path, help="default: the starter model")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    print(machine_line(), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        devices = usable_devices(options.device, software=bool(os.environ.get(ALLOW_SOFTWARE)))
        results = [measure(subject, options.runs) for subject in subjects(devices, Path(folder), options.model)]
    print("milliseconds, medians")
    print(show(results))
    write_json(options.json, {"machine": machine(), "results": results})


if __name__ == "__main__":
    main()
