"""The GUI thread does not wait: no file access, nested event loop or sleep in `app` and `ui`, by their syntax trees.

A card that was pulled out, or a network drive, answers `stat` after half a minute. Who needs a file asks the engine on
a runner (`app/jobs.py`).
"""

from __future__ import annotations

import ast

import pytest

from tests.test_import_rules import sources

FILES = {
    "exists", "is_dir", "is_file", "is_symlink", "stat", "lstat", "glob", "rglob", "iterdir", "read_text", "read_bytes",
    "write_text", "write_bytes", "mkdir", "unlink", "rmdir", "touch", "readlink", "symlink_to", "samefile",
}  # fmt: skip
"""Methods of `pathlib.Path` that ask the file system, as far as nothing else is called so."""

WAITS = {
    "processEvents",
    "waitForFinished",
    "waitForStarted",
    "waitForReadyRead",
    "waitForBytesWritten",
    "sleep",
    "exec",
}

ALLOWED = {
    "app.settings.file": FILES,  # read before there is a window, written on a runner
    "app.crash": {"mkdir"},  # before there is a window
    "ui.theming.icons": {"glob", "read_text"},  # a font of the installation, once
    "ui.start_trace": {"read_text"},  # /proc, and only when asked for
    "ui.start": {"exec"},  # the event loop itself
    "ui.single_instance": {"waitForBytesWritten", "waitForReadyRead"},  # before there is a window, bounded
    "app.worker.process": {"waitForFinished"},  # after the event loop, bounded
    "app.downloads.child": {"waitForFinished"},  # likewise
    "app.hub.child": {"waitForFinished"},  # likewise
    "app.library.scan_process": {"waitForFinished"},  # likewise
    "app.pad.service": {"waitForFinished"},  # likewise
}


OF_COMMANDS = {
    "app.cli",
    "app.chat.load_flags",
    "app.chat.sampling_flags",
    "app.chat.talk_file",
    "app.chat.typing_line",
    "app.library.folders_command",
    "app.settings.saved",
}
"""Modules that only commands use."""


def in_a_window(name: str) -> bool:
    """Whether the module runs on the GUI thread; commands have no window."""
    return name.split(".")[0] in ("app", "ui") and not name.endswith(".commands") and name not in OF_COMMANDS


def problems_in(name: str, source: str) -> list[str]:
    found = {
        node.func.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    wrong = (found & (FILES | WAITS)) - ALLOWED.get(name, set())
    return [f"{name} calls {call}(): the window would wait for it" for call in sorted(wrong)]


def test_nothing_waits_on_the_gui_thread() -> None:
    problems = []
    for name, path in sources().items():
        if in_a_window(name):
            problems += problems_in(name, path.read_text(encoding="utf-8"))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("line", ["model.path.exists()", "dialog.exec()", "QApplication.processEvents()"])
def test_the_rule_can_fail(line: str) -> None:
    assert problems_in("ui.library.window", line)


def test_every_exception_is_still_needed() -> None:
    for name, calls in ALLOWED.items():
        source = sources()[name].read_text(encoding="utf-8")
        assert any(f".{call}(" in source for call in calls), f"{name} needs no exception any more"
