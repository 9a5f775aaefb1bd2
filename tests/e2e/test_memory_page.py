"""The memory page as a user meets it: by mouse and by keyboard, on recorded machines and with the real engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.harness import Program, Screen, program
from tests.e2e.test_first_chat import load_starter
from tests.fakes.sysroot import build_sysroot


def readout(run: Program) -> str:
    text: str = run.widget("memoryReadout")["text"]
    return text


def until_told(run: Program, text: str, seconds: float = 90) -> str:
    run.until(lambda: text in readout(run), f"{text!r} to be told, told is {readout(run)!r}", seconds)
    return readout(run)


def table(run: Program) -> list[list[str]]:
    columns = [[row["text"] for row in run.ask("rows", name="memoryTable", column=column)] for column in range(4)]
    return [list(row) for row in zip(*columns, strict=True)]


def on_machine(name: str, folder: Path) -> dict[str, str]:
    return {"VRAMBLE_SYSROOT": str(build_sysroot(name, folder / name))}


def focused(run: Program) -> dict[str, Any]:
    found: dict[str, Any] = run.ask("focus") or {}
    return found


def test_a_click_on_the_strip_and_the_arrow_keys_tell_who_holds_what(
    screen: Screen, home: Path, tmp_path: Path
) -> None:
    with program(screen, home, on_machine("rx7900xtx", tmp_path)) as run:
        run.until(lambda: "RX 7900 XTX" in run.widget("memoryStrip")["description"], "the first sample")
        run.click("memoryStrip")
        window = run.widget("memoryWindow")
        run.focus_window(window["window"])
        run.until(lambda: focused(run).get("class") == "BarView", "the keyboard on the first bar")
        run.key("End")
        assert "Free. 14.4 GiB" in until_told(run, "VRAM: Free")
        run.key("Left")
        until_told(run, "In use by the system")
        run.key("Tab", "Home")
        until_told(run, "GTT: python3, another program. 0.3 GiB")
        run.click("memoryTableButton")
        run.until(lambda: run.visible("memoryTable"), "the table")
        rows = table(run)
        assert ["AMD Radeon RX 7900 XTX", "", "24.0 GiB", ""] in rows
        assert any(row[0] == "VRAM" and row[1] == "firefox" and row[2] == "1.1 GiB" for row in rows)
        run.key("ctrl+t")
        run.until(lambda: not run.visible("memoryTable"), "the bars again")
        run.key("Escape")
        run.until(lambda: not run.visible("memoryWindow"), "the page to close")
        assert run.quit() == 0


def test_a_load_and_an_answer_are_marked_in_the_history(
    screen: Screen, home_with_starter: Path, tmp_path: Path
) -> None:
    with program(screen, home_with_starter, on_machine("no_gpu", tmp_path)) as run:
        load_starter(run)
        run.send("What is the capital of France?")
        run.answer()
        run.key("ctrl+shift+m")
        window = run.widget("memoryWindow")
        run.focus_window(window["window"])
        plot = run.widget("memoryHistory")
        assert "System memory (RAM)" in plot["description"]
        run.click("memoryHistory")
        run.key("Home", "Down")
        until_told(run, "was loaded")
        run.key("Down")
        assert "SmolLM2" in until_told(run, "answered for")
        run.key("Escape")
        run.until(lambda: not run.visible("memoryWindow"), "the page to close")
        run.click("unloadButton")
        run.until(lambda: not run.visible("unloadButton"), "the model to be gone")
        run.key("ctrl+shift+m")
        run.focus_window(run.widget("memoryWindow")["window"])
        run.click("memoryHistory")
        run.key("End")
        run.key("Up")
        until_told(run, "was unloaded")
        assert run.quit() == 0


def test_a_sleeping_card_stays_asleep(screen: Screen, home: Path, tmp_path: Path) -> None:
    with program(screen, home, on_machine("laptop_sleeping_dgpu", tmp_path)) as run:
        run.until(lambda: run.widget("memoryStrip")["description"], "the first sample")
        run.click("memoryStrip")
        run.focus_window(run.widget("memoryWindow")["window"])
        texts = run.until(lambda: run.ask("texts", name="memoryBlock-0000:03:00.0"), "the block of the card")
        assert "8.0 GiB, asleep" in [text.replace("\N{NO-BREAK SPACE}", " ") for text in texts]
        assert run.quit() == 0
