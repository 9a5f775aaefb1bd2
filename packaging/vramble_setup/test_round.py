"""One round of the tests, and a second look at the few that failed in it.

Hundreds of tests start real processes and real windows, two at a time. What fails only beside others
is a fault of the test, not of the program: it is run again by itself, and named when it passes then.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from vramble_setup.report import say

MOST_SECOND_LOOKS = 3
"""More failures than this are no accident."""

TESTS_FAILED = 1
"""pytest's exit code when tests were run and some of them failed."""

LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")

Runner = Callable[[Sequence[str]], int]


def run_tests(python: Path, checkout: Path, arguments: Sequence[str]) -> int:
    """pytest's exit code; ``arguments`` go to pytest. Only a round of all tests has a second look."""

    def runner(words: Sequence[str]) -> int:
        return subprocess.run([str(python), "-m", "pytest", *words], cwd=checkout, check=False).returncode

    if arguments:
        return runner(["-n", "2", *arguments])
    return with_second_look(runner, checkout)


def with_second_look(runner: Runner, checkout: Path) -> int:
    code = runner(["-n", "2"])
    unsteady = failed_tests(checkout)
    if code != TESTS_FAILED or not 0 < len(unsteady) <= MOST_SECOND_LOOKS:
        return code
    say(f"{len(unsteady)} failed beside others. By itself:")
    code = runner(["--last-failed", "--last-failed-no-failures=none"])
    if code == 0:
        say("Unsteady, to be made steady: these failed beside others and passed alone:\n  " + "\n  ".join(unsteady))
    return code


def failed_tests(checkout: Path) -> tuple[str, ...]:
    """The tests that failed in the last round, as pytest names them; files that could not be read count as one."""
    try:
        return tuple(sorted(json.loads((checkout / LAST_FAILED).read_text())))
    except FileNotFoundError:
        return ()
