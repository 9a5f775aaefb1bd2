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
from tests.fakes.hub_pages import row
from tests.fakes.local_hub import LocalHub
from tests.fakes.sysroot import build_sysroot
from ui.library.keep.columns import Column
from ui.widgets.first_size import FRAME

SMOL = "owner/SmolLM2-135M-Instruct-GGUF"
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
        run.until(lambda: fits(run, "installedTable", Column.FIT), "the badge", 120)
        run.shot(out / f"models-{theme}.png", window="modelManager")


def discover(screen: Screen, work: Path, out: Path, theme: str, machine: str) -> None:
    """The models window with a search of a Hub on this machine and one of its repositories."""
    sysroot = build_sysroot(machine, work / f"hub-{machine}")
    home = make_home(work / f"home-hub-{theme}", theme, with_model=True)
    with LocalHub() as hub:
        fill(hub)
        with program(screen, home, {"VRAMBLE_SYSROOT": str(sysroot), "HF_ENDPOINT": hub.url}) as run:
            run.click("modelsButton")
            run.focus_window(run.widget("modelManager")["window"])
            run.key("ctrl+1")
            run.click("discoverSearch")
            run.type("smol")
            run.click_row("foundList", "SmolLM2-135M-Instruct-GGUF")
            run.widget("get-Q4_K_M", 60)
            run.until(lambda: fits(run, "filesTable", 2), "the badges", 120)
            run.shot(out / f"discover-{theme}.png", window="modelManager")


def fill(hub: LocalHub) -> None:
    """Repositories of the starter model's family; its files are that model's, cut to what a header needs."""
    data = min((Path(sys.prefix) / "share/vramble/starter").glob("*.gguf")).read_bytes()
    for quant, share in (("Q2_K", 0.84), ("Q3_K_M", 0.9), ("Q4_K_M", 1.0), ("Q6_K", 1.3), ("Q8_0", 1.4), ("F16", 2.6)):
        size = round(len(data) * share)
        hub.add(SMOL, f"SmolLM2-135M-Instruct-{quant}.gguf", (data * 3)[:size])
    hub.info[SMOL] = {"likes": 31, "downloads": 48_210, "cardData": {"license": "apache-2.0", "language": ["en"]}}
    hub.add(SMOL, "README.md", b"# SmolLM2 135M Instruct", linked=False)
    known = {"total": 134_515_008, "architecture": "llama", "context_length": 8192}
    hub.info[SMOL]["gguf"] = known
    hub.pages.rows = [row(SMOL, likes=31, downloads=48_210, gguf=known)]
    for name, weights, loads in (("360M", 0.36, 30_500), ("1.7B", 1.7, 25_400), ("1.7B-Instruct-16k", 1.7, 8_120)):
        facts = {"total": int(weights * 1e9), "architecture": "llama", "context_length": 8192}
        hub.pages.rows.append(row(f"owner/SmolLM2-{name}-GGUF", downloads=loads, gguf=facts))


def fits(run: Program, table: str, column: int) -> bool:
    """Whether every row has its badge."""
    return all("Fits" in item["text"] for item in run.ask("rows", name=table, column=column))


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
            discover(screen, work, out, "light", "rx7900xtx")
            discover(screen, work, out, "dark", "steam_deck")
    finally:
        screen.close()
    print(f"pictures are in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
