"""Time from choosing a long conversation to its first paint, and for single messages that are hard to lay out.

Run: QT_QPA_PLATFORM=offscreen python tests/bench/transcript_open.py [--messages 5000]
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QElapsedTimer, QEvent, QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.chat.rows import MessageRow
from app.chat.transcript import TranscriptModel
from tests.bench.transcript_rows import ANSWER, answer, model, question, rows
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme

CASES = {
    "message of 1 MB": [answer("a", ANSWER * (1_000_000 // len(ANSWER)))],
    "20,000 lines of code": [answer("a", "```python\n" + "def f(a, b):\n    return a + b  # note\n" * 10_000 + "```")],
    "line of 1,000,000 characters": [answer("a", "A" * 1_000_000)],
    "such a line in a fence": [answer("a", "```\n" + "A" * 1_000_000 + "\n```")],
    "table of 2,000 rows": [answer("a", "|a|b|c|d|e|f|g|h|\n" + "|-" * 8 + "|\n" + "|1|2|3|4|5|6|7|8|\n" * 2000)],
    "table of 200 columns": [answer("a", "|h" * 200 + "|\n" + "|-" * 200 + "|\n" + ("|cell" * 200 + "|\n") * 20)],
    "a user's message of 1 MB": [question("a", "A line of words that were pasted.\n" * 30_000)],
}


class Paints(QObject):
    """Notes when the viewport was painted."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Count paint events."""
        if event.type() == QEvent.Type.Paint:
            self.count += 1
        return False


def wait(seconds: float) -> float:
    """Let events run; returns the longest time between two beats, milliseconds."""
    loop, beat, timer = QEventLoop(), QTimer(), QElapsedTimer()
    longest = [0]

    def note() -> None:
        longest[0] = max(longest[0], timer.restart())

    beat.timeout.connect(note)
    beat.start(5)
    timer.start()
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    loop.exec()
    note()
    return float(longest[0])


def first_paint(app: QApplication, content: TranscriptModel, paints: Paints, messages: Sequence[MessageRow]) -> float:
    """Milliseconds from the reset of the model to the end of the next paint."""
    before, begun = paints.count, perf_counter()
    content.reset(messages)
    while paints.count == before:
        app.processEvents()
    return (perf_counter() - begun) * 1000


def main() -> None:
    """Print one JSON object a line: name, first paint and longest gap afterwards, milliseconds."""
    options = argparse.ArgumentParser()
    options.add_argument("--messages", type=int, default=5000)
    wish = options.parse_args()
    app = QApplication(sys.argv[:1])
    theme = Theme()
    theme.apply(app)
    content = model(rows(4))
    view = TranscriptView(content, theme)
    view.resize(1020, 660)
    paints = Paints()
    view.viewport().installEventFilter(paints)
    view.show()
    wait(0.5)
    for name, messages in ({f"{wish.messages} messages": rows(wish.messages)} | CASES).items():
        content.reset([])
        wait(0.2)
        paint = first_paint(app, content, paints, messages)
        gap = wait(4.0)
        print(json.dumps({"case": name, "first_paint_ms": round(paint, 1), "longest_gap_ms": gap}), flush=True)
    print(json.dumps({"peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    main()
