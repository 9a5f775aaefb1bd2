"""Streaming at 100 tok/s by the scripted worker: a real process, its protocol, real threads, timers and paints.

Run: python -m tests.bench.soak_process [--minutes 3] [--answer 500] [--rate 100]

`soak.py` has the hours, in simulated time; here nothing is simulated, so minutes are minutes. What is told: the speed
that arrived, how old the oldest word was that was not on the disk yet, the longest queues, the longest gap between two
turns of the event loop, and resident memory at each tenth. 1: something is missing on the disk.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.chat.controller import ChatController
from app.chat.model_choice import Choice
from app.collector import GuiThreadCollector
from app.jobs import SerialRunner, ThreadExecutor
from app.notices import Notice, Notices
from app.paths import Paths
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from engine.protocol.types import LoadOptions
from tests.bench.soak_rig import TURNS, token
from tests.fakes.fake_worker import split_tokens, worker_command
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme

MODEL = Path("/models/Fake.gguf")
LIMIT_MS = 60_000
LOOK_MS = 20
BEAT_MS = 5
WATCH_MS = 100
STEPS = 10
MIB = 1 << 20
ON_DISK = (
    "SELECT message.status, part.content FROM message JOIN part ON part.message = message.id"
    " WHERE message.role = 'assistant' AND part.kind = 'text' ORDER BY message.seq"
)


class Queue:
    """A thread whose waiting work is counted."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadExecutor(name)
        self.given = self.done = self.most = 0

    def submit(self, work: Callable[[], None]) -> None:
        """Queue ``work`` on the thread."""
        self.given += 1
        self.most = max(self.most, self.given - self.done)

        def counted() -> None:
            work()
            self.done += 1

        self._thread.submit(counted)

    def close(self) -> None:
        """Wait for the queue to empty and end the thread."""
        self._thread.close()


def answer_text(number: int, tokens: int) -> str:
    """What the worker is to write as answer ``number``."""
    return "".join(token(number * tokens + one) for one in range(tokens)).strip()


class ProcessSoak:
    """Chat, store and transcript as in the window, over a worker process that plays ``generate``.

    Args:
        folder: For the database, the settings and the script.
        generate: The behaviour of each answer.
    """

    def __init__(self, folder: Path, theme: Theme, generate: list[dict[str, Any]]) -> None:
        paths = Paths(folder / "data", folder / "config", folder / "cache", folder / "state")
        self.path = paths.database
        self.posted: list[Notice] = []
        self.database, self._files, notices = Queue("database"), Queue("files"), Notices()
        notices.posted.connect(self.posted.append)
        files = SerialRunner(self._files)
        settings = SettingsStore(paths.settings, files, notices)
        environ = {**os.environ, "VRAMBLE_WORKER_COMMAND": worker_command({"generate": generate}, folder)}
        self.worker = WorkerService(paths, files, notices, environ=environ, settings=settings)
        self._runner = SerialRunner(self.database)
        choice = Choice(MODEL, LoadOptions(n_ctx=1 << 20))
        self.chat = ChatController(self.worker, self.path, self._runner, settings, notices, lambda: choice)
        self.view = TranscriptView(self.chat.transcript, theme)
        self.view.resize(1020, 660)
        self.view.show()
        self.chat.start()

    def ask(self, number: int) -> None:
        """Question ``number``; after `TURNS` of them in a new conversation."""
        if number % TURNS == 0:
            self.chat.new_conversation()
        if not self.chat.send(f"Question {number}"):
            raise AssertionError(f"the question was not taken: {self.posted}")

    @property
    def arrived(self) -> str:
        """The answer that is shown last, so far."""
        rows = self.chat.transcript.rows
        return rows[-1].text if rows else ""

    def on_disk(self) -> list[tuple[str, str]]:
        """State and text of each answer as it lies there."""
        if not self.path.exists():
            return []
        with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True, timeout=60.0)) as db:
            return [(str(status), str(text)) for status, text in db.execute(ON_DISK)]

    def close(self) -> None:
        """End everything."""
        closed: list[None] = []
        self.chat.close(lambda: closed.append(None))
        until(lambda: bool(closed))
        self.worker.shutdown()
        self._runner.close()
        self._files.close()
        self.view.deleteLater()


def until(condition: Callable[[], bool], limit_ms: int = LIMIT_MS) -> None:
    """Run the event loop until ``condition``."""
    end = time.monotonic() + limit_ms / 1000
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        QTest.qWait(LOOK_MS)


class Watch:
    """Looks at a soak while it runs: gaps of the event loop, and the age of what is not saved."""

    def __init__(self, soak: ProcessSoak) -> None:
        self._soak = soak
        self.gaps: list[float] = []
        self.oldest = 0.0
        self._last = time.perf_counter()
        self._seen: list[tuple[float, int]] = []
        self._beat, self._look = QTimer(), QTimer()
        self._beat.timeout.connect(self._take_gap)
        self._look.timeout.connect(self._take_age)
        self._beat.start(BEAT_MS)
        self._look.start(WATCH_MS)

    def stop(self) -> None:
        """Look no more."""
        self._beat.stop()
        self._look.stop()

    def _take_gap(self) -> None:
        now = time.perf_counter()
        self.gaps.append((now - self._last) * 1000)
        self._last = now

    def _take_age(self) -> None:
        """Of the words that had arrived at earlier looks, the oldest that are not on the disk."""
        now, shown = time.perf_counter(), len(self._soak.arrived)
        saved = self._soak.on_disk()
        there = len(saved[-1][1]) if saved else 0
        if not self._soak.chat.busy or (self._seen and shown < self._seen[-1][1]):
            self._seen = []
        self._seen = [(when, length) for when, length in self._seen if length > there]
        if self._seen:
            self.oldest = max(self.oldest, now - self._seen[0][0])
        if not self._seen or self._seen[-1][1] != shown:
            self._seen.append((now, shown))


def run(soak: ProcessSoak, answers: int) -> list[int]:
    """Ask for all answers; bytes resident after each tenth, when no conversation is open."""
    process, found = psutil.Process(), []
    print(f"{'answers':>7} {'RSS MiB':>8} {'database queue':>14} {'files queue':>11}", flush=True)
    for number in range(answers):
        soak.ask(number)
        until(lambda: soak.chat.busy)
        until(lambda: not soak.chat.busy, 600_000)
        if (number + 1) * STEPS // answers > number * STEPS // answers:
            found.append(process.memory_info().rss)
            queues = f"{soak.database.most:14} {soak._files.most:11}"
            print(f"{number + 1:7} {found[-1] / MIB:8.1f} {queues}", flush=True)
    return found


def main() -> int:
    """Print the table and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument(
        "--answer", type=int, default=500, help="words of one answer; with their marks some are several tokens"
    )
    parser.add_argument("--rate", type=float, default=100.0, help="tokens a second")
    wish = parser.parse_args()
    app = QApplication(sys.argv[:1])
    theme = Theme()
    theme.apply(app)
    count = max(STEPS, round(wish.minutes * 60 * wish.rate / wish.answer))
    texts = [answer_text(number, wish.answer) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        soak = ProcessSoak(Path(folder), theme, [{"text": text, "delay": 1 / wish.rate} for text in texts])
        gc.disable()
        gc.freeze()
        collector = GuiThreadCollector()
        collector.start()
        watch, begun, used = Watch(soak), time.monotonic(), time.process_time()
        found = run(soak, count)
        seconds, used = time.monotonic() - begun, time.process_time() - used
        watch.stop()
        collector.stop()
        soak.close()
        saved = soak.on_disk()
    gaps = sorted(watch.gaps)
    whole = saved == [("done", text) for text in texts]
    tokens = sum(len(split_tokens(text)) for text in texts)
    print(f"{count} answers, {tokens} tokens in {seconds:.0f} s: {tokens / seconds:.0f} tok/s")
    print(f"all on the disk, word for word: {whole}; oldest word that was not yet: {watch.oldest:.2f} s")
    print(
        f"event loop: longest gap {gaps[-1]:.0f} ms, p99 {gaps[int(0.99 * len(gaps))]:.0f} ms; {used / seconds:.0%} CPU"
    )
    print(f"RSS {found[0] / MIB:.1f} MiB after a tenth, {found[-1] / MIB:.1f} at the end")
    machine = f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} CPUs"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}")
    return int(not whole)


if __name__ == "__main__":
    sys.exit(main())
