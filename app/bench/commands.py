"""``vramble bench``: how fast a model runs here, on one device or on several in turns."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.bench.place import history_file
from app.chat.load_flags import add_load_flags, read_load_flags, with_profile
from app.chat.numbers import whole
from app.paths import Paths, find_paths
from engine.bench.course import Course
from engine.bench.document import document, markdown
from engine.bench.history import add_to_history, read_history
from engine.bench.protocols import check_pair, fitting
from engine.bench.published import beside, read_published
from engine.bench.records import Order, Protocol, Race, Report
from engine.bench.reporting import Surroundings, report_of, this_build
from engine.bench.text import published_lines, step_words, table
from engine.bench.variants import variants_of
from engine.client.blocking import BlockingWorker
from engine.client.calls import raise_failure
from engine.client.command import worker_command
from engine.errors import VrambleError
from engine.library.argument import HELP, find_model_file
from engine.library.gguf import HeaderProblem
from engine.memory.fit import FitModel, fit_devices, read_model
from engine.memory.sampler import MemorySampler
from engine.memory.tree import Tree, sysroot
from engine.protocol.frames import Delta, Hello, ListDevices, Progress
from engine.protocol.types import DeviceInfo, LoadOptions

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

MOST_RUNS = 100


def add_parser(subparsers: Subparsers) -> None:
    """Add the command. Its ``func`` takes the parsed arguments and returns the exit code."""
    parser = subparsers.add_parser(
        "bench",
        help="measure how fast a model runs",
        description="Measures reading a prompt and generating, and compares the speed with what the memory allows. A"
        " comparison loads the variants in turns. The context length follows from what is measured.",
    )
    parser.add_argument("model", metavar="MODEL", help=HELP)
    parser.add_argument(
        "--protocol",
        choices=[protocol.value for protocol in Protocol],
        default=Protocol.DECODE512.value,
        help="decode512: prompt of one token, 512 generated (default); llama-bench: pp512 and tg128 at depth 0, 4096"
        " and 16384",
    )
    parser.add_argument("--runs", metavar="N", type=whole(1), default=3, help="runs of each test (default 3)")
    parser.add_argument(
        "--compare",
        choices=[race.value for race in Race if race is not Race.NONE],
        help="run variants in turns; guesses: without, with n-gram lookup, and with the model that --draft names",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--no-history", action="store_true", help="do not keep the figures")
    add_load_flags(parser)
    parser.set_defaults(func=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure, keep the figures, print them."""
    if arguments.runs > MOST_RUNS:
        arguments.parser.error(f"--runs takes at most {MOST_RUNS}")
    paths, options = find_paths(), read_load_flags(arguments)
    race = Race(arguments.compare) if arguments.compare else Race.NONE
    try:
        check_pair(race, Protocol(arguments.protocol))
    except VrambleError as problem:
        arguments.parser.error(f"--compare {race.value}: {problem.sentence}")
    bench = CommandBench(paths, find_model_file(paths, arguments.model))
    try:
        report = bench.measure(Protocol(arguments.protocol), race, arguments.runs, arguments, options)
    finally:
        bench.close()
    file = history_file(paths)
    history = _earlier(file)
    _print(report, history, arguments)
    if not report.measured and not report.finished:
        raise VrambleError("cancelled", "Stopped before the first figure.")
    if not report.measured:
        raise VrambleError("bench-failed", next((v.error for v in report.variants if v.error), "Nothing was measured."))
    if not arguments.no_history:
        _keep(file, report)
    if not report.finished:
        raise VrambleError("cancelled", "Stopped before the end.")
    return 0


class CommandBench:
    """Drives a course with blocking workers: another one when a variant ended the first."""

    def __init__(self, paths: Paths, path: Path) -> None:
        self._command, self._path = worker_command(paths.backends), path
        self._worker: BlockingWorker | None = None
        self._hello: Hello | None = None

    def measure(
        self, protocol: Protocol, race: Race, runs: int, arguments: argparse.Namespace, options: LoadOptions
    ) -> Report:
        """The whole benchmark. Raises VrambleError when there is no engine or nothing to compare."""
        hello = self._started()[1]
        options = with_profile(options, arguments, hello.devices, self._path)
        read = read_model(self._path)
        model = None if isinstance(read, HeaderProblem) else read
        order = self._order(protocol, race, runs, options, hello.devices, model)
        course = Course(order)
        show = _Screen(course)
        while (request := course.next(self._started()[0].next_id())) is not None:
            show.step()
            for event in self._started()[0].request(request):
                if not isinstance(event, Hello | Delta):
                    course.take(event)
                show.step(event if isinstance(event, Progress) else None)
        show.wipe()
        return report_of(course, Surroundings(hello=hello, model=model, build=this_build(), tree=Tree(sysroot())))

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()

    def _order(
        self,
        protocol: Protocol,
        race: Race,
        runs: int,
        options: LoadOptions,
        devices: Sequence[DeviceInfo],
        model: FitModel | None,
    ) -> Order:
        variants = variants_of(race, options, devices)
        room = fit_devices(devices, MemorySampler(sysroot()).sample())
        tests, left_out = fitting(protocol, variants, model, room)
        return Order(
            path=str(self._path),
            protocol=protocol,
            race=race,
            variants=variants,
            tests=tests,
            runs=runs,
            left_out=left_out,
        )

    def _started(self) -> tuple[BlockingWorker, Hello]:
        """The worker; another one when it died."""
        if self._worker is None or self._worker.pid is None or self._hello is None:
            self.close()
            self._worker = BlockingWorker(self._command)
            self._hello = self._worker.start()
            if not self._hello.engine:
                for event in self._worker.request(ListDevices(id=self._worker.next_id())):
                    raise_failure(event)
        return self._worker, self._hello


class _Screen:
    """One line on a terminal that says what is measured and how long it takes."""

    def __init__(self, course: Course, clock: Callable[[], float] = time.monotonic) -> None:
        self._course, self._clock, self._shown = course, clock, 0.0

    def step(self, progress: Progress | None = None) -> None:
        """Say where the benchmark is."""
        now = self._clock()
        if not sys.stderr.isatty() or (progress is not None and now - self._shown < 0.2):
            return
        self._shown = now
        left = self._course.seconds_left
        words = step_words(self._course)
        rest = "" if left is None else f", {_duration(left)} left"
        sys.stderr.write(f"\r\033[K{self._course.fraction:4.0%}  {words}{rest}")
        sys.stderr.flush()

    def wipe(self) -> None:
        """Take the line away."""
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _print(report: Report, history: Sequence[Report], arguments: argparse.Namespace) -> None:
    names = [variant.place.name for variant in report.variants if variant.place]
    backends = [variant.place.backend for variant in report.variants if variant.place]
    published = beside(read_published(), names, backends)
    if arguments.json:
        found = {**document(report, history), "published": published}
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    elif arguments.markdown:
        print(markdown(report, history), end="")
    elif report.measured:
        print(table(report, history))
        print(published_lines(published))


def _earlier(file: Path) -> tuple[Report, ...]:
    try:
        return read_history(file)
    except OSError as error:
        print(f"Earlier benchmarks cannot be read: {error.strerror}.", file=sys.stderr)
        return ()


def _keep(file: Path, report: Report) -> None:
    try:
        add_to_history(file, report)
    except OSError as error:
        print(f"The figures could not be kept: {error.strerror}.", file=sys.stderr)
