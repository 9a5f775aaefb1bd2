"""The commands of `./dev`. It calls `python -m vramble_setup COMMAND ARGUMENT...`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from vramble_setup import cleaning, display
from vramble_setup.environment import Environment
from vramble_setup.report import SetupError, say
from vramble_setup.steps import is_set_up, set_up
from vramble_setup.test_round import run_tests

CHECKOUT = Path(__file__).resolve().parents[2]
LINT = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy", "app", "ui", "engine", "packaging/vramble_setup", "tests"),
)


def run(arguments: list[str]) -> int:
    display.check(arguments)
    was_ready = is_set_up(CHECKOUT)
    environment = set_up(CHECKOUT, "run")
    if not was_ready:
        say("Vramble is starting.")
    program = environment.folder / "bin" / "vramble"
    _forget_path()
    os.execv(program, [str(program), *arguments])


def test(arguments: list[str]) -> int:
    environment = set_up(CHECKOUT, "test")
    _forget_path()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    return run_tests(environment.python, CHECKOUT, arguments)


def lint(arguments: list[str]) -> int:
    del arguments
    environment = set_up(CHECKOUT, "test")
    _forget_path()
    codes = [_call(environment, [str(environment.folder / "bin" / words[0]), *words[1:]]) for words in LINT]
    return 1 if any(codes) else 0


def shots(arguments: list[str]) -> int:
    environment = set_up(CHECKOUT, "test")
    _forget_path()
    return _call(environment, [str(environment.python), "tests/shots.py", *arguments])


def setup(arguments: list[str]) -> int:
    set_up(CHECKOUT, arguments[0] if arguments else "test")
    say("Ready.")
    return 0


def clean(arguments: list[str]) -> int:
    cleaning.clean(CHECKOUT, arguments)
    return 0


HELP = """Use: ./dev COMMAND [ARGUMENT...]. Each command sets up what it needs.

  run     start Vramble; with arguments its command line, such as ./dev run doctor
  test    run the tests; arguments go to pytest
  lint    check style and types
  shots   make pictures of the window
  clean   remove what the set-up made; with --cache also the cache of built engines"""


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    command.__name__: command for command in (run, test, lint, shots, setup, clean)
}


def _call(environment: Environment, command: Sequence[str]) -> int:
    return subprocess.run(command, cwd=environment.checkout, check=False).returncode


def _forget_path() -> None:
    """The search path of the set-up is not the program's."""
    os.environ.pop("PYTHONPATH", None)


def main(arguments: list[str]) -> int:
    if arguments and arguments[0] in ("--help", "-h", "help"):
        print(HELP)
        return 0
    command = COMMANDS.get(arguments[0]) if arguments else None
    if command is None:
        say("Use: ./dev run | test | lint | shots | clean (./dev --help says more)")
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return command(arguments[1:])
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("Stopped. Run the same command again to go on.")
        return 130
    except OSError as error:
        say(f"Set-up failed: {error}.\nMake sure that this disk has 3 GB free and can be written to.")
        return 1
    except Exception:
        traceback.print_exc()
        say("That is a mistake in the set-up. Please report it with the lines above.")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
