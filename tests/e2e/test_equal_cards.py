"""Case 88 in the real window: two cards of one name, one question, and the load goes to the card that was named."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.e2e.harness import Screen, program
from tests.e2e.test_load_dialog import wait_for_model
from tests.fakes.fake_worker import journal_entries, worker_command

GIB = 1 << 30
CARD: dict[str, Any] = {
    "backend": "Vulkan", "name": "AMD Radeon RX 7900 XTX (RADV NAVI31)", "kind": "gpu", "memory_total": 24 * GIB,
    "usable": True,
}  # fmt: skip
TWO = [
    {**CARD, "id": "Vulkan0", "pci": "0000:03:00.0", "memory_free": 23 * GIB},
    {**CARD, "id": "Vulkan1", "pci": "0000:0a:00.0", "memory_free": 20 * GIB},
    {
        "id": "CPU", "backend": "CPU", "name": "CPU", "pci": None, "kind": "cpu", "memory_total": 64 * GIB,
        "memory_free": 50 * GIB, "usable": True,
    },
]  # fmt: skip


def test_the_user_is_asked_once_and_the_load_goes_there(
    screen: Screen, home_with_starter: Path, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    environ = {"VRAMBLE_WORKER_COMMAND": worker_command({"devices": TWO, "journal": str(journal)}, tmp_path)}
    with program(screen, home_with_starter, environ) as run:
        run.until(lambda: run.visible("noticeBar"), "the question")
        if shots := os.environ.get("VRAMBLE_TEST_SHOTS"):
            run.shot(Path(shots) / "equal-cards.png", window="mainWindow")
        run.click_button("0a:00.0 (20.0 GiB free)")
        run.until(lambda: "0a:00.0" in settings_of(home_with_starter), "the answer to be kept")
        run.click("modelPicker")
        run.click_menu("SmolLM2")
        wait_for_model(run)
    loads = [e["frame"]["options"] for e in journal_entries(journal) if e.get("frame", {}).get("type") == "load"]
    assert loads[-1]["device"] == "0000:0a:00.0"
    with program(screen, home_with_starter, environ) as run:
        run.until(lambda: "7900" in run.widget("deviceLabel")["text"], "the devices")
        assert not any("0a:00.0 (" in button["text"] for button in run.ask("buttons"))


def settings_of(home: Path) -> str:
    path = home / "config/settings.json"
    return json.dumps(json.loads(path.read_text()).get("engine", {})) if path.exists() else ""
