"""Finding words in the open conversation in Game Mode, where one window is all that there is."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.harness import Program, Screen, program
from tests.fakes.fake_worker import worker_command


def bar_is_there(run: Program) -> bool:
    return run.visible("findBar") and bool(run.widget("findField")["focus"])


def test_by_keys_and_by_the_command(screen: Screen, home_with_starter: Path, tmp_path: Path) -> None:
    environ = {
        "VRAMBLE_WORKER_COMMAND": worker_command({"generate": {"text": "A needle in the hay."}}, tmp_path),
        "XDG_CURRENT_DESKTOP": "gamescope",
    }
    with program(screen, home_with_starter, environ) as run:
        run.click("modelPicker")
        run.click_menu("SmolLM2")
        run.until(lambda: run.visible("unloadButton"), "the model")
        run.send("Where is the needle?")
        run.answer()
        run.key("ctrl+f")
        run.until(lambda: bar_is_there(run), "the bar")
        run.type("needle")
        run.until(lambda: run.widget("findCount")["text"] == "1 of 2", "the matches")
        run.key("Return")
        run.until(lambda: run.widget("findCount")["text"] == "2 of 2", "the next one")
        run.key("Escape")
        run.until(lambda: not run.visible("findBar") and run.widget("composer")["focus"], "the bar to go")
        run.key("ctrl+k")
        run.until(lambda: run.visible("palette"), "the commands")
        run.type("find in this")
        run.key("Return")
        run.until(lambda: bar_is_there(run), "the bar again")
