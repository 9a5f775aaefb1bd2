"""The entry point: which part of the program runs, and what it must not import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import cli
from app.main import main
from engine.errors import VrambleError
from engine.version import program_version


def outcome(monkeypatch, func) -> int:
    """Exit code of a command that is ``func``."""

    def add_parser(subparsers) -> None:
        subparsers.add_parser("probe").set_defaults(func=func)

    monkeypatch.setitem(cli.COMMANDS, "probe", add_parser)
    return cli.run(["probe"])


def test_exit_code_of_the_command_is_passed_on(monkeypatch) -> None:
    assert outcome(monkeypatch, lambda _arguments: 0) == 0
    assert outcome(monkeypatch, lambda _arguments: 1) == 1


def test_known_failure_is_one_line(monkeypatch, capsys) -> None:
    def fail(_arguments) -> int:
        raise VrambleError("x", "It\nfailed.", "Try again.", "detail\nlines")

    assert outcome(monkeypatch, fail) == 1
    assert capsys.readouterr().err == "vramble: It failed. Try again.\n"


def test_interrupt_is_one_line(monkeypatch, capsys) -> None:
    def fail(_arguments) -> int:
        raise KeyboardInterrupt

    assert outcome(monkeypatch, fail) == 1
    assert capsys.readouterr().err == "vramble: Interrupted.\n"


def test_a_bug_is_not_hidden(monkeypatch) -> None:
    def fail(_arguments) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        outcome(monkeypatch, fail)


def test_version(capsys) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"vramble {program_version()}\n"


def test_help_lists_every_command(capsys) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for command in cli.COMMANDS:
        assert f"\n    {command} " in shown


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_every_command_has_help_and_json(command, capsys) -> None:
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: vramble {command}")
    assert "--json" in shown or command == "models", "models has it on each of its commands"


@pytest.mark.parametrize("arguments", [["nonsense"], ["chat"], ["devices", "--nonsense"], ["devices", "more"]])
def test_wrong_use_is_2(arguments, capsys) -> None:
    assert main(arguments) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err.startswith("usage: vramble")


def test_no_display_is_one_clear_line(monkeypatch, capsys) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def imported(arguments: list[str], folder: Path) -> set[str]:
    """Top-level modules that the program has imported until it ended."""
    done = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", "-m", "app.main", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=folder,
        env=dict(os.environ),
        timeout=120,
        check=False,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize("arguments", [["--worker"], ["--download"], ["--version"], ["memory", "--json"]])
def test_processes_without_a_window_never_import_qt(arguments, tmp_path) -> None:
    modules = imported(arguments, tmp_path)
    assert "argparse" in modules or "msgspec" in modules, "imports were seen"
    assert "PySide6" not in modules
    assert ("llama_cpp" in modules) is (arguments == ["--worker"])


def test_chat_and_devices_import_neither_qt_nor_the_engine(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", "/bin/false")
    for arguments in (["devices"], ["chat", "hf:a/b/c", "--prompt", "x"]):
        assert not imported(arguments, tmp_path) & {"PySide6", "llama_cpp", "huggingface_hub"}
