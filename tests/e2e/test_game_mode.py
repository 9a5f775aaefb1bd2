"""Game Mode: one window, each page by keyboard alone and back, by a pad, and Steam's keyboard."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import Program, Screen, program
from tests.fakes.pad import FakePad
from tests.fakes.sysroot import build_sysroot


class Deck:
    """A Steam Deck in Game Mode: its tree, its pad, a Steam that notes what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.user = folder / "user"
        self.user.mkdir(parents=True)
        self.root = build_sysroot("steam_deck", folder / "root")
        self.pad = FakePad(self.root)
        self.asked = folder / "asked"
        steam = folder / "bin/steam"
        steam.parent.mkdir()
        steam.write_text(f'#!/bin/sh\necho "$2" >> "{self.asked}"\n')
        steam.chmod(0o755)
        self.environ = {
            "XDG_CURRENT_DESKTOP": "gamescope",
            "VRAMBLE_SYSROOT": str(self.root),
            "HOME": str(self.user),
            "PATH": f"{steam.parent}:{os.environ['PATH']}",
        }

    def keyboards(self) -> list[str]:
        """Addresses that Steam was asked to open."""
        return self.asked.read_text().splitlines() if self.asked.exists() else []


@pytest.fixture
def deck(tmp_path: Path) -> Iterator[Deck]:
    made = Deck(tmp_path / "deck")
    yield made
    made.pad.close()


def focus(run: Program) -> str:
    return str((run.ask("focus") or {}).get("name"))


def wait_focus(run: Program, name: str) -> None:
    run.until(lambda: focus(run) == name, f"the focus at {name}; it is at {run.ask('focus')}")


def start(run: Program) -> int:
    """The window with a loaded model and the keyboard in the composer."""
    main = int(run.widget("mainWindow")["window"])
    run.click("modelPicker")
    run.click_menu("SmolLM2")
    run.until(lambda: run.visible("unloadButton") and run.widget("unloadButton")["enabled"], "the model")
    wait_focus(run, "composer")
    return main


def enter(run: Program, main: int, keys: str, name: str, title: str) -> None:
    """Open a page by its key: it lies in the one window, under its heading."""
    run.key(keys)
    assert run.widget(name)["window"] == main
    run.until(lambda: run.widget("pageTitle")["text"].startswith(title), f"the heading {title}")
    assert not run.visible("composer")


def leave(run: Program) -> None:
    """Back by Escape: the chat has the keyboard where it was."""
    run.key("Escape")
    run.until(lambda: run.visible("composer"), "the chat")
    wait_focus(run, "composer")


def test_each_page_by_keyboard_alone(screen: Screen, home_with_starter: Path, deck: Deck) -> None:
    with program(screen, home_with_starter, deck.environ) as run:
        main = start(run)
        enter(run, main, "ctrl+comma", "settingsWindow", "Settings")
        wait_focus(run, "settingsPage-general")
        run.key("Down", "Down", "Return")
        run.until(lambda: run.visible("engine-n_ctx"), "the page of the engine")
        before = run.widget("engine-n_ctx")["value"]
        run.key("Right")
        run.until(lambda: not focus(run).startswith("settingsPage-"), "the keyboard in the page")
        run.key("ctrl+Next")
        run.until(lambda: run.visible("settingsPage-devices") and not run.visible("engine-n_ctx"), "the next page")
        run.key("ctrl+Prior")
        run.until(lambda: run.visible("engine-n_ctx"), "the page of the engine again")
        assert run.widget("engine-n_ctx")["value"] == before
        leave(run)

        enter(run, main, "ctrl+shift+m", "memoryWindow", "Memory")
        hint = run.widget("memoryReadout")["text"]
        run.key("Right")
        run.until(lambda: run.widget("memoryReadout")["text"] != hint, "the figures of a part of the bar")
        run.key("ctrl+t")
        run.until(lambda: run.visible("memoryTable"), "the table")
        run.key("ctrl+t")
        leave(run)

        enter(run, main, "ctrl+shift+b", "benchWindow", "Benchmark")
        wait_focus(run, "benchRun")
        run.key("Up")
        wait_focus(run, "benchRuns")
        runs = run.widget("benchRuns")["value"]
        run.key("Right")
        run.until(lambda: run.widget("benchRuns")["value"] == runs + 1, "one run more")
        run.key("Up")
        run.until(lambda: focus(run) != "benchRuns", "the field above")
        assert run.widget("benchRuns")["value"] == runs + 1
        leave(run)

        enter(run, main, "ctrl+shift+o", "loadDialog", "Load options")
        wait_focus(run, "n_ctxSlider")
        context = run.widget("n_ctx")["value"]
        run.key("Left")
        run.until(lambda: run.widget("n_ctx")["value"] < context, "a smaller context")
        leave(run)

        enter(run, main, "ctrl+m", "modelManager", "Models")
        wait_focus(run, "installedTable")
        run.key("ctrl+Next")
        run.until(lambda: run.visible("downloadsList") or not run.visible("installedTable"), "the downloads")
        leave(run)

        enter(run, main, "F1", "shortcutsSheet", "Keyboard shortcuts")
        leave(run)


def test_dialogs_over_pages_and_the_own_picker(screen: Screen, home_with_starter: Path, deck: Deck) -> None:
    (deck.user / "models").mkdir()
    with program(screen, home_with_starter, deck.environ) as run:
        main = start(run)
        enter(run, main, "ctrl+m", "modelManager", "Models")
        wait_focus(run, "installedTable")
        run.key("Up")
        run.until(lambda: focus(run) != "installedTable", "the line above the table")
        run.click("showFolderButton")
        run.until(
            lambda: any("Game Mode shows no file manager" in text for text in run.ask("texts", name="noticeBar")),
            "where the folder is",
        )
        run.click("importButton")
        assert run.widget("picker")["window"] == main
        run.until(lambda: [row["text"] for row in run.ask("rows", name="pickerList")] == ["models"], "the folder")
        wait_focus(run, "pickerList")
        run.key("Return")
        run.until(lambda: run.visible("pickerNothing"), "the empty folder")
        wait_focus(run, "pickerUp")
        run.key("Return")
        run.until(lambda: run.visible("pickerList"), "the folder above")
        run.key("Escape")
        run.until(lambda: run.visible("installedTable"), "the models")
        wait_focus(run, "importButton")
        run.key("ctrl+shift+o")
        run.widget("loadDialog")
        run.key("Escape")
        run.until(lambda: run.visible("installedTable"), "the models again")
        wait_focus(run, "importButton")
        leave(run)


def test_by_pad(screen: Screen, home_with_starter: Path, deck: Deck) -> None:
    with program(screen, home_with_starter, deck.environ) as run:
        start(run)
        run.until(lambda: run.visible("hint-x"), "the hints of a pad")
        assert run.widget("hint-a")["text"] == "Keyboard"
        deck.pad.press("a")
        run.until(lambda: len(deck.keyboards()) == 1, "Steam's keyboard")
        assert deck.keyboards()[0].startswith("steam://open/keyboard?XPosition=")
        deck.pad.press("y")
        wait_focus(run, "installedTable")
        run.until(lambda: run.visible("hint-r1") and run.widget("hint-r1")["text"] == "Next page", "its hints")
        deck.pad.press("r1")
        run.until(lambda: not run.visible("installedTable"), "the downloads")
        deck.pad.press("l1")
        wait_focus(run, "installedTable")
        deck.pad.press("b")
        wait_focus(run, "composer")
        deck.pad.press("menu")
        wait_focus(run, "paletteField")
        deck.pad.press("b")
        wait_focus(run, "composer")
        deck.pad.press("up")
        run.until(lambda: focus(run) != "composer", "the keyboard to move")


def test_lists_and_switches_by_pad(screen: Screen, home_with_starter: Path, deck: Deck) -> None:
    with program(screen, home_with_starter, deck.environ) as run:
        main = start(run)
        run.until(lambda: run.visible("hint-x"), "the hints of a pad")
        enter(run, main, "ctrl+comma", "settingsWindow", "Settings")
        wait_focus(run, "settingsPage-general")
        deck.pad.press("right")
        wait_focus(run, "window-theme")
        before = run.widget("window-theme")["text"]
        deck.pad.press("a")
        run.until(lambda: run.ask("popup"), "the list of colours")
        run.until(lambda: run.visible("hint-b") and run.widget("hint-b")["text"] == "Close", "the hints of a list")
        deck.pad.press("down", "a")
        run.until(lambda: not run.ask("popup"), "the list to close")
        run.until(lambda: run.widget("window-theme")["text"] != before, "other colours")
        deck.pad.press("down")
        wait_focus(run, "window-scale")
        deck.pad.press("down")
        run.until(lambda: run.visible("hint-a") and run.widget("hint-a")["text"] == "Switch", "the hint of a switch")
        switch = focus(run)
        deck.pad.press("a")
        run.until(lambda: focus(run) == switch, "the switch to keep the keyboard")
        deck.pad.press("b")
        wait_focus(run, "composer")


def test_a_tap_on_a_hint_and_on_the_way_back(screen: Screen, home_with_starter: Path, deck: Deck) -> None:
    with program(screen, home_with_starter, deck.environ) as run:
        start(run)
        run.until(lambda: run.visible("hint-y"), "the hints")
        run.click("hint-y")
        wait_focus(run, "installedTable")
        run.click("pageBack")
        wait_focus(run, "composer")
        run.click("composer")
        run.until(lambda: len(deck.keyboards()) == 1, "Steam's keyboard")
        run.click("keyboardButton")
        run.until(lambda: len(deck.keyboards()) == 2, "it again")
        wait_focus(run, "composer")


def test_without_a_pad_the_hints_are_keys(screen: Screen, home_with_starter: Path, deck: Deck) -> None:
    environ = {**deck.environ, "VRAMBLE_SYSROOT": str(build_sysroot("rx7900xtx", deck.user / "root"))}
    with program(screen, home_with_starter, environ) as run:
        start(run)
        run.until(lambda: run.visible("hint-x") and run.widget("hint-x")["accessible"] == "Ctrl+N: New chat", "keys")
        assert not run.visible("hint-l1")
        children = run.children()
        assert children
        assert run.quit() == 0
        run.until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), "its processes to be gone")
