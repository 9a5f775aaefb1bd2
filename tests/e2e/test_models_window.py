"""The models window by mouse and by keyboard alone, against a Hub on this machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import Program, Screen, program
from tests.fakes.hub_pages import row
from tests.fakes.local_hub import LocalHub
from tests.fakes.tiny_gguf import small_llama

REPO = "someone/tiny-GGUF"
QUANTS = ("Q2_K", "Q4_K_M", "Q8_0")
CARD = b"---\nlicense: mit\n---\n# Tiny\n\nWords of the owner. ![picture](https://example.org/p.png)\n"


@pytest.fixture
def hub() -> Iterator[LocalHub]:
    with LocalHub() as hub:
        hub.pages.rows = [row(REPO, downloads=10**7), row("other/tiny-thing-GGUF", downloads=10)]
        for quant in QUANTS:
            hub.add(REPO, f"tiny-{quant}.gguf", small_llama())
        hub.add(REPO, "README.md", CARD, linked=False)
        yield hub


def text(run: Program) -> str:
    return " ".join(run.ask("texts", name="modelManager"))


def found(run: Program) -> list[str]:
    return [item["text"] for item in run.ask("rows", name="foundList")]


def focus(run: Program, name: str) -> None:
    """Wait until the widget called ``name`` has the keyboard."""
    run.until(lambda: (run.ask("focus") or {}).get("name") == name, f"the focus at {name}", 60)


def turn_to_manager(run: Program) -> None:
    """Give its window the keyboard, which a window manager would do."""
    run.focus_window(run.widget("modelManager", 60)["window"])


def current(run: Program, name: str) -> str:
    return next((item["text"] for item in run.ask("rows", name=name) if item["current"]), "")


def installed(home: Path) -> list[Path]:
    return sorted((home / "data/models").rglob("*.gguf"))


def loaded(run: Program) -> None:
    run.until(lambda: run.widget("modelPicker")["text"].startswith("tiny"), "the model to be loaded", 120)


def test_find_get_and_load_by_mouse(screen: Screen, home: Path, hub: LocalHub) -> None:
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        run.click("findModelButton")
        run.until(lambda: found(run)[:1] == ["Recommended for this machine"] or found(run), "the catalogue")
        run.click("discoverSearch")
        run.type("tiny")
        run.until(lambda: "tiny-GGUF" in found(run), "the repository", 60)
        run.click_row("foundList", "tiny-GGUF")
        run.click("get-Q8_0")
        run.until(lambda: run.widget("get-Q8_0")["text"] == "Load", "the file to be here", 60)
        [path] = installed(home)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == hub.repos[REPO]["tiny-Q8_0.gguf"].sha256
        run.click("get-Q8_0")
        loaded(run)


def test_find_get_load_and_delete_by_keyboard_alone(screen: Screen, home: Path, hub: LocalHub) -> None:
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        run.focus_window(run.widget("findModelButton", 60)["window"])
        run.key("ctrl+m")
        turn_to_manager(run)
        focus(run, "discoverSearch")
        run.type("tiny")
        run.until(lambda: "tiny-GGUF" in found(run), "the repository", 60)
        run.key("Down")
        focus(run, "foundList")
        run.until(lambda: run.visible("get-Q4_K_M"), "its files", 60)
        run.key("Return")
        focus(run, "filesTable")
        assert current(run, "filesTable") == "Q4_K_M"
        run.key("Down")
        run.until(lambda: current(run, "filesTable") == "Q8_0", "the next file")
        run.key("Return")
        run.until(lambda: [path.name for path in installed(home)] == ["tiny-Q8_0.gguf"], "the file", 60)
        run.key("ctrl+3")
        run.until(lambda: run.visible("loadDownloadedButton"), "the download in the queue", 60)
        run.key("ctrl+2")
        run.until(lambda: [item["text"] for item in run.ask("rows", name="installedTable")] == ["tiny"], "its row", 60)
        focus(run, "installedTable")
        run.key("Return")
        loaded(run)
        turn_to_manager(run)
        focus(run, "installedTable")
        run.key("shift+Delete")
        focus(run, "keepButton")
        run.key("Tab", "Return")
        run.until(lambda: installed(home) == [], "the file to be gone", 60)


def test_pause_goes_on_after_a_restart(screen: Screen, home: Path, hub: LocalHub) -> None:
    file = hub.repos[REPO]["tiny-Q8_0.gguf"]
    file.pause_after = 300_000
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        run.click("findModelButton")
        run.click("discoverSearch")
        run.type(f"{REPO}:Q8_0")
        run.key("Return")
        focus(run, "filesTable")
        run.until(lambda: current(run, "filesTable") == "Q8_0", "the file that was named", 60)
        run.key("Return")
        run.key("ctrl+3")
        run.click("pauseDownloadButton")
        run.until(lambda: run.visible("retryDownloadButton"), "the pause", 60)
        assert run.quit() == 0
    file.pause_after = None
    hub.release()
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        run.click("findModelButton")
        turn_to_manager(run)
        run.key("ctrl+3")
        run.click("retryDownloadButton")
        run.widget("loadDownloadedButton", 60)
        [path] = installed(home)
        assert path.read_bytes() == file.data


def test_the_card_is_shown_without_its_pictures(screen: Screen, home: Path, hub: LocalHub) -> None:
    with program(screen, home, {"HF_ENDPOINT": hub.url}) as run:
        run.click("findModelButton")
        run.click("discoverSearch")
        run.type(REPO)
        run.key("Return")
        run.until(lambda: run.visible("get-Q8_0"), "its files", 60)
        tabs = run.settled(lambda: run.widget("repoTabs"), "the tabs")["rect"]
        run.click_at([tabs[0] + 110, tabs[1], 100, 40])
        run.until(lambda: run.visible("modelCard"), "the card", 60)
        assert not [entry for entry in hub.log if entry.path.endswith("p.png")]


def test_in_game_mode_it_is_a_page_of_the_one_window(screen: Screen, home: Path, hub: LocalHub) -> None:
    take = home / "user" / "taken.gguf"
    take.parent.mkdir()
    take.write_bytes(small_llama())
    environ = {"HF_ENDPOINT": hub.url, "XDG_CURRENT_DESKTOP": "gamescope", "HOME": str(take.parent)}
    with program(screen, home, environ) as run:
        run.click("findModelButton")
        main = run.widget("mainWindow")["window"]
        assert run.widget("modelManager")["window"] == main
        run.key("ctrl+2")
        run.until(lambda: run.visible("emptyImportButton"), "the empty page", 60)
        run.click_button("Import…")
        run.until(
            lambda: any("taken.gguf" in item["text"] for item in run.ask("rows", name="pickerList")), "the file", 60
        )
        run.click_row("pickerList", "taken.gguf")
        run.click_button("Take this file")
        run.click_button("Copy")
        run.until(lambda: [path.name for path in installed(home)] == ["taken.gguf"], "the copy", 60)
        assert take.exists()
        run.click("pageBack")
        run.until(lambda: run.visible("composer"), "the chat", 60)
