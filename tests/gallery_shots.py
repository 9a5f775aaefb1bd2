"""Pictures of the gallery in the real window, to be looked at: ``python -m tests.gallery_shots FOLDER``.

Light and dark, text at 1.0 and 1.5, 1280x800, from the top to the end;
and with the panel of parameters.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from engine.chat.records import AnswerEnd, AnswerStart, Question, Status
from engine.chat.store import Store
from engine.protocol.types import GenerationStats
from tests.e2e.harness import Screen, program
from tests.ui.transcript.gallery import ANSWERS, ASKED, THOUGHT

CONVERSATION = "gallery"
PAGES = 5
STATS = GenerationStats(prompt_tokens=210, generated_tokens=312, ttft_ms=140, prefill_tps=900, decode_tps=41.2)


def make_home(folder: Path, theme: str, scale: float) -> Path:
    """A home with the gallery as its open conversation."""
    (folder / "config").mkdir(parents=True)
    (folder / "data").mkdir()
    window = {"theme": theme, "scale": scale, "conversation": CONVERSATION}
    chat = {"json_schema": "{", "logit_bias": [{"token": 12, "bias": -5}]}
    document = {"version": 1, "window": window, "chat": chat}
    (folder / "config/settings.json").write_text(json.dumps(document))
    store = Store.open(folder / "data/vramble.sqlite3")
    for number, text in enumerate(ANSWERS):
        question = Question(id=f"q{number}", text=ASKED)
        store.ask(CONVERSATION, question, AnswerStart(id=f"a{number}", model="Qwen3 8B Q4_K_M"))
        end = AnswerEnd(
            id=f"a{number}", text=text, status=Status.DONE, stats=STATS, finish="stop", thinking=THOUGHT, thought_s=3.2
        )
        store.end(end)
    store.close()
    return folder


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    out: Path = parser.parse_args().folder.absolute()
    screen = Screen()
    try:
        for theme in ("light", "dark"):
            for scale in (1.0, 1.5):
                with tempfile.TemporaryDirectory() as work:
                    picture(screen, make_home(Path(work) / "home", theme, scale), out, f"{theme}-{scale}")
    finally:
        screen.close()


def picture(screen: Screen, home: Path, out: Path, name: str) -> None:
    """All pages of one look, and the panel."""
    with program(screen, home) as run:
        run.widget("transcript")
        run.until(lambda: len(run.messages()) == 2 * len(ANSWERS), "the gallery")
        run.focus_window(run.widget("mainWindow")["window"])
        run.click_at(run.widget("transcript")["rect"])
        run.key("ctrl+Home")
        for page in range(PAGES):
            run.until(lambda: True, "a moment")
            run.shot(out / f"{name}-{page}.png", window="mainWindow")
            run.key("Page_Down")
        run.click("parametersButton")
        panel = run.widget("parameterPanel")["rect"]
        x, y = panel[0] + 40, panel[1] + 400
        run.screen.xdotool("mousemove", str(x), str(y), "click", "--repeat", "40", "--delay", "10", "5")
        run.click("constraintsButton")
        run.screen.xdotool("mousemove", str(x), str(y), "click", "--repeat", "40", "--delay", "10", "5")
        run.shot(out / f"{name}-panel.png", window="mainWindow")


if __name__ == "__main__":
    main()
