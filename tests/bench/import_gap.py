"""Does the window go on while a large export is imported? Gaps of its event loop, before and meanwhile.

Run: python -m tests.bench.import_gap [--megabytes 200] [--seconds 10]

A ChatGPT export is made up and imported into a window on the offscreen platform, which shows the list of conversations
all the time. What is told: the longest gap between two turns of the event loop and the 99th percentile, without the
import and with it; the window's own share of a core; how long the import took, and how much memory its process needed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest

from app.paths import find_paths
from app.wiring import build
from tests.bench.big_history import Vocabulary
from tests.bench.figures import percentile
from ui.main_window import MainWindow
from ui.start import make_application
from ui.theme import Theme, ThemeMode

BEAT_MS = 5
TURNS = 24
MIB = 1 << 20


def conversation(number: int, vocabulary: Vocabulary) -> dict[str, Any]:
    """One conversation as ChatGPT exports it, `TURNS` messages long."""
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
    for at in range(TURNS):
        words = " ".join([vocabulary.text(number * TURNS + at)] * (1 + at % 2 * 5))
        nodes[f"n{at}"] = {
            "id": f"n{at}",
            "parent": f"n{at - 1}" if at else "root",
            "children": [f"n{at + 1}"] if at + 1 < TURNS else [],
            "message": {
                "author": {"role": "assistant" if at % 2 else "user"},
                "create_time": 1.7e9 + number * 1000 + at,
                "content": {"content_type": "text", "parts": [words]},
                "metadata": {"model_slug": "made-up"},
            },
        }
    about = {"title": vocabulary.sentences[number % 30_000][:40], "conversation_id": f"gap-{number}"}
    return {**about, "create_time": 1.7e9 + number, "current_node": f"n{TURNS - 1}", "mapping": nodes}


def pieces(size: int) -> Iterator[bytes]:
    """A list of conversations, about ``size`` bytes of JSON."""
    vocabulary, written, number = Vocabulary(7), 0, 0
    yield b"["
    while written < size:
        piece = (b"," if number else b"") + json.dumps(conversation(number, vocabulary)).encode()
        written, number = written + len(piece), number + 1
        yield piece
    yield b"]"


class Gaps:
    """Milliseconds between two turns of the event loop."""

    def __init__(self) -> None:
        self.found: list[float] = []
        self._last = 0.0
        self._beat = QTimer()
        self._beat.timeout.connect(self._take)

    def during(self, condition: Callable[[], bool]) -> tuple[list[float], float]:
        """All of them until ``condition``, and this process's share of a core."""
        self.found = []
        self._last = begun = time.perf_counter()
        used = time.process_time()
        self._beat.start(BEAT_MS)
        while not condition():
            QTest.qWait(200)
        self._beat.stop()
        return sorted(self.found), (time.process_time() - used) / (time.perf_counter() - begun)

    def _take(self) -> None:
        now = time.perf_counter()
        self.found.append((now - self._last) * 1000)
        self._last = now


def tell(what: str, gaps: list[float], share: float) -> None:
    """One line of figures."""
    longest, p99 = gaps[-1], percentile(gaps, 0.99)
    print(f"{what:8} longest gap {longest:6.0f} ms   p99 {p99:6.1f} ms   window {share:5.1%} of a core", flush=True)


def main() -> int:
    """Print the figures; 1 when the import failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=10.0, help="without the import")
    wish = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VRAMBLE_HOME"] = str(Path(folder) / "home")
        path = Path(folder) / "conversations.json"
        with path.open("wb") as file:
            for piece in pieces(int(wish.megabytes * 1e6)):
                file.write(piece)
        app = make_application([])
        services = build(find_paths())
        theme = Theme(ThemeMode.LIGHT, 1.0)
        theme.apply(app)
        window = MainWindow(services, theme, has_starter=False)
        window.resize(1280, 800)
        window.show()
        services.chat.start()
        QTest.qWait(5000)
        gaps, end = Gaps(), time.monotonic() + wish.seconds
        tell("before", *gaps.during(lambda: time.monotonic() > end))
        results: list[object] = []
        exchange = services.chat.keeping.exchange
        begun = time.monotonic()
        exchange.import_files([path], results.append)
        peak = 0

        def ended() -> bool:
            nonlocal peak
            if exchange._child is not None and exchange._child.pid is not None:
                peak = max(peak, psutil.Process(exchange._child.pid).memory_info().rss)
            return bool(results)

        tell("import", *gaps.during(ended))
        taken = time.monotonic() - begun
        print(f"{path.stat().st_size / 1e6:.0f} MB in {taken:.0f} s, {peak / MIB:.0f} MiB in its process: {results[0]}")
        services.close(app.quit)
        app.exec()
        services.shutdown()
    machine = f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} CPUs"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}")
    return int(type(results[0]).__name__ != "Imported")


if __name__ == "__main__":
    sys.exit(main())
