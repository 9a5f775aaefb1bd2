"""Load options in the real program: chosen, loaded by the real engine, there again after a restart."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.e2e.harness import Program, Screen, program
from tests.fakes.fake_worker import journal_entries, worker_command

GIB = 1 << 30


def open_options(run: Program) -> None:
    """Choose "with options" for the first model of the picker, by keyboard."""
    run.until(lambda: run.ask("find", name="modelPicker")[0]["enabled"], "the picker")
    run.click("modelPicker")
    run.until(lambda: any("SmolLM2" in entry["text"] for entry in run.ask("menu")), "the model in the picker")
    run.key("shift+Return")
    run.widget("loadDialog")
    run.until(lambda: "GiB" in run.widget("loadOptionsButton")["text"], "what it takes")


def type_number(run: Program, field: str, number: int, end: str = "Tab") -> None:
    run.click(field)
    run.key("ctrl+a")
    run.type(str(number))
    run.key(end)


def wait_for_model(run: Program) -> None:
    run.until(lambda: run.visible("unloadButton"), "the model to be loaded", 90)


def window_log(home: Path) -> str:
    return "\n".join(path.read_text(errors="replace") for path in home.glob("**/worker.log"))


def last_kv_line(home: Path) -> str:
    """What llama.cpp said of the last KV cache: ``size = 23.91 MiB ( 1024 cells, ... K (q8_0): ...``."""
    lines = [line for line in window_log(home).splitlines() if re.search(r"K \(\w+\):", line)]
    return lines[-1] if lines else ""


def test_context_and_cache_format_reach_the_engine_and_are_remembered(screen: Screen, home_with_starter: Path) -> None:
    home = home_with_starter
    with program(screen, home) as run:
        open_options(run)
        before = run.widget("loadOptionsButton")["text"]
        type_number(run, "n_ctx", 1024)
        run.choose("kvFormat", "Down", "Return")
        run.until(lambda: "8-bit" in run.widget("kvFormat")["text"], "the 8-bit format")
        assert run.widget("loadOptionsButton")["text"] != before or "0.2" in before
        run.click("loadOptionsButton")
        wait_for_model(run)
        run.until(lambda: "K (q8_0)" in last_kv_line(home), "the KV cache in the log")
        assert re.search(r"\b1024 cells", last_kv_line(home))
        assert run.quit() == 0
    kept = json.loads((home / "config/settings.json").read_text())["load"]["models"]
    (entry,) = kept.values()
    assert entry["options"]["n_ctx"] == 1024
    assert entry["options"]["kv_type_k"] == entry["options"]["kv_type_v"] == "q8_0"

    with program(screen, home) as run:
        run.click("composer")
        run.type("Hi")
        run.key("Return")
        run.answer()
        assert "K (q8_0)" in last_kv_line(home)
        assert re.search(r"\b1024 cells", last_kv_line(home))
        run.click("moreButton")
        run.click_menu("Change load options")
        run.widget("loadDialog")
        assert run.widget("n_ctx")["value"] == 1024
        assert "8-bit" in run.widget("kvFormat")["text"]
        assert "Load again" in run.widget("loadOptionsButton")["text"]
        run.click("resetAllButton")
        run.until(lambda: run.widget("n_ctx")["value"] == 4096, "the default")
        run.key("Escape")
        run.until(lambda: not run.visible("loadDialog"), "the dialog to be gone")
        assert run.visible("unloadButton")


def test_options_that_contradict_each_other_hold_the_load_back(screen: Screen, home_with_starter: Path) -> None:
    with program(screen, home_with_starter) as run:
        open_options(run)
        run.choose("kvFormat", "Down", "Return")
        run.click("advancedButton")
        run.choose("flash_attention", "End", "Return")
        run.until(lambda: not run.widget("loadOptionsButton")["enabled"], "Load to be held back")
        assert "flash attention" in run.widget("fitReason")["text"]
        assert "flash attention" in run.widget("loadOptionsButton")["description"]
        run.key("Return")
        assert run.visible("loadDialog")
        run.click("kv_type_kReset")
        run.until(lambda: run.widget("loadOptionsButton")["enabled"], "Load to be possible again")
        run.key("Escape")


def test_the_manager_leads_there_too(screen: Screen, home_with_starter: Path) -> None:
    with program(screen, home_with_starter) as run:
        run.click("modelsButton")
        run.click("loadWithOptionsButton")
        run.widget("loadDialog")
        type_number(run, "n_ctx", 2048, end="Return")
        run.until(lambda: not run.visible("loadDialog"), "the dialog to be gone")
        wait_for_model(run)


DECK: list[dict[str, Any]] = [
    {
        "id": "Vulkan0", "backend": "Vulkan", "name": "AMD Custom GPU 0405 (RADV VANGOGH)", "pci": "0000:04:00.0",
        "kind": "igpu", "memory_total": 9 * GIB, "memory_free": 8 * GIB, "usable": True,
    },
    {
        "id": "CPU", "backend": "CPU", "name": "AMD Custom APU 0405", "pci": None,
        "kind": "cpu", "memory_total": 15 * GIB, "memory_free": 11 * GIB, "usable": True,
    },
]  # fmt: skip


def test_a_deck_loads_with_its_profile_and_says_so(screen: Screen, home_with_starter: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    command = worker_command({"devices": DECK, "journal": str(journal)}, tmp_path)
    with program(screen, home_with_starter, {"VRAMBLE_WORKER_COMMAND": command}) as run:
        run.until(lambda: "0405" in run.widget("deviceLabel")["text"], "the devices")
        run.click("modelPicker")
        run.click_menu("SmolLM2")
        wait_for_model(run)
        loads = [e["frame"]["options"] for e in journal_entries(journal) if e.get("frame", {}).get("type") == "load"]
        assert (loads[-1]["n_ubatch"], loads[-1]["mmap"]) == (128, False)
        assert "small steps" in run.widget("modelPicker")["tooltip"]
