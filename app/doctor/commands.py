"""``vramble doctor``: what keeps models from running well here, and what to do about it."""

from __future__ import annotations

import argparse
import os
from importlib import metadata
from typing import TYPE_CHECKING

import msgspec

from app.doctor.examination import examine
from app.doctor.text import markdown, table
from app.paths import find_paths
from engine.client.command import worker_command
from engine.doctor.answer import ask_engine

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subparsers: Subparsers) -> None:
    """Add the command. Its ``func`` takes the parsed arguments and returns the exit code."""
    parser = subparsers.add_parser(
        "doctor",
        help="look for what keeps models from running well",
        description="Looks at system, driver, engine and memory. The exit code is 0 also when it finds something.",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--report", action="store_true", help="print a block to paste into a report, without names")
    parser.add_argument(
        "--no-engine", action="store_true", help="do not start the engine, so that no sleeping card is woken"
    )
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Look at this machine and print what was found."""
    command = None if arguments.no_engine else worker_command(find_paths().backends)
    diagnosis = examine(os.environ, ask_engine(command) if command else None)
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(diagnosis), indent=2).decode())
    elif arguments.report:
        print(markdown(diagnosis, _version()))
    else:
        print(table(diagnosis))
    return 0


def _version() -> str:
    try:
        return metadata.version("vramble")
    except metadata.PackageNotFoundError:
        return "unknown version"
