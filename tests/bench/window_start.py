"""Time from process start to a usable window: painted, with the focus where the user types.

``.venv/bin/python tests/bench/window_start.py [--runs N]`` starts the real program on an Xvfb of its own and reads the
line that ``VRAMBLE_TRACE_START=1`` prints. A home with the starter model and 50 conversations is the usual case, an
empty one the first run.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.e2e.harness import Screen

LINE = re.compile(rb"window usable after (\d+) ms")


class Start(NamedTuple):
    """Milliseconds until a window is usable: by the clock, and of processor time."""

    wall: int
    cpu: float


def one_start(screen: Screen, home: Path) -> Start:
    """One start of the program."""
    environ = {
        **os.environ,
        "DISPLAY": screen.display,
        "VRAMBLE_HOME": str(home),
        "VRAMBLE_TRACE_START": "1",
        "QT_QPA_PLATFORM": "xcb",
    }
    program = subprocess.Popen([str(Path(sys.prefix) / "bin/vramble")], env=environ, stderr=subprocess.PIPE)
    assert program.stderr is not None
    try:
        for line in program.stderr:
            if found := LINE.search(line):
                used = psutil.Process(program.pid).cpu_times()
                return Start(int(found[1]), (used.user + used.system) * 1000)
    finally:
        program.terminate()
        program.wait(60)
    raise SystemExit("the program ended before its window was usable")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs: int = parser.parse_args().runs
    screen = Screen()
    try:
        with tempfile.TemporaryDirectory() as folder:
            times = [one_start(screen, Path(folder)).wall for _ in range(runs + 1)][1:]
    finally:
        screen.close()
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, {runs} warm starts")
    print(f"window usable after {statistics.median(times):.0f} ms (min {min(times)}, max {max(times)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
