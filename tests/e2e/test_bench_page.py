"""The benchmark in the real program: real figures, the chat's model gives way and comes back, a race, history."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.e2e.harness import Program, Screen, program
from tests.fakes.fake_worker import worker_command
from tests.fakes.tiny_gguf import tiny_llama

GIB = 1 << 30
MACHINE: list[dict[str, Any]] = [
    {
        "id": f"{backend}0", "backend": backend, "name": "AMD Radeon RX 7900 XTX", "pci": "0000:03:00.0",
        "kind": "gpu", "memory_total": 24 * GIB, "memory_free": 22 * GIB, "usable": True,
    }
    for backend in ("Vulkan", "ROCm")
]  # fmt: skip
MACHINE.append({**MACHINE[0], "id": "CPU", "backend": "CPU", "name": "AMD Ryzen", "pci": None, "kind": "cpu"})
SPEEDS = {"Vulkan": 50.0, "ROCm": 40.0, "CPU": 5.0}


def open_bench(run: Program) -> None:
    run.click("moreButton")
    run.click_menu("Benchmark")
    run.until(lambda: run.widget("benchRun")["enabled"], "a model to be there")


def choose(run: Program, name: str, steps: int) -> None:
    run.choose(name, "Home", *["Down"] * steps, "Return")


def measure(run: Program, seconds: float = 180) -> None:
    """Press Run and wait for the end; it may be there before one can look."""
    earlier = len(reports(run.home))
    run.click("benchRun")
    run.until(lambda: len(reports(run.home)) > earlier and run.visible("benchRun"), "the benchmark to end", seconds)


def reports(home: Path) -> list[dict[str, Any]]:
    file = home / "data/benchmarks.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_real_figures_while_the_chats_model_gives_way(screen: Screen, home: Path) -> None:
    folder = home / "data/models/me/tiny"
    folder.mkdir(parents=True)
    (folder / "tiny.gguf").write_bytes(tiny_llama())
    with program(screen, home) as run:
        run.until(lambda: run.ask("find", name="modelPicker")[0]["enabled"], "the picker")
        run.click("modelPicker")
        run.click_menu("tiny")
        run.until(lambda: run.visible("unloadButton"), "the model", 60)
        open_bench(run)
        choose(run, "benchProtocol", 1)
        run.until(lambda: "unloaded first" in " ".join(run.ask("texts", name="benchWindow")), "the note")
        measure(run)
        assert re.fullmatch(r"[\d.\u202f]+", run.widget("benchFigure")["text"])
        rows = [row["text"] for row in run.ask("rows", name="benchTable", column=1)]
        assert rows == ["512 read", "128 generated"]
        assert "loads tiny again" in " ".join(run.ask("texts", name="benchWindow"))
        (report,) = reports(home)
        assert report["variants"][0]["tests"][1]["roofline"]["tps"] > 0
        run.key("Escape")
        run.until(lambda: not run.visible("benchWindow"), "the window to close")
        run.until(lambda: not run.visible("unloadButton"), "the memory to be free")
        run.send("abc")
        run.answer()
        run.until(lambda: run.visible("unloadButton"), "the message to load the model again")
        assert run.quit() == 0


def test_a_race_by_mouse_and_keyboard_its_winner_and_the_history(
    screen: Screen, home_with_starter: Path, tmp_path: Path
) -> None:
    home = home_with_starter
    script = {"devices": MACHINE, "bench": {"speed": SPEEDS, "power": 100.0}}
    environ = {"VRAMBLE_WORKER_COMMAND": worker_command(script, tmp_path)}
    with program(screen, home, environ) as run:
        run.click("composer")
        run.key("ctrl+shift+b")
        run.until(lambda: run.widget("benchRun")["enabled"], "a model to be there")
        choose(run, "benchRace", 1)
        run.until(lambda: run.visible("benchBox-ROCm0"), "the devices")
        measure(run)
        assert run.widget("benchVerdict")["text"] == "Vulkan is the fastest: 1.25 times as fast as ROCm."
        run.click("benchKeep")
        run.until(lambda: not run.widget("benchKeep")["enabled"], "the winner to be kept")
        run.key("ctrl+2")
        run.until(lambda: run.ask("rows", name="benchHistory", column=3), "the history")
        assert run.ask("rows", name="benchHistory", column=3)[0]["text"] == "Vulkan (best of 3)"
        assert run.quit() == 0
    (kept,) = json.loads((home / "config/settings.json").read_text())["load"]["models"].values()
    assert kept["options"]["device"] == "0000:03:00.0/Vulkan"
    assert "n_ctx" not in kept["options"]


def test_stopped_at_any_time(screen: Screen, home_with_starter: Path, tmp_path: Path) -> None:
    script = {"devices": MACHINE, "bench": [{}, {"delay": 0.1}, {"silence": True}]}
    environ = {"VRAMBLE_WORKER_COMMAND": worker_command(script, tmp_path)}
    with program(screen, home_with_starter, environ) as run:
        open_bench(run)
        run.click("benchRun")
        run.until(lambda: "run 2 of 3" in run.widget("benchStage")["text"], "the second run")
        run.click("benchStop")
        run.until(lambda: run.visible("benchRun"), "the end, though the engine says nothing any more")
        assert "stopped before its end" in " ".join(run.ask("texts", name="benchWindow"))
        assert [report["finished"] for report in reports(home_with_starter)] == [False]
        assert run.quit() == 0
