"""Two conversations answer at once in the real window; the worker plays answers that do not end by themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import limit_answers
from tests.e2e.harness import Program, Screen, program
from tests.fakes.fake_worker import journal_entries, worker_command

UNO = {"text": "uno " * 200_000, "delay": 0.02}
DUE = {"text": "due " * 200_000, "delay": 0.02}
WRITTEN = "an answer is being written"


class Two:
    """A program with two conversations that are being answered; the second one is open."""

    def __init__(self, run: Program, journal: Path) -> None:
        self.run, self.journal = run, journal

    def answering(self) -> list[str]:
        """Titles that the list marks."""
        rows = self.run.ask("rows", name="conversationList")
        return sorted(row["text"] for row in rows if WRITTEN in row["spoken"])

    def go(self, title: str, word: str) -> None:
        """Open a conversation whose answer is being written."""
        self.run.click_row("conversationList", title)
        self.run.until(lambda: self.text().startswith(word), f"the answer in {title}")

    def text(self) -> str:
        rows = self.run.messages()
        return str(rows[-1]["text"]) if rows else ""

    def grows(self) -> None:
        """What is shown is being written."""
        seen = len(self.text())
        self.run.until(lambda: len(self.text()) > seen, "more of the answer")

    def cancelled(self) -> list[str]:
        """What was asked by the requests that were cancelled."""
        frames: list[dict[str, Any]] = [entry.get("frame", {}) for entry in journal_entries(self.journal)]
        asked = {f["id"]: f["messages"][-1]["content"] for f in frames if f.get("type") == "generate"}
        return [asked[frame["target"]] for frame in frames if frame.get("type") == "cancel"]


@pytest.fixture
def home(home_with_starter: Path) -> Path:
    """Answers there last until they are stopped."""
    limit_answers(home_with_starter, 1_000_000)
    return home_with_starter


@contextmanager
def two_answers(screen: Screen, home: Path, folder: Path) -> Iterator[Two]:
    journal = folder / "journal"
    command = worker_command({"generate": [UNO, DUE], "journal": str(journal)}, folder)
    with program(screen, home, {"VRAMBLE_WORKER_COMMAND": command}) as run:
        run.click("modelPicker")
        run.click_menu("SmolLM2")
        run.until(lambda: run.visible("unloadButton"), "the model")
        two = Two(run, journal)
        run.send("first")
        run.until(lambda: two.text().startswith("uno"), "the first answer")
        run.click("newChatButton")
        run.until(lambda: run.messages() == [], "the new chat")
        run.send("second")
        run.until(lambda: two.text().startswith("due"), "the second answer")
        run.until(lambda: two.answering() == ["first", "second"], "the marks in the list")
        yield two


@pytest.mark.slow
def test_both_stream_and_stop_is_for_the_one_that_is_seen(screen: Screen, home: Path, tmp_path: Path) -> None:
    with two_answers(screen, home, tmp_path) as two:
        run = two.run
        two.grows()
        two.go("first", "uno")
        two.grows()
        two.go("second", "due")
        two.grows()
        run.click("stopButton")
        assert run.answer("stopped")["text"].startswith("due")
        assert two.cancelled() == ["second"]
        run.until(lambda: two.answering() == ["first"], "one mark less")
        two.go("first", "uno")
        two.grows()
        run.key("Escape")
        assert run.answer("stopped")["text"].startswith("uno")
        run.until(lambda: two.answering() == [], "no mark")


@pytest.mark.slow
def test_deleting_one_stops_it_and_quitting_saves_the_other(screen: Screen, home: Path, tmp_path: Path) -> None:
    with two_answers(screen, home, tmp_path) as two:
        run = two.run
        two.go("first", "uno")
        run.key("Delete")
        run.until(lambda: two.cancelled() == ["first"], "the end of its answer")
        run.until(lambda: two.answering() == ["second"], "one mark less")
        two.go("second", "due")
        two.grows()
        seen = two.text()
        assert run.quit() == 0
    with closing(sqlite3.connect(next(home.rglob("vramble.sqlite3")))) as db:
        answers = dict(
            db.execute(
                "SELECT status, content FROM message JOIN part ON part.message = message.id WHERE role = 'assistant'"
                " AND content LIKE 'due%'"
            ).fetchall()
        )
    assert list(answers) == ["stopped"]
    assert answers["stopped"].startswith(seen)


@pytest.mark.slow
def test_quitting_saves_both(screen: Screen, home: Path, tmp_path: Path) -> None:
    with two_answers(screen, home, tmp_path) as two:
        two.grows()
        assert two.run.quit() == 0
    with closing(sqlite3.connect(next(home.rglob("vramble.sqlite3")))) as db:
        answers = db.execute(
            "SELECT status, substr(content, 1, 3) FROM message JOIN part ON part.message = message.id"
            " WHERE role = 'assistant'"
        ).fetchall()
    assert sorted(answers) == [("stopped", "due"), ("stopped", "uno")]
