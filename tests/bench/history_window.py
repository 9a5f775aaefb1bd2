"""The window over a large history: start against an empty one, and a click on a conversation of 5,000 messages.

Run: python -m tests.bench.history_window [--database FILE] [--messages 1000000] [--runs 7]

Without a file a history is made first. The start is that of the real program on an Xvfb of its own; the click is
measured in a window on the offscreen platform: from the click to the end of the paint that shows the end of the
conversation, and the longest time between two turns of the event loop until all of it is there.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tests.bench.big_history import Size, fill
from tests.bench.transcript_open import Paints
from tests.bench.window_start import Start, one_start
from tests.e2e.harness import Screen

LONG = 5000


def starts(homes: tuple[Path, Path], runs: int) -> tuple[list[Start], list[Start]]:
    """Warm starts with the empty and with the large history, in turn."""
    found: tuple[list[Start], list[Start]] = ([], [])
    screen = Screen()
    try:
        for run in range(runs + 1):
            for times, home in zip(found, homes, strict=True):
                taken = one_start(screen, home)
                if run:
                    times.append(taken)
    finally:
        screen.close()
    return found


def click(runs: int) -> None:
    """Print one JSON object: milliseconds to list everything, to first paints, and the longest gap after them."""
    from PySide6.QtCore import QElapsedTimer, QTimer

    from app.paths import find_paths
    from app.wiring import build
    from ui.main_window import MainWindow
    from ui.start import make_application
    from ui.theme import Theme, ThemeMode

    app = make_application([])
    services = build(find_paths())
    theme = Theme(ThemeMode.LIGHT, 1.0)
    theme.apply(app)
    window = MainWindow(services, theme, has_starter=False)
    window.resize(1280, 800)
    window.show()
    begun = perf_counter()
    services.chat.start()
    rows = services.chat.keeping.rows
    while not rows.rowCount():
        app.processEvents()
    listed = (perf_counter() - begun) * 1000
    longest = max(services.chat.conversations.rows, key=lambda one: one.updated - one.created)
    other = next(one for one in services.chat.conversations.rows if one is not longest)
    view, paints, transcript = window._page.transcript, Paints(), services.chat.transcript
    view.viewport().installEventFilter(paints)
    clock, gaps = QElapsedTimer(), [0]
    beat = QTimer()
    beat.timeout.connect(lambda: gaps.append(clock.restart()))
    found, worst = [], []
    for _ in range(runs):
        services.chat.open(other.id)
        while not transcript.rowCount() or transcript.rowCount() >= LONG:
            app.processEvents()
        for _ in range(50):
            app.processEvents()
        before, shown, begun = paints.count, [False], perf_counter()
        reset = transcript.modelReset.connect(lambda shown=shown: shown.__setitem__(0, True))
        services.chat.open(longest.id)
        while not shown[0] or paints.count == before:
            before = paints.count if not shown[0] else before
            app.processEvents()
        found.append((perf_counter() - begun) * 1000)
        transcript.modelReset.disconnect(reset)
        gaps.clear()
        clock.start()
        beat.start(0)
        while transcript.rowCount() < LONG:
            app.processEvents()
        beat.stop()
        worst.append(max(gaps, default=0))
    print(json.dumps({"listed": listed, "clicks": found, "gaps": worst}), flush=True)
    services.close(app.quit)
    app.exec()
    services.shutdown()


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", type=Path)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--click", action="store_true", help=argparse.SUPPRESS)
    wish = parser.parse_args()
    if wish.click:
        click(wish.runs)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        empty, large = Path(folder) / "empty", Path(folder) / "large"
        path = large / "data" / "vramble.sqlite3"
        path.parent.mkdir(parents=True)
        if wish.database is None:
            fill(path, Size(max(10, wish.messages // 100), wish.messages, LONG))
        else:
            shutil.copyfile(wish.database, path)
        few, many = starts((empty, large), wish.runs)
        for what, values in (
            ("clock", [[one.wall for one in each] for each in (few, many)]),
            ("processor time", [[one.cpu for one in each] for each in (few, many)]),
        ):
            empty_ms, large_ms = (statistics.median(each) for each in values)
            figures = f"empty {empty_ms:.0f} ms, large {large_ms:.0f} ms, ratio {large_ms / empty_ms:.2f}"
            print(f"start, {what}: {figures}", flush=True)
        environ = {**os.environ, "VRAMBLE_HOME": str(large), "QT_QPA_PLATFORM": "offscreen"}
        command = [sys.executable, "-m", "tests.bench.history_window", "--click", "--runs", str(wish.runs)]
        done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
        figures = json.loads(done.stdout.splitlines()[-1])
        clicks = sorted(figures["clicks"])
        print(f"all conversations listed after {figures['listed']:.0f} ms")
        print(f"click to first paint: median {statistics.median(clicks):.0f} ms, longest {clicks[-1]:.0f} ms")
        print(f"longest gap until all {LONG} messages are there: {max(figures['gaps'])} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
