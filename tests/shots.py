"""Makes the pictures of the documents: the real program on an Xvfb, with the real starter model.

Run by ``./dev shots``. The memory figures come from a recorded tree, because the machine that makes the pictures need
not have a Radeon; the answers are the starter model's own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.e2e.harness import Program, Screen, program
from tests.fakes.sysroot import build_sysroot
from ui.widgets.first_size import FRAME

QUESTION = "Write a Python function that adds up a list of numbers, and explain it in two sentences."


def make_home(folder: Path, theme: str, *, with_model: bool) -> Path:
    """A home with a fixed theme, so that the pictures do not depend on the desktop that makes them."""
    config = folder / "config"
    config.mkdir(parents=True)
    document = {"version": 1, "window": {"theme": theme}, "chat": {"temperature": 0.0}}
    (config / "settings.json").write_text(json.dumps(document))
    if with_model:
        starter = min((Path(sys.prefix) / "share/vramble/starter").glob("*.gguf")).resolve()
        target = folder / "data/models/starter/SmolLM2-135M-Instruct"
        target.mkdir(parents=True)
        (target / starter.name).symlink_to(starter)
    return folder


def load_and_ask(run: Program) -> None:
    run.click("modelPicker")
    run.click_menu("SmolLM2")
    run.until(lambda: run.visible("unloadButton") and run.widget("unloadButton")["enabled"], "the model", 60)
    run.send("What does GTT mean on a Radeon card?")
    run.answer()
    run.send(QUESTION)
    run.answer()


def chat(screen: Screen, work: Path, out: Path, theme: str, machine: str) -> None:
    sysroot = build_sysroot(machine, work / f"{machine}-{theme}")
    home = make_home(work / f"home-{theme}", theme, with_model=True)
    with program(screen, home, {"VRAMBLE_SYSROOT": str(sysroot)}) as run:
        load_and_ask(run)
        run.shot(out / f"chat-{theme}.png", window="mainWindow")
        run.click("modelsButton")
        run.widget("installedTable")
        run.shot(out / f"models-{theme}.png", window="modelManager")


def first_run(screen: Screen, work: Path, out: Path) -> None:
    sysroot = build_sysroot("steam_deck", work / "first")
    home = make_home(work / "home-first", "light", with_model=False)
    with program(screen, home, {"VRAMBLE_SYSROOT": str(sysroot)}) as run:
        run.widget("starterButton")
        run.shot(out / "first-run.png", window="mainWindow")


def main() -> int:
    """Write all pictures into the folder given by ``--out``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs/images")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    screen = Screen(1280, 800 + FRAME)
    try:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            first_run(screen, work, out)
            chat(screen, work, out, "light", "rx7900xtx")
            chat(screen, work, out, "dark", "steam_deck")
    finally:
        screen.close()
    print(f"pictures are in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
