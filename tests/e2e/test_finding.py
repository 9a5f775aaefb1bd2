"""Search, folders, archive, backup and a second start through the real window."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.chat.store import Store
from tests.e2e.harness import ROOT, Program, Screen, program
from tests.engine.chat.support import turn
from tests.shots import make_home


def history(home: Path) -> None:
    now = [time.time() - 1000]
    store = Store.open(home / "data" / "vramble.sqlite3", lambda: now[0])
    for name in ("walrus", "kernel", "holiday"):
        now[0] += 100
        turn(store, name, f"What about the {name}?", f"All that is known of the {name} and of memory.")
    store.close()


def titles(run: Program) -> list[str]:
    return [row["text"] for row in run.ask("rows", name="conversationList")]


def wait_for(run: Program, wanted: list[str]) -> None:
    run.until(lambda: titles(run) == wanted, f"{wanted}, not {titles(run)}", 60)


def test_search_leads_to_the_message(screen: Screen, tmp_path: Path) -> None:
    history(tmp_path / "home")
    with program(screen, tmp_path / "home") as run:
        wait_for(run, ["What about the holiday?", "What about the kernel?", "What about the walrus?"])
        run.focus_window(run.widget("conversationList")["window"])
        run.key("ctrl+shift+f")
        run.until(lambda: run.widget("conversationSearch")["focus"], "the search to have the keyboard", 60)
        run.type("known walr")
        run.until(lambda: len(run.ask("rows", name="searchResults")) == 1, "one hit", 60)
        run.key("Down")
        run.until(lambda: run.widget("searchResults")["focus"], "the results to have the keyboard", 60)
        run.key("Return")
        run.until(lambda: [row["text"] for row in run.messages()][:1] == ["What about the walrus?"], "the message", 60)


def test_archive_and_undo(screen: Screen, tmp_path: Path) -> None:
    history(tmp_path / "home")
    with program(screen, tmp_path / "home") as run:
        wait_for(run, ["What about the holiday?", "What about the kernel?", "What about the walrus?"])
        run.click_row("conversationList", "kernel", 3)
        run.click_menu("Archive")
        wait_for(run, ["What about the holiday?", "What about the walrus?"])
        run.click("archiveButton", 60)
        wait_for(run, ["What about the kernel?"])
        run.click("archiveButton", 60)
        wait_for(run, ["What about the holiday?", "What about the walrus?"])
        run.click_button("Undo", 60)
        wait_for(run, ["What about the holiday?", "What about the kernel?", "What about the walrus?"])


def test_a_conversation_is_dragged_into_a_folder(screen: Screen, tmp_path: Path) -> None:
    history(tmp_path / "home")
    store = Store.open(tmp_path / "home" / "data" / "vramble.sqlite3")
    store.make_folder("f", "Animals")
    store.close()
    with program(screen, tmp_path / "home") as run:
        wait_for(run, ["Animals", "What about the holiday?", "What about the kernel?", "What about the walrus?"])
        rows = {row["text"]: row["rect"] for row in run.ask("rows", name="conversationList")}
        run.focus_window(run.widget("conversationList")["window"])

        def lower_middle(rect: list[int]) -> tuple[str, str]:
            return str(rect[0] + rect[2] // 2), str(rect[1] + rect[3] - 18)

        start, end = lower_middle(rows["What about the walrus?"]), lower_middle(rows["Animals"])
        screen.xdotool("mousemove", *start, "mousedown", "1")
        for step in range(1, 9):
            place = [str(int(a) + (int(b) - int(a)) * step // 8) for a, b in zip(start, end, strict=True)]
            screen.xdotool("mousemove", *place)
        screen.xdotool("mousemove", *end, "mouseup", "1")
        wait_for(run, ["Animals", "What about the walrus?", "What about the holiday?", "What about the kernel?"])


def test_a_temporary_chat_is_never_written(screen: Screen, tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", "light", with_model=True)
    with program(screen, home) as run:
        run.click("temporaryChatButton", 60)
        run.click("composer", 60)
        run.type("xylophonequartz")
        run.until(lambda: run.widget("composer")["text"] == "xylophonequartz", "the text", 60)
        run.quit(60)
    content = b"".join(path.read_bytes() for path in (home / "data").glob("vramble.sqlite3*"))
    assert b"xylophonequartz" not in content


@pytest.mark.slow
def test_a_second_start_raises_the_first(screen: Screen, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with program(screen, home) as run:
        run.widget("newChatButton", 60)
        environ = {
            **os.environ,
            "DISPLAY": screen.display,
            "VRAMBLE_HOME": str(home),
            "QT_QPA_PLATFORM": "xcb",
            "PYTHONPATH": str(ROOT),
        }
        command = [sys.executable, "-P", "-m", "app.main"]
        second = subprocess.run(command, env=environ, cwd=home, timeout=120, check=False)
        assert second.returncode == 0
        assert run.process.poll() is None
        assert run.visible("newChatButton")
