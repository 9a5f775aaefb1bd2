"""Does the window's memory grow? Hours of streaming at 100 tok/s through chat, store and transcript, at full speed.

Run: python -m tests.bench.soak [--hours 8] [--frame-ms 33] [--answer 500]

Time is simulated: nothing is waited for, each timer fires when its simulated time has come, and each frame is painted
(Qt's offscreen platform). What is told: resident memory with an empty chat open, after a tenth of the tokens (warm-up)
and after each further tenth. Python's garbage is collected and holes of the heap are given back as in the program.
A larger --frame-ms makes fewer paints and so more hours in the same processor time. Engine and database thread are
stand-ins, the store and its file are the real ones. Where the memory is: "malloc" is what Qt, SQLite and others use
(MiB), "free" the holes between that, "Python" the interpreter's objects (thousands of blocks). What grows as holes
only is no leak.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.collector import give_back
from tests.bench.soak_rig import FRAME_MS, TOKENS_PER_SECOND, Soak
from ui.theme import Theme

STEPS = 10
MIB = 1 << 20


class Heap(ctypes.Structure):
    """``struct mallinfo2`` of the C library, in bytes."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip
    hblkhd: int
    uordblks: int
    fordblks: int


def heap() -> Heap:
    """Of this process."""
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = Heap
    found: Heap = ask()
    return found


def measure(soak: Soak, turns: int) -> list[int]:
    """Bytes resident after each tenth of ``turns``; a line for each."""
    process, found = psutil.Process(), []
    begun = time.process_time()
    head = f"{'tokens':>9} {'answers':>7} {'frames':>8} {'CPU s':>6} {'RSS MiB':>8}"
    print(f"{head} {'malloc':>7} {'free':>5} {'Python':>7}  live objects", flush=True)
    for step in range(STEPS):
        while soak.answers < turns * (step + 1) // STEPS:
            soak.turn()
        live = soak.live()
        give_back()  # as the program's next collection of everything does: else the moment of the last one is measured
        found.append(process.memory_info().rss)
        used, objects = time.process_time() - begun, ", ".join(f"{kind} {count}" for kind, count in live.items())
        figures = f"{soak.tokens:9} {soak.answers:7} {soak.frames:8} {used:6.0f} {found[-1] / MIB:8.1f}"
        now = heap()
        held = f"{(now.uordblks + now.hblkhd) / MIB:7.1f} {now.fordblks / MIB:5.1f}"
        print(f"{figures} {held} {sys.getallocatedblocks() / 1000:7.1f}  {objects}", flush=True)
        soak.open(soak.chat.conversations.rows[0].id)
    return found


def main() -> int:
    """Print the table; 1 when a token is missing on the disk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=8.0)
    parser.add_argument("--frame-ms", type=int, default=FRAME_MS)
    parser.add_argument("--answer", type=int, default=500, help="tokens of one answer")
    wish = parser.parse_args()
    app = QApplication(sys.argv[:1])
    theme = Theme()
    theme.apply(app)
    turns = max(STEPS, round(wish.hours * 3600 * TOKENS_PER_SECOND / wish.answer))
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), theme, answer_tokens=wish.answer, frame_ms=wish.frame_ms)
        QTest.qWaitForWindowExposed(soak.view)
        gc.disable()
        gc.freeze()
        found = measure(soak, turns)
        kept = sum(len(text) for text in soak.stored())
        size = soak.path.stat().st_size
        answers = sum(1 for _ in soak.stored())
        soak.close()
    hours = soak.tokens / TOKENS_PER_SECOND / 3600
    print(f"{hours:.2f} simulated hours at {TOKENS_PER_SECOND} tok/s, a frame every {wish.frame_ms} ms")
    print(f"{answers} of {soak.answers} answers on the disk, {kept / 1e6:.1f} million characters, {size / 1e6:.0f} MB")
    print(
        f"RSS after warm-up {found[0] / MIB:.1f} MiB, at the end {found[-1] / MIB:.1f}: {found[-1] / found[0] - 1:+.2%}"
    )
    machine = f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} CPUs"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}")
    return int(answers != soak.answers)


if __name__ == "__main__":
    sys.exit(main())
