"""Why a worker process ended, in words."""

from __future__ import annotations

import re
import signal as signals
from enum import StrEnum
from pathlib import Path

import msgspec

from engine.client.logtail import shorten_home

DETAIL_LINES = 20
STACK_LINES = 12
STACK_START = "Fatal Python error:"
JUDGED_LINES = 40
"""Only the end of the log is judged: an allocation that failed minutes ago was survived."""


class Verdict(StrEnum):
    """Why the driver itself ended the worker, or has to."""

    NO_HELLO = "no-hello"
    NO_ANSWER = "no-answer"
    """A cancel was not answered."""
    WRONG_PROTOCOL = "wrong-protocol"
    CLOSED = "closed"
    """It closed its frame channel and went on running."""


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


Words = tuple[str, str, str]
"""Code, sentence, next step."""

AGAIN = "The next message starts it again."
LESS_MEMORY = "Choose a smaller model, a shorter context or fewer GPU layers."

KILLED: Words = ("killed", "The engine was killed, most likely by the system because memory ran out.", LESS_MEMORY)

BY_VERDICT: dict[Verdict, Words] = {
    Verdict.NO_HELLO: (
        "worker-silent",
        "The engine did not start within 30 seconds and was ended.",
        "Try again; if it happens again, restart the computer to reset the graphics driver.",
    ),
    Verdict.NO_ANSWER: (
        "worker-silent",
        "The engine did not react to Stop within 2 seconds and was ended.",
        "The next message starts it again and loads the model.",
    ),
    Verdict.CLOSED: ("worker-silent", "The engine stopped talking and was ended.", AGAIN),
    Verdict.WRONG_PROTOCOL: (
        "worker-protocol",
        "The engine belongs to another version of Vramble.",
        "Close all Vramble windows and start it again; if that does not help, install it again.",
    ),
}

GPU_MEMORY_WORDS = (
    r"OutOfDeviceMemory|hipErrorOutOfMemory|device memory allocation|(unable|failed) to allocate (?!CPU)\w+ buffer"
)

BY_LOG: tuple[tuple[str, Words], ...] = (
    (
        r"DeviceLost|device lost|amdgpu.*reset",
        (
            "device-lost",
            "The graphics driver lost the GPU while the engine was using it.",
            "Send the message again; if it happens again, use fewer GPU layers or the CPU.",
        ),
    ),
    (
        GPU_MEMORY_WORDS,
        ("out-of-device-memory", "The GPU memory was not enough.", LESS_MEMORY),
    ),
    (
        r"OutOfHostMemory|std::bad_alloc|MemoryError|cannot allocate memory|(unable|failed) to allocate CPU",
        ("out-of-memory", "The memory of the computer was not enough.", LESS_MEMORY),
    ),
    (
        r"GGML_ASSERT|GGML_ABORT|Assertion .* failed",
        (
            "engine-assert",
            "The engine stopped because one of its own checks failed.",
            "Try other load options or another model; the details say which check it was.",
        ),
    ),
    (
        r"cannot open shared object file",
        (
            "library-missing",
            "A library that the engine needs is missing.",
            "The details name it; install it and try again.",
        ),
    ),
    (
        r"ModuleNotFoundError|ImportError",
        ("engine-missing", "The engine is not installed completely.", "Install Vramble again."),
    ),
)
"""Words in the log that say more than the signal does, the most telling first."""

BY_SIGNAL: dict[int, Words] = {
    signals.SIGKILL: KILLED,
    signals.SIGABRT: ("worker-aborted", "The engine aborted because of an internal error.", AGAIN),
    signals.SIGSEGV: (
        "worker-crashed",
        "The engine crashed.",
        "The next message starts it again; if it happens again, use fewer GPU layers or the CPU.",
    ),
    signals.SIGBUS: (
        "model-unreadable",
        "The engine could not read the model file to its end.",
        "Check that the drive is still there and that the file is complete.",
    ),
    signals.SIGILL: (
        "processor-too-old",
        "This processor lacks instructions that the engine was built for.",
        "Use a build of Vramble for this processor.",
    ),
    signals.SIGFPE: ("worker-crashed", "The engine crashed because of an arithmetic error.", AGAIN),
}

LOG_BEFORE_SIGNAL = frozenset({signals.SIGABRT, signals.SIGSEGV, signals.SIGBUS})
"""Signals that a driver or an allocator raises after it wrote why. SIGKILL and SIGILL speak for themselves."""


def describe_death(
    exit_code: int | None,
    signal: int | None,
    log_tail: str,
    verdict: Verdict | None = None,
    home: Path | None = None,
) -> WorkerDeath:
    """One sentence and one next step for the end of a worker.

    Args:
        exit_code: None when a signal ended the process, or when it could not be started.
        signal: Number of that signal.
        log_tail: End of the worker's log.
        verdict: Why the driver ended it, where it did.
        home: Folder to write as ``~`` (default: the user's).
    """
    lines, stack = _split_stack([line for line in log_tail.splitlines() if line.strip()])
    judged = "\n".join(lines[-JUDGED_LINES:])
    code, sentence, next_step = _words(exit_code, signal, judged, verdict)
    detail = shorten_home("\n".join([*lines[-DETAIL_LINES:], *stack[:STACK_LINES]]), home)
    return WorkerDeath(
        code=code, sentence=sentence, next_step=next_step, signal=signal, exit_code=exit_code, log_tail=detail
    )


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
    if exit_code > 128 and _signal_name(exit_code - 128):
        return _words_for_signal(exit_code - 128, log)
    if exit_code == 0:
        return "worker-ended", "The engine ended by itself.", AGAIN
    return _words_of_log(log) or (
        "worker-ended",
        f"The engine ended with exit code {exit_code}.",
        "The next message starts it again; the details hold its last log lines.",
    )


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
