"""Steering a conversation in the real window: thoughts, edits, continuing, branches, parameters, waiting messages."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Program, Screen, program
from tests.fakes.fake_worker import journal_entries, worker_command

Start = Callable[..., contextlib.AbstractContextManager[Program]]


@pytest.fixture
def start(screen: Screen, home_with_starter: Path, tmp_path: Path) -> Start:
    """Starts the program with a worker that plays ``generate``, the model loaded."""

    @contextlib.contextmanager
    def started(*generate: dict[str, Any], load: bool = True) -> Iterator[Program]:
        script = {"generate": list(generate), "journal": str(tmp_path / "journal")}
        command = worker_command(script, tmp_path)
        with program(screen, home_with_starter, {"VRAMBLE_WORKER_COMMAND": command}) as run:
            if load:
                run.click("modelPicker")
                run.click_menu("SmolLM2")
                run.until(lambda: run.visible("unloadButton"), "the model", 60)
            yield run

    return started


def asked(folder: Path) -> list[dict[str, Any]]:
    """The requests for answers that reached the worker."""
    frames = [entry.get("frame", {}) for entry in journal_entries(folder / "journal")]
    return [frame for frame in frames if frame.get("type") == "generate"]


def test_a_thought_folds(start: Start, tmp_path: Path) -> None:
    thought = tmp_path / "thought"
    with start({"text": "Because.", "thinking": "First this. Then that.", "gate": str(thought)}) as run:
        run.send("Why?")
        run.until(
            lambda: run.visible("thoughtButton") and "Thinking" in run.widget("thoughtButton")["text"], "a thought"
        )
        thought.touch()
        run.answer()
        run.until(lambda: run.widget("thoughtButton")["text"].startswith("Thought for"), "its time")
        assert run.widget("thoughtButton")["accessible"].endswith("hidden")
        run.click("thoughtButton")
        run.until(lambda: run.widget("thoughtButton")["accessible"].endswith("shown"), "the thought")


def test_edit_by_the_up_key_and_back(start: Start) -> None:
    with start({}) as run:
        run.send("one")
        run.answer()
        run.type("half typed")
        run.key("ctrl+a", "BackSpace")
        run.key("Up")
        run.until(lambda: run.widget("composer")["text"] == "one", "the message in the box")
        run.key("Escape")
        run.until(lambda: run.widget("composer")["text"] == "", "the empty box")
        run.key("Up", "End")
        run.type(" more")
        run.key("Return")
        run.until(lambda: run.messages()[0]["versions"] == 2, "another version")
        assert run.answer()["text"] == "one more"
        run.click("versionBackButton")
        run.until(lambda: run.messages()[0]["text"] == "one", "the first version")


def test_continue_branch_delete_undo(start: Start, tmp_path: Path) -> None:
    with start({"text": "one two ", "reason": "length"}, {"text": "three"}) as run:
        run.send("Count")
        run.answer()
        run.click("continueButton")
        run.until(lambda: run.messages()[-1]["text"] == "one two three", "the rest")
        assert asked(tmp_path)[-1]["prefill"] == "one two "
        run.click("messageMenuButton")
        run.click_menu("New conversation")
        run.until(lambda: len(run.ask("rows", name="conversationList")) == 2, "the branch")
        run.until(lambda: len(run.messages()) == 2, "its messages")
        run.click("messageMenuButton")
        run.click_menu("Delete from here")
        run.until(lambda: len(run.messages()) == 1, "the answer to go")
        run.click_button("Undo")
        run.until(lambda: len(run.messages()) == 2, "it to be back")


def test_parameters_are_used_and_there_after_a_restart(start: Start, tmp_path: Path) -> None:
    with start({}) as run:
        run.key("ctrl+i")
        run.until(lambda: run.widget("parameter-system_prompt")["focus"], "the panel")
        run.type("Be short.")
        run.click("parameter-temperature")
        run.key("ctrl+a")
        run.type("1.5")
        run.key("Tab")
        run.send("Hi")
        run.answer()
        request = asked(tmp_path)[-1]
        first = request["messages"][0]
        assert (first["role"], first["content"]) == ("system", "Be short.")
        assert request["sampling"]["temperature"] == 1.5
        assert run.quit() == 0
    with start({}, load=False) as run:
        run.until(lambda: run.widget("parameter-system_prompt")["text"] == "Be short.", "the system prompt")
        run.click("parametersButton")
        run.until(lambda: not run.visible("parameterPanel"), "the panel to go")


def drops(run: Program) -> list[dict[str, Any]]:
    """The buttons that take a waiting message away."""
    found: list[dict[str, Any]] = run.ask("find", name="dropQueuedButton")
    return found


def test_a_message_waits_for_the_answer(start: Start, tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    with start({"text": "slow " * 20, "gate": str(slow), "gate_after": 3}, {"text": "fast"}) as run:
        run.send("one")
        run.until(lambda: run.messages() and run.messages()[-1]["text"], "some text")
        run.type("two")
        run.key("Return")
        run.until(lambda: run.visible("queueBar"), "the waiting message")
        run.type("three")
        run.key("Return")
        run.until(lambda: len({drop["rect"][1] for drop in drops(run)}) == 2, "both")
        run.press(lambda: min(drops(run), key=lambda drop: int(drop["rect"][1]), default=None), "the upper one")
        run.until(lambda: len(drops(run)) == 1, "the other one")
        slow.touch()
        run.until(lambda: run.messages()[-1]["text"] == "fast", "its answer", 60)
        assert [m["text"] for m in run.messages()][2:] == ["three", "fast"]
        assert not run.visible("queueBar")
