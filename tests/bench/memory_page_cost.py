"""What the open memory page costs: processor time of the GUI thread for each sample, at one sample a second.

``.venv/bin/python tests/bench/memory_page_cost.py [--machine NAME] [--samples N]`` opens the page of a recorded machine
with ten minutes of history, hands it new samples, and lets Qt paint each one before the next. The sampler itself is
measured by ``sampler_cost.py``. Painting goes into memory (Qt's offscreen platform); no compositor is counted.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import msgspec
from PySide6.QtWidgets import QApplication

from engine.memory.records import MemorySnapshot
from engine.memory.sampler import MemorySampler
from engine.protocol.types import ModelInfo
from tests.fakes.sysroot import build_sysroot, machines
from tests.ui.memory.stage import Memory, loaded, ten_minutes, window_on, with_model
from ui.theme import Theme, ThemeMode

WORKER = 4242
GIB = 1 << 30


def recorded(machine: str) -> tuple[MemorySnapshot, ModelInfo | None]:
    """One sample of a recorded machine, with a model on its card."""
    with tempfile.TemporaryDirectory() as folder:
        snapshot = MemorySampler(build_sysroot(machine, Path(folder))).sample(WORKER, whole=True)
    model = loaded(snapshot.gpus[0] if snapshot.gpus else None, 2 * GIB)
    return with_model(snapshot, model), model


def cost(app: QApplication, memory: Memory, moments: list[MemorySnapshot]) -> list[float]:
    """Processor milliseconds of each sample: taking it and painting it."""
    spent = []
    for moment in moments:
        begun = time.thread_time_ns()
        memory.push(moment)
        app.processEvents()
        spent.append((time.thread_time_ns() - begun) / 1e6)
    return spent


def measure(app: QApplication, theme: Theme, machine: str, samples: int, size: tuple[int, int]) -> list[float]:
    snapshot, model = recorded(machine)
    window, memory, _, _ = window_on(theme, snapshot, model, history=True)
    window.resize(*size)
    window.show()
    app.processEvents()
    moving = list(ten_minutes(snapshot, model))[-60:]
    moments = [msgspec.structs.replace(moving[number % len(moving)], taken=600.0 + number) for number in range(samples)]
    warm = cost(app, memory, moments[:5])
    spent = cost(app, memory, moments[len(warm) :])
    window.close()
    return spent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", choices=machines())
    parser.add_argument("--samples", type=int, default=125)
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    app = QApplication([])
    theme = Theme(ThemeMode.LIGHT, arguments.scale)
    theme.apply(app)
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, one sample a second")
    for machine in [arguments.machine] if arguments.machine else machines():
        spent = measure(app, theme, machine, arguments.samples, (1280, 764))
        mean = statistics.fmean(spent)
        print(f"{machine:28} {mean:5.2f} ms a sample, {mean / 10:4.2f} % of a core (max {max(spent):.1f} ms)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
