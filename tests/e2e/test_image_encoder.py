"""An image encoder beside the starter model: asked for in the dialog, loaded by the real engine, its memory told."""

from __future__ import annotations

import os
from pathlib import Path

from tests.e2e.harness import Program, Screen, program
from tests.e2e.test_load_dialog import open_options, wait_for_model
from tests.fakes.tiny_mmproj import Tower, mmproj

WIDTH = 576
"""Of SmolLM2-135M."""

TOWER = Tower(width=512, heads=8, ff=2048, layers=4, image=512, patch=16)
SHOTS = os.environ.get("VRAMBLE_TEST_SHOTS")


def rows(run: Program) -> list[str]:
    return [row["text"] for row in run.ask("rows", name="memoryTable", column=1)]


def shot(run: Program, name: str, window: str) -> None:
    if SHOTS:
        run.shot(Path(SHOTS) / name, window=window)


def test_it_is_loaded_where_it_was_asked_for_and_has_a_part_of_the_memory(
    screen: Screen, home_with_starter: Path
) -> None:
    folder = next((home_with_starter / "data/models").rglob("*.gguf")).parent
    (folder / "mmproj-SmolVLM-F32.gguf").write_bytes(mmproj(WIDTH, TOWER))
    with program(screen, home_with_starter) as run:
        open_options(run)
        run.until(lambda: run.visible("mmproj"), "the image encoder to be offered")
        assert not run.visible("mmprojReset"), "off unless asked"
        run.click("mmproj")
        run.until(lambda: run.visible("mmprojReset"), "the choice to be taken")
        shot(run, "image-dialog.png", "loadDialog")
        run.click("loadOptionsButton")
        wait_for_model(run)
        run.click("memoryStrip")
        run.widget("memoryWindow")
        run.click("memoryTableButton")
        run.until(lambda: run.visible("memoryTable"), "the table")
        run.until(lambda: "image encoder" in rows(run), "the image encoder in the memory table")
        shot(run, "image-memory.png", "memoryWindow")
