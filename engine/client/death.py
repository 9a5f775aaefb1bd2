"""Why a worker process ended, in words."""

from __future__ import annotations

import re
import signal as signals
from pathlib import Path

import msgspec

from engine.client.death_words import (
    AGAIN,
    BY_LOG,
    BY_SIGNAL,
    BY_VERDICT,
    KILLED_FOR_MEMORY,
    KILLED_UNDER_PRESSURE,
    KILLS,
    LOG_BEFORE_SIGNAL,
    Verdict,
    Words,
)
from engine.client.logtail import shorten_home
from engine.client.memory_trouble import MemoryTrouble

DETAIL_LINES = 20
STACK_LINES = 12
STACK_START = "Fatal Python error:"
JUDGED_LINES = 40
"""Only the end of the log is judged: an allocation that failed minutes ago was survived."""


class WorkerDeath(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a worker that nobody asked for.

    Attributes:
        code: Stable kebab-case word; `Failed` events of the requests that died with it carry it too.
        sentence: What happened, for the user.
        next_step: What the user can do.
        signal: Number of the signal that ended it, or None.
        exit_code: Exit code, or None when a signal ended it or it never started.
        log_tail: Last lines of its log, the home folder written as ``~``.
    """

    code: str
    sentence: str
    next_step: str
    signal: int | None
    exit_code: int | None
    log_tail: str


def describe_death(
    exit_code: int | None,
    signal: int | None,
    log_tail: str,
    verdict: Verdict | None = None,
    home: Path | None = None,
    trouble: MemoryTrouble | None = None,
) -> WorkerDeath:
    """One sentence and one next step for the end of a worker.

    Args:
        exit_code: None when a signal ended the process, or when it could not be started.
        signal: Number of that signal.
        log_tail: End of the worker's log.
        verdict: Why the driver ended it, where it did.
        home: Folder to write as ``~`` (default: the user's).
        trouble: What the kernel said of memory at that moment.
    """
    lines, stack = _split_stack([line for line in log_tail.splitlines() if line.strip()])
    judged = "\n".join(lines[-JUDGED_LINES:])
    words = _words(exit_code, signal, judged, verdict)
    if verdict is None and trouble is not None:
        words = _words_of_trouble(_number_of(exit_code, signal), trouble) or words
    code, sentence, next_step = words
    detail = shorten_home("\n".join([*lines[-DETAIL_LINES:], *stack[:STACK_LINES]]), home)
    return WorkerDeath(
        code=code, sentence=sentence, next_step=next_step, signal=signal, exit_code=exit_code, log_tail=detail
    )


def killed_from_outside(exit_code: int | None, signal: int | None) -> bool:
    """It ended by a signal that others send to end it, such as the system when memory runs out."""
    return _number_of(exit_code, signal) in KILLS


def _split_stack(lines: list[str]) -> tuple[list[str], list[str]]:
    """Log lines, and the stacks that Python wrote after them when a signal ended it."""
    start = next((i for i, line in enumerate(lines) if line.startswith(STACK_START)), len(lines))
    return lines[:start], lines[start:]


def _words(exit_code: int | None, signal: int | None, log: str, verdict: Verdict | None) -> Words:
    if verdict is not None:
        return BY_VERDICT[verdict]
    if signal is not None:
        return _words_for_signal(signal, log)
    if exit_code is None:
        return "worker-not-started", "The engine could not be started.", "Install Vramble again."
    if (number := _number_of(exit_code, signal)) is not None:
        return _words_for_signal(number, log)
    if exit_code == 0:
        return "worker-ended", "The engine ended by itself.", AGAIN
    return _words_of_log(log) or (
        "worker-ended",
        f"The engine ended with exit code {exit_code}.",
        "The next message starts it again; the details hold its last log lines.",
    )


def _number_of(exit_code: int | None, signal: int | None) -> int | None:
    """The signal that ended it, also where a shell in between made an exit code of it."""
    if signal is None and exit_code is not None and exit_code > 128 and _signal_name(exit_code - 128):
        return exit_code - 128
    return signal


def _words_of_trouble(number: int | None, trouble: MemoryTrouble) -> Words | None:
    """A kill from outside, with what is known of memory. None: the signal says it all."""
    if number not in KILLS:
        return None
    if trouble.kernel_killed:
        return KILLED_FOR_MEMORY
    if trouble.pressed:
        return KILLED_UNDER_PRESSURE
    if number == signals.SIGKILL and trouble.pressed is False and trouble.kernel_killed is False:
        return "killed", "The engine was killed from outside; memory does not seem to have been short.", AGAIN
    return None


def _words_for_signal(number: int, log: str) -> Words:
    from_log = _words_of_log(log) if number in LOG_BEFORE_SIGNAL else None
    if from_log is not None:
        return from_log
    if number in BY_SIGNAL:
        return BY_SIGNAL[number]
    name = _signal_name(number) or f"signal {number}"
    return "worker-ended", f"The engine was ended from outside ({name}).", AGAIN


def _words_of_log(log: str) -> Words | None:
    return next((words for pattern, words in BY_LOG if re.search(pattern, log, re.IGNORECASE)), None)


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return ""
