"""``vramble fit``: what a model would take, and whether there is room."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from app.chat.load_flags import add_load_flags, read_load_flags, with_profile
from app.fit.learning import learned_file
from app.fit.source import Source, model_of_source, open_source
from app.fit.text import document, table
from app.paths import Paths, find_paths
from engine.client.blocking import BlockingWorker
from engine.client.calls import dry_run, raise_failure
from engine.client.command import worker_command
from engine.errors import VrambleError
from engine.library.argument import HELP
from engine.library.listing import RepoFile
from engine.memory.fit import (
    FitDevice,
    FitModel,
    FitPlan,
    Measured,
    Verdict,
    fit_devices,
    measured_by,
    predict,
    suggest,
    weights_that_fit,
)
from engine.memory.fit.correction import FitHistory, key_of, learned
from engine.memory.fit.history import read_fit_history
from engine.memory.fit.records import LearnedBytes
from engine.memory.sampler import MemorySampler
from engine.memory.tree import sysroot
from engine.protocol.frames import Hello, ListDevices
from engine.protocol.types import DeviceInfo, LoadOptions

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

MOST_QUANTS = 3
REFUSALS = {"bad-load-options", "unknown-architecture", "not-a-chat-model"}
"""What a dry run says that a load would say as well."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command. Its ``func`` takes the parsed arguments and returns the exit code."""
    parser = subparsers.add_parser(
        "fit",
        help="will a model fit into memory",
        description="Says what a model would take on each device, and whether there is room. Of a model on the Hub only"
        " the header is read.",
    )
    parser.add_argument("model", metavar="MODEL", help=HELP)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--estimate", action="store_true", help="do not ask the engine for its buffers")
    add_load_flags(parser)
    parser.set_defaults(func=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Read the header, ask the engine, print the forecast. The verdict is no failure."""
    paths = find_paths()
    options = read_load_flags(arguments)
    with open_source(paths, arguments.model) as source:
        if source.note:
            print(source.note, file=sys.stderr)
        model = model_of_source(source, options)
        with BlockingWorker(worker_command(paths.backends)) as worker:
            hello = _hello(worker)
            options = with_profile(options, arguments, hello.devices, source.path)
            snapshot = MemorySampler(sysroot()).sample(whole=True)
            history = _history(paths)
            devices = fit_devices(hello.devices, snapshot, learned=_learned(history), ram_speed=history.ram)
            measured = None if arguments.estimate else _measured(worker, source, model, options, devices)
            plan = predict(model, options, devices, measured)
            suggestions = suggest(model, options, devices, measured)
        quants = _other_quants(model, plan, source, devices)
        if arguments.json:
            print(msgspec.json.format(document(plan, source, suggestions, quants), indent=2).decode())
        else:
            print(table(model, plan, source, suggestions, quants))
    return 0


def _hello(worker: BlockingWorker) -> Hello:
    """Raises VrambleError with the reason when there is no engine."""
    hello = worker.start()
    if not hello.engine:
        for event in worker.request(ListDevices(id=worker.next_id())):
            raise_failure(event)
    return hello


def _history(paths: Paths) -> FitHistory:
    """What the window's loads taught; nothing where that cannot be read."""
    try:
        return read_fit_history(learned_file(paths))
    except OSError:
        return FitHistory()


def _learned(history: FitHistory) -> Callable[[DeviceInfo], LearnedBytes | None]:
    return lambda device: learned(history.of(key_of(device)))


def _measured(
    worker: BlockingWorker, source: Source, model: FitModel, options: LoadOptions, devices: Sequence[FitDevice]
) -> Measured | None:
    """What the engine would allocate; None when it cannot say. Raises VrambleError when it would refuse the load."""
    try:
        return measured_by(model, options, devices, dry_run(worker, source.path, options))
    except VrambleError as error:
        if error.code in REFUSALS:
            raise
        print(f"The engine could not be asked: {error.message}", file=sys.stderr)
        return None


def _other_quants(model: FitModel, plan: FitPlan, source: Source, devices: Sequence[FitDevice]) -> list[RepoFile]:
    """Files of the same repository that would fit as asked, the largest first."""
    if source.listing is None or plan.verdict not in (Verdict.NO, Verdict.PARTLY):
        return []
    most = weights_that_fit(model, plan.options, devices)
    fitting = [f for f in source.listing.files if not f.companion and f.size is not None and f.size <= (most or 0)]
    return sorted(fitting, key=lambda file: -(file.size or 0))[:MOST_QUANTS]
