"""The commands: arguments in, text or JSON out, exit codes 0 done, 1 failed, 2 wrong use."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from engine.errors import VrambleError
from engine.version import program_version

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def _devices(subparsers: Subparsers) -> None:
    from app.worker.commands import add_parser

    add_parser(subparsers)


def _memory(subparsers: Subparsers) -> None:
    from app.memory.commands import add_parser

    add_parser(subparsers)


def _chat(subparsers: Subparsers) -> None:
    from app.chat.commands import add_parser

    add_parser(subparsers)


def _search(subparsers: Subparsers) -> None:
    from app.hub.commands import add_parser

    add_parser(subparsers)


def _pull(subparsers: Subparsers) -> None:
    from app.downloads.commands import add_parser

    add_parser(subparsers)


def _repair(subparsers: Subparsers) -> None:
    from app.downloads.commands import add_repair

    add_repair(subparsers)


def _login(subparsers: Subparsers) -> None:
    from app.downloads.commands import add_login

    add_login(subparsers)


def _models(subparsers: Subparsers) -> None:
    from app.library.commands import add_parser

    add_parser(subparsers)


def _doctor(subparsers: Subparsers) -> None:
    from app.doctor.commands import add_parser

    add_parser(subparsers)


def _fit(subparsers: Subparsers) -> None:
    from app.fit.commands import add_parser

    add_parser(subparsers)


def _bench(subparsers: Subparsers) -> None:
    from app.bench.commands import add_parser

    add_parser(subparsers)


def _export(subparsers: Subparsers) -> None:
    from app.backup.commands import add_export

    add_export(subparsers)


def _import(subparsers: Subparsers) -> None:
    from app.backup.commands import add_import

    add_import(subparsers)


def _backup(subparsers: Subparsers) -> None:
    from app.backup.commands import add_backup

    add_backup(subparsers)


def _restore(subparsers: Subparsers) -> None:
    from app.backup.commands import add_restore

    add_restore(subparsers)


COMMANDS: dict[str, Callable[[Subparsers], None]] = {
    "devices": _devices,
    "memory": _memory,
    "fit": _fit,
    "chat": _chat,
    "bench": _bench,
    "search": _search,
    "pull": _pull,
    "repair": _repair,
    "login": _login,
    "models": _models,
    "doctor": _doctor,
    "export": _export,
    "import": _import,
    "backup": _backup,
    "restore": _restore,
}
"""Command -> what adds its parser. Only the command that is used is imported."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Failures are one line on standard error."""
    _tolerate_odd_text()
    try:
        parsed = _parser(arguments).parse_args(arguments)
        code: int = parsed.func(parsed)
        sys.stdout.flush()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except VrambleError as error:
        return _fail(error.sentence)
    except BrokenPipeError:
        _discard_output()
        return 1
    except KeyboardInterrupt:
        return _fail("Interrupted.")
    return code


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vramble",
        description="Chat with language models on your own Radeon. Without a command the window opens.",
    )
    parser.add_argument("--version", action="version", version=f"vramble {program_version()}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    wanted = next(iter(arguments), "")
    for name, add in COMMANDS.items():
        if name == wanted or wanted not in (*COMMANDS, "--version"):
            add(subparsers)
    return parser


def _fail(sentence: str) -> int:
    print("vramble: " + " ".join(sentence.split()), file=sys.stderr)
    return 1


def _tolerate_odd_text() -> None:
    """A terminal that cannot show a character gets a question mark instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _discard_output() -> None:
    """The reader of the output is gone: nothing more is written, also not at the end of the interpreter."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
