"""Runs other programs, keeps what they print in a log and turns a failure into one sentence."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vramble_setup.report import SetupError


class CommandError(SetupError):
    """A program that set-up needs ended with an error."""


def output(command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> str:
    """What the program prints, or an empty text if it is missing or fails."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            errors="replace",
            env=dict(env) if env is not None else None,
            check=False,
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def logged(
    command: Sequence[str | Path],
    log: Path,
    what: str,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Runs the program with its output added to `log`. `what` completes "... failed"."""
    log.parent.mkdir(parents=True, exist_ok=True)
    words = [str(part) for part in command]
    with log.open("a", encoding="utf-8", errors="replace") as sink:
        sink.write(f"$ {' '.join(words)}\n")
        sink.flush()
        try:
            child = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=dict(env) if env is not None else None,
                cwd=cwd,
                process_group=0,
            )
        except OSError as error:
            raise CommandError(
                f"{what} failed: {words[0]} cannot be started ({error.strerror}).",
                f"Install {words[0]} and try again.",
            ) from error
        with child:
            try:
                _copy_lines(child, sink.write, on_line)
            except BaseException:
                _end(child)
                raise
    if child.returncode != 0:
        raise CommandError(
            f"{what} failed:\n{_tail(log)}",
            f"The whole log is in {log}.",
        )


def _copy_lines(
    child: subprocess.Popen[str],
    write: Callable[[str], int],
    on_line: Callable[[str], None] | None,
) -> None:
    assert child.stdout is not None
    for line in child.stdout:
        write(line)
        if on_line is not None:
            on_line(line)


def _end(child: subprocess.Popen[str]) -> None:
    """Ends the program with all that it started, compilers included."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=5)


def _tail(log: Path, lines: int = 8) -> str:
    text = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join("  " + line for line in text[-lines:])
