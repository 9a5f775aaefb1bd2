"""A context that is full, in the real window: the summary of what does not fit, and the user's hand in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Program, Screen, program
from tests.fakes.fake_worker import journal_entries, worker_command

LONG = " ".join(["tide-tables-and-boats"] * 11)
SMALL = {"n_ctx": 1024}
MANY = {"prompt_tokens": 1000}
"""Of few characters: then a short conversation fills the context."""


@pytest.fixture
def full(screen: Screen, home_with_starter: Path, tmp_path: Path) -> Iterator[Program]:
    """Two long turns that fill the context; the third question is answered behind a summary of the first turn."""
    settings = {"version": 1, "chat": {"max_tokens": 40, "temperature": 0.0, "overflow": "summarise"}}
    (home_with_starter / "config/settings.json").write_text(json.dumps(settings))
    texts = (LONG, LONG, "They spoke of boats.", "Third.", "Fourth.", "Boats and tides.", "Fifth.", "Sixth.")
    script = {
        "generate": [{"text": text, "stats": MANY} for text in texts],
        "load": {"info": SMALL},
        "journal": str(tmp_path / "journal"),
    }
    environ = {"VRAMBLE_WORKER_COMMAND": worker_command(script, tmp_path)}
    with program(screen, home_with_starter, environ) as run:
        run.click("modelPicker")
        run.click_menu("SmolLM2")
        run.until(lambda: run.visible("unloadButton"), "the model", 60)
        for number, text in enumerate(("one", "two", "three")):
            ask(run, text, (LONG, LONG, "Third.")[number])
        yield run


def ask(run: Program, question: str, answer: str) -> None:
    run.send(question)
    run.until(lambda: [m["text"] for m in run.messages()[-2:]] == [question, answer], f"the answer to {question}")
    run.answer()


def prompt(folder: Path) -> list[str]:
    """What the worker was asked last."""
    frames = [entry.get("frame", {}) for entry in journal_entries(folder / "journal")]
    last: dict[str, Any] = [frame for frame in frames if frame.get("type") == "generate"][-1]
    return [message["content"] for message in last["messages"]]


def block(run: Program) -> dict[str, Any]:
    """What stands for the earlier messages."""
    found: dict[str, Any] = next((row for row in run.ask("shown") if row["stands_for"]), {})
    return found


def look_at_the_start(run: Program) -> None:
    run.click("transcript")
    run.key("Home")
    run.until(lambda: run.visible("editSummaryButton"), "the summary")


def test_a_summary_is_edited_made_again_and_removed(full: Program, tmp_path: Path) -> None:
    assert block(full) == {"author": "Summary of 2 earlier messages", "text": "They spoke of boats.", "stands_for": 2}
    assert prompt(tmp_path)[0].endswith("They spoke of boats.")

    look_at_the_start(full)
    full.click("editSummaryButton")
    full.until(lambda: full.widget("composer")["text"] == "They spoke of boats.", "the summary in the box")
    assert "summary" in " ".join(full.ask("texts", name="editingBar"))
    full.key("ctrl+a")
    full.type("It was about birds.")
    full.key("Return")
    full.until(lambda: block(full)["text"] == "It was about birds.", "the other summary")
    full.until(lambda: full.widget("composer")["text"] == "", "the empty box")
    ask(full, "four", "Fourth.")
    assert prompt(tmp_path)[0].endswith("\nIt was about birds.")
    assert not any("boats" in text for text in prompt(tmp_path)[:2])

    look_at_the_start(full)
    full.click("remakeSummaryButton")
    full.until(lambda: block(full)["text"] == "Boats and tides.", "the summary of the model")
    ask(full, "five", "Fifth.")
    assert prompt(tmp_path)[0].endswith("Boats and tides.")

    look_at_the_start(full)
    full.click("removeSummaryButton")
    full.until(lambda: block(full)["author"] == "2 earlier messages left out", "no summary")
    ask(full, "six", "Sixth.")
    assert prompt(tmp_path)[0] == "two"
    full.click_button("Undo")
    full.until(lambda: block(full)["text"] == "Boats and tides.", "it to be back")


def test_it_is_there_after_a_restart(full: Program, screen: Screen, home_with_starter: Path, tmp_path: Path) -> None:
    look_at_the_start(full)
    full.click("editSummaryButton")
    full.key("ctrl+a")
    full.type("It was about birds.")
    full.key("Return")
    full.until(lambda: block(full)["text"] == "It was about birds.", "the other summary")
    assert full.quit() == 0
    script = {
        "load": {"info": SMALL},
        "generate": {"text": "Well.", "stats": MANY},
        "journal": str(tmp_path / "journal"),
    }
    environ = {"VRAMBLE_WORKER_COMMAND": worker_command(script, tmp_path)}
    with program(screen, home_with_starter, environ) as run:
        run.until(lambda: len(run.messages()) == 6, "the conversation")
        ask(run, "four", "Well.")
        assert prompt(tmp_path)[0].endswith("\nIt was about birds.")
        run.until(lambda: block(run).get("text") == "It was about birds.", "the summary")
