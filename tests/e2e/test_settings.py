"""The settings as a user meets them: by mouse, by keyboard, with the real engine and on a recorded machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.e2e.harness import Program, Screen, program
from tests.e2e.test_first_chat import load_starter
from tests.fakes.sysroot import build_sysroot


def saved(home: Path, feature: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((home / "config/settings.json").read_text())
    found: dict[str, Any] = document.get(feature, {})
    return found


def open_page(run: Program, page: str) -> None:
    if not run.visible("settingsWindow"):
        run.click("settingsButton")
    run.click(f"settingsPage-{page}")


def until_text(run: Program, name: str, text: str, seconds: float = 90) -> None:
    run.until(lambda: text in run.widget(name, seconds)["text"], f"{text!r} in {name}", seconds)


def focused(run: Program) -> str:
    widget = run.ask("focus")
    return widget["name"] if widget else ""


def tab_to(run: Program, name: str) -> None:
    for _ in range(40):
        if focused(run) == name:
            return
        run.key("Tab")
    raise AssertionError(f"Tab does not reach {name}, the last one was {focused(run)}")


def test_a_backend_is_switched_off_by_mouse_and_stays_off(screen: Screen, home_with_starter: Path) -> None:
    with program(screen, home_with_starter) as run:
        load_starter(run)
        open_page(run, "backends")
        until_text(run, "backendState-RPC", "Loaded")
        run.click("backend-RPC")
        until_text(run, "backendState-RPC", "off from the next start on")
        run.until(lambda: saved(home_with_starter, "backend") == {"off": ["RPC"]}, "the settings file")
        run.click("restartEngine")
        until_text(run, "backendState-RPC", "Switched off")
        run.until(lambda: not run.visible("pendingBar"), "nothing to be pending")
        run.until(lambda: run.visible("unloadButton") and run.widget("unloadButton")["enabled"], "the model", 60)
        run.key("Escape")
        run.until(lambda: not run.visible("settingsWindow"), "the window to close")
        run.send("What is the capital of France?")
        run.answer()
        assert run.quit() == 0

    with program(screen, home_with_starter) as run:
        open_page(run, "backends")
        until_text(run, "backendState-RPC", "Switched off")
        run.click("backend-RPC")
        run.click("restartEngine")
        until_text(run, "backendState-RPC", "Loaded")
        assert run.quit() == 0


def test_the_keyboard_is_enough(screen: Screen, home: Path) -> None:
    with program(screen, home) as run:
        run.focus_window(run.widget("starterButton")["window"])
        run.key("ctrl+comma")
        run.widget("settingsWindow")
        run.until(lambda: focused(run) == "settingsPage-general", "the focus in the list of pages")
        run.key("Down", "Down")
        run.until(lambda: run.visible("engine-n_ctx"), "the third page")
        tab_to(run, "engine-flash_attention")
        run.key("Down", "Down")
        run.until(lambda: saved(home, "engine").get("flash_attention") == "off", "flash attention off")
        run.key("ctrl+f")
        run.type("idle")
        run.until(lambda: not run.visible("engine-n_ctx"), "the search to leave the rest out")
        tab_to(run, "worker-idle_unload_minutes")
        run.key("Up")
        run.until(lambda: saved(home, "worker").get("idle_unload_minutes") == 35, "a longer time")
        run.key("ctrl+f", "Escape")
        run.until(lambda: run.visible("engine-n_ctx"), "everything to be back")
        run.key("Escape")
        run.until(lambda: not run.visible("settingsWindow"), "the window to close")
        assert run.quit() == 0


def test_looks_follow_at_once_and_are_kept(screen: Screen, home: Path) -> None:
    with program(screen, home) as run:
        open_page(run, "general")
        before = run.widget("settingsPage-general")["rect"][3]
        run.choose("window-scale", "End", "Return")
        run.until(lambda: run.widget("settingsPage-general")["rect"][3] > before * 1.5, "larger text")
        open_page(run, "about")
        run.until(lambda: any("msgspec" in row["text"] for row in run.ask("rows", name="licencesList")), "licences")
        assert run.quit() == 0
    assert saved(home, "window")["scale"] == 2.0


def test_the_diagnosis_of_a_recorded_machine(screen: Screen, home: Path, tmp_path: Path) -> None:
    machine = build_sysroot("rx7900xtx_without_rebar", tmp_path / "machine")
    with program(screen, home, {"VRAMBLE_SYSROOT": str(machine)}) as run:
        run.click("deviceLabel")
        run.click("popoverAction")
        until_text(run, "check-rebar", "Could be better", 60)
        assert any("256 MiB of 24.0 GiB" in text for text in run.ask("texts", name="settingsWindow"))
        assert run.visible("check-kernel")
        run.click("onlyProblems")
        run.until(lambda: not run.visible("check-kernel"), "what is fine to go")
        assert run.visible("check-rebar")
        run.click("copyReport")
        run.click("runDoctor")
        until_text(run, "runDoctor", "Run again")
        assert run.quit() == 0


def test_settings_that_a_hand_broke_are_told_and_replaced(screen: Screen, home: Path) -> None:
    (home / "config/settings.json").write_text(
        json.dumps({"version": 1, "engine": {"n_ctx": "many", "n_batch": 256}, "backend": {"off": 7, "ignored": ["X"]}})
    )
    with program(screen, home) as run:
        open_page(run, "engine")
        assert run.widget("engine-n_ctx")["value"] == 4096
        run.click("engine-n_ctx")
        run.key("Up")
        run.until(lambda: saved(home, "engine").get("n_ctx") == 5120, "the new value")
        assert saved(home, "engine")["n_batch"] == 256
        assert saved(home, "backend") == {"off": 7, "ignored": ["X"]}, "what nobody changed stays as it is"
        assert run.quit() == 0
