"""Kills, in mid-answer: of the window, of the worker. Words that were typed and not sent."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.harness import Program, Screen, program
from tests.e2e.kept import kept_answers, kept_drafts
from tests.e2e.test_first_chat import LONG, load_starter, wait_for_text


def worker_of(run: Program) -> int:
    def find() -> int | None:
        for pid in run.children():
            if b"engine.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        return None

    return run.until(find, "the worker process")


def test_killed_window_loses_at_most_what_was_not_saved_yet(screen: Screen, home_for_long_answers: Path) -> None:
    with program(screen, home_for_long_answers) as run:
        load_starter(run)
        run.send(LONG)
        worker = worker_of(run)
        seen = wait_for_text(run, 100)
        kept = run.until(lambda: [t for t in kept_answers(home_for_long_answers) if t.startswith(seen)], "a save")
        wait_for_text(run, len(kept[0]) + 20)
        run.kill()
        run.until(lambda: not Path(f"/proc/{worker}").exists(), "the worker to end with its window")

    with program(screen, home_for_long_answers) as run:
        run.until(lambda: len(run.messages()) == 2, "the conversation to be back")
        user, answer = run.messages()
        assert user["text"] == LONG
        assert answer["text"].startswith(kept[0]), "what was saved while it was written is lost"
        assert answer["status"] == "stopped"


def test_killed_worker_loses_nothing(screen: Screen, home_for_long_answers: Path) -> None:
    with program(screen, home_for_long_answers) as run:
        load_starter(run)
        run.send(LONG)
        shown = wait_for_text(run, 80)
        os.kill(worker_of(run), signal.SIGKILL)
        partial = run.answer("failed")
        assert partial["text"].startswith(shown)

        def told() -> bool:
            notice = " ".join(run.ask("texts", name="noticeBar")).lower()
            return "killed" in notice or "memory" in notice

        run.until(told, "a notice")

        run.send("Say hello.")
        run.until(lambda: len(run.messages()) == 4, "the second answer to begin")
        wait_for_text(run, 1)
        run.key("Escape")
        run.answer("stopped")
        texts = [m["text"] for m in run.messages()]
        assert texts[1] == partial["text"]
        assert len(texts) == 4


def test_worker_killed_while_idle_is_noticed_and_comes_back(screen: Screen, home_with_starter: Path) -> None:
    with program(screen, home_with_starter) as run:
        load_starter(run)
        os.kill(worker_of(run), signal.SIGSEGV)
        run.until(lambda: run.visible("noticeBar"), "a notice")
        run.send("Hi")
        assert run.answer()["text"].strip()


def test_quitting_in_mid_answer_leaves_nothing_running(screen: Screen, home_for_long_answers: Path) -> None:
    with program(screen, home_for_long_answers) as run:
        load_starter(run)
        run.send(LONG)
        shown = wait_for_text(run, 60)
        worker = worker_of(run)
        assert run.quit() == 0
        assert not Path(f"/proc/{worker}").exists()
        assert "QThread" not in run.log()

    with program(screen, home_for_long_answers) as run:
        run.until(lambda: len(run.messages()) == 2, "the conversation to be back")
        assert run.messages()[1]["text"].startswith(shown)


@pytest.mark.parametrize("end", ["quit", "killed"])
def test_text_that_was_not_sent_is_back_after_a_restart(screen: Screen, home_with_starter: Path, end: str) -> None:
    with program(screen, home_with_starter) as run:
        load_starter(run)
        run.send("Hi")
        run.answer()
        run.click("composer")
        run.type("for this conversation")
        run.click("newChatButton")
        run.until(lambda: not run.messages() and run.widget("composer")["text"] == "", "an empty new chat")
        run.type("for a new chat")
        run.until(lambda: run.widget("composer")["text"] == "for a new chat", "the text")
        if end == "quit":
            assert run.quit() == 0
        else:
            wanted = {"for a new chat", "for this conversation"}
            run.until(lambda: set(kept_drafts(home_with_starter)) == wanted, "the drafts to be saved")
            run.kill()

    with program(screen, home_with_starter) as run:
        run.until(lambda: run.widget("composer")["text"] == "for a new chat", "the draft of the new chat to be back")
        run.click_row("conversationList", "Hi")
        run.until(lambda: run.widget("composer")["text"] == "for this conversation", "the draft of the conversation")
