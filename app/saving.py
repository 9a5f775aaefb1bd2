"""Text that the user wants as a file, written off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.jobs import Err, Result, SerialRunner
from app.notices import Notice, Notices, Severity
from engine.text_file import write

SHOWN_MS = 8_000


def save_text(runner: SerialRunner, notices: Notices, path: Path, text: str, saved: Callable[[], str]) -> None:
    """Write ``text`` to ``path`` and tell how that went; ``saved`` gives the sentence for success."""

    def done(result: Result[None]) -> None:
        if isinstance(result, Err):
            if not isinstance(result.error, OSError):
                raise result.error
            reason = result.error.strerror or str(result.error)
            sentence = f"{path.name} could not be written: {reason}."
            notices.post(Notice("saved-text", Severity.ERROR, sentence, str(path)))
        else:
            notices.post(Notice("saved-text", Severity.INFO, saved(), timeout_ms=SHOWN_MS))

    runner.run(lambda: write(path, text), done)
