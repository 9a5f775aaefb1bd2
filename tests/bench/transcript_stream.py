"""Longest gap of the GUI thread while a fast answer streams into a long conversation.

Run: QT_QPA_PLATFORM=offscreen python tests/bench/transcript_stream.py [--seconds 60] [--messages 2000] [--tps 300]
[--kind prose]. A million characters of one kind: --seconds 20 --tps 12500.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from engine.chat.records import Status
from tests.bench.transcript_rows import ANSWER, answer, model, rows
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme

BEAT_MS = 5
CHARACTERS_PER_TOKEN = 4
DELTAS_PER_SECOND = 30
KINDS = {
    "prose": ("", ANSWER),
    "line": ("", "A"),
    "line in a fence": ("```\n", "A"),
    "code": ("```python\n", "def total(values: list[int]) -> int:\n    return sum(values)  # all\n"),
    "table": ("| a | b | c | d |\n|---|---|---|---|\n", "| some | words | in | cells |\n"),
    "list": (
        "",
        "- an item with `code` and **bold** words, long enough to be wrapped at the end of its line, perhaps\n",
    ),
}
"""What streams: how it begins, and what comes again and again."""


def main() -> None:
    """Print one JSON object: gaps in milliseconds, share of one core, and the same without streaming."""
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--messages", type=int, default=2000)
    options.add_argument("--tps", type=int, default=300)
    options.add_argument("--kind", choices=sorted(KINDS), default="prose")
    wish = options.parse_args()
    app = QApplication(sys.argv[:1])
    theme = Theme()
    theme.apply(app)
    content = model([*rows(wish.messages), answer("running", "", status=Status.STREAMING)])
    view = TranscriptView(content, theme)
    view.resize(1020, 660)
    view.show()
    step = wish.tps * CHARACTERS_PER_TOKEN // DELTAS_PER_SECOND
    head, piece = KINDS[wish.kind]
    text = head + piece * (1 + int(wish.seconds * wish.tps * CHARACTERS_PER_TOKEN) // len(piece))
    beats: list[float] = []
    begun = [0.0, 0.0]

    def delta() -> None:
        elapsed = perf_counter() - begun[0]
        shown = text[: int(elapsed * DELTAS_PER_SECOND) * step]
        content.update(answer("running", shown, status=Status.STREAMING))
        if elapsed > wish.seconds:
            app.quit()

    beat, producer = QTimer(), QTimer()
    beat.timeout.connect(lambda: beats.append(perf_counter()))
    producer.timeout.connect(delta)
    beat.setInterval(BEAT_MS)
    producer.setInterval(1000 // DELTAS_PER_SECOND)

    def begin() -> None:
        begun[:] = [perf_counter(), process_time()]
        beat.start()
        producer.start()

    QTimer.singleShot(500, begin)
    app.exec()
    seconds, used = perf_counter() - begun[0], process_time() - begun[1]
    gaps = sorted((b - a) * 1000 for a, b in pairwise(beats))
    figures = {
        "kind": wish.kind,
        "messages": wish.messages,
        "characters": len(content.rows[-1].text),
        "longest_gap_ms": round(gaps[-1], 1),
        "p99_gap_ms": round(gaps[int(0.99 * len(gaps))], 1),
        "median_gap_ms": round(gaps[len(gaps) // 2], 1),
        "core_share": round(used / seconds, 3),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
