"""Text becomes a file, or it is told why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.jobs import SerialRunner
from app.notices import Notice, Notices, Severity
from app.saving import save_text
from tests.app.chat.cranked import Cranked


@pytest.fixture
def told(qapp: object) -> tuple[Notices, list[Notice]]:
    notices = Notices()
    seen: list[Notice] = []
    notices.posted.connect(seen.append)
    return notices, seen


def test_a_file_ends_with_a_line_end(told, tmp_path: Path) -> None:
    notices, seen = told
    crank = Cranked()
    runner = SerialRunner(crank)
    save_text(runner, notices, tmp_path / "code.py", "x = 'é'", lambda: "Saved")
    assert not (tmp_path / "code.py").exists(), "nothing is written on this thread"
    crank.drain()
    assert (tmp_path / "code.py").read_text(encoding="utf-8") == "x = 'é'\n"
    assert [(notice.severity, notice.text) for notice in seen] == [(Severity.INFO, "Saved")]


def test_a_folder_that_is_not_there_is_told(told, tmp_path: Path) -> None:
    notices, seen = told
    crank = Cranked()
    runner = SerialRunner(crank)
    save_text(runner, notices, tmp_path / "none" / "code.py", "x", lambda: "Saved")
    crank.drain()
    assert [notice.severity for notice in seen] == [Severity.ERROR]
    assert "code.py could not be written: No such file or directory." in seen[0].text
