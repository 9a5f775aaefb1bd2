"""What a newcomer does: start, take the starter model, ask, stop, ask again, come back later."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.conftest import STARTER
from tests.e2e.harness import Program, Screen, program

LONG = "Write a very long story about a lighthouse keeper."


def load_starter(run: Program) -> None:
    """Choose the installed starter model in the model picker and wait until it is loaded."""
    run.click("modelPicker")
    run.click_menu("SmolLM2")
    run.until(
        lambda: run.visible("unloadButton") and run.widget("unloadButton")["enabled"], "the model to be loaded", 60
    )


def wait_for_text(run: Program, length: int = 40) -> str:
    def text() -> str:
        rows = run.messages()
        return rows[-1]["text"] if rows and rows[-1]["role"] == "assistant" and len(rows[-1]["text"]) >= length else ""

    return run.until(text, "some text of the answer", 60)


def test_first_run_to_first_answer_and_back(screen: Screen, home: Path) -> None:
    with program(screen, home) as run:
        assert run.widget("starterButton")["enabled"]
        assert run.widget("findModelButton")["enabled"]
        run.click("starterButton")
        run.until(
            lambda: STARTER.split("-")[0] in run.widget("modelPicker")["text"], "the starter model in the picker", 60
        )
        run.until(lambda: run.widget("composer")["focus"], "the focus in the composer")
        run.until(lambda: "CPU" in run.widget("deviceLabel")["text"], "the device")
        run.type("What is the capital of France?")
        run.key("Return")
        answer = run.answer()
        assert answer["text"].strip()
        assert [m["role"] for m in run.messages()] == ["user", "assistant"]
        assert run.widget("composer")["text"] == ""
        assert run.quit() == 0

    with program(screen, home) as run:
        run.until(lambda: len(run.messages()) == 2, "the conversation to be back")
        assert run.messages()[1]["text"] == answer["text"]
        assert any("capital" in row["text"] for row in run.ask("rows", name="conversationList"))


def test_stream_stop_regenerate(screen: Screen, home_for_long_answers: Path) -> None:
    with program(screen, home_for_long_answers) as run:
        load_starter(run)
        run.send(LONG)
        first = wait_for_text(run, 30)
        longer = wait_for_text(run, len(first) + 40)
        assert longer.startswith(first)
        run.click("stopButton")
        stopped = run.answer("stopped")
        assert stopped["text"].startswith(longer)
        run.until(lambda: run.visible("sendButton"), "Send in place of Stop")
        run.until(lambda: run.widget("composer")["focus"], "the focus in the composer")

        run.click("regenerateButton")
        run.until(lambda: run.messages()[-1]["versions"] == 2, "a second version")
        wait_for_text(run, 30)
        run.key("Escape")
        again = run.answer("stopped")
        assert (again["version"], again["versions"]) == (2, 2)
        assert len(run.messages()) == 2

        run.click("versionBackButton")
        run.until(lambda: run.messages()[-1]["version"] == 1, "the first version")
        assert run.messages()[-1]["text"] == stopped["text"]


def test_switching_conversations_keeps_answers_apart(screen: Screen, home_for_long_answers: Path) -> None:
    with program(screen, home_for_long_answers) as run:
        load_starter(run)
        run.send(LONG)
        begun = wait_for_text(run, 30)
        run.click("newChatButton")
        run.until(lambda: run.messages() == [], "an empty conversation")
        run.until(lambda: run.widget("composer")["focus"], "the focus in the composer")
        run.click_row("conversationList", "lighthouse")
        run.until(lambda: len(run.messages()) == 2, "the first conversation")
        grown = wait_for_text(run, len(begun) + 40)
        assert grown.startswith(begun)
        run.key("Escape")
        run.answer("stopped")


def test_shift_enter_breaks_the_line(screen: Screen, home_with_starter: Path) -> None:
    with program(screen, home_with_starter) as run:
        load_starter(run)
        run.click("composer")
        run.type("one")
        run.key("shift+Return")
        run.type("two")
        assert run.until(
            lambda: run.widget("composer")["text"] == "one\ntwo" and run.widget("composer")["text"], "two lines"
        )
        assert run.messages() == []
        run.key("Return")
        run.until(lambda: run.messages(), "the message")
        assert run.messages()[0]["text"] == "one\ntwo"
        run.answer()


def test_rename_and_delete_with_undo_by_keyboard(screen: Screen, home_with_starter: Path) -> None:
    with program(screen, home_with_starter) as run:
        load_starter(run)
        run.send("Hi")
        run.answer()
        run.click_row("conversationList", "Hi")
        run.key("F2")
        run.key("ctrl+a")
        run.type("Greetings")
        run.key("Return")
        run.until(
            lambda: any("Greetings" in r["text"] for r in run.ask("rows", name="conversationList")), "the new title"
        )
        run.key("Delete")
        run.until(
            lambda: not any("Greetings" in r["text"] for r in run.ask("rows", name="conversationList")), "the row to go"
        )
        run.click_button("Undo")
        run.until(
            lambda: any("Greetings" in r["text"] for r in run.ask("rows", name="conversationList")),
            "the row to come back",
        )
        run.click_row("conversationList", "Greetings")
        run.until(lambda: len(run.messages()) == 2, "its messages")
