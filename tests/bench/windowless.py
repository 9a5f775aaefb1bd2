"""The services of the window under a `QCoreApplication`, driven step by step: what `ui` would show, without it.

As a program it asks questions and reports what is shown, until somebody kills it:

    python -m tests.bench.windowless HOME MODEL
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

from app.chat.rows import MessageRow
from app.chat.settings import ChatSettings
from app.paths import Paths
from app.settings.records import EngineSettings
from app.wiring import build
from engine.chat.records import Role
from engine.client.session import WorkerState
from engine.protocol.types import LoadOptions

POLL_MS = 5
REPORT_SECONDS = 0.1
LONG_QUESTION = "The lighthouse keeper walks along the rock and looks at the sea. " * 40 + "Tell a long story."
LOAD = LoadOptions(n_ctx=2048, device="cpu", n_threads=2)


def paths_below(home: Path) -> Paths:
    """All folders below ``home``."""
    return Paths(home / "data", home / "config", home / "cache", home / "state")


class Windowless:
    """The program without its window. One at a time in a process."""

    def __init__(self, home: Path, model: Path) -> None:
        self._app = QCoreApplication.instance() or QCoreApplication([])
        self.model = self._installed(home, model)
        self.services = build(paths_below(home))
        self.services.settings.put(
            EngineSettings(last_model=str(self.model), n_ctx=LOAD.n_ctx, device=LOAD.device, n_threads=LOAD.n_threads)
        )
        self.services.begin()

    @staticmethod
    def _installed(home: Path, model: Path) -> Path:
        link = paths_below(home).models / "bench" / "bench" / model.name
        link.parent.mkdir(parents=True)
        link.symlink_to(model.resolve())
        return link

    def wait(self, ready: Callable[[], object], seconds: float) -> bool:
        """Let events run until ``ready``; False: it took too long."""
        end, loop, timer = time.monotonic() + seconds, QEventLoop(), QTimer()

        def look() -> None:
            if ready() or time.monotonic() >= end:
                loop.quit()

        timer.timeout.connect(look)
        timer.start(POLL_MS)
        loop.exec()
        return bool(ready())

    def run_for(self, seconds: float) -> None:
        """Let events run for so long."""
        self.wait(lambda: False, seconds)

    @property
    def answer(self) -> MessageRow | None:
        """The last row, when it is an answer."""
        rows = self.services.chat.transcript.rows
        return rows[-1] if rows and rows[-1].role is Role.ASSISTANT else None

    def ask(self, text: str, max_tokens: int) -> bool:
        """Send a message."""
        self.services.settings.put(ChatSettings(max_tokens=max_tokens))
        return self.services.chat.send(text)

    def load(self) -> bool:
        """Load the model and wait for it."""
        ends: list[object] = []
        self.services.worker.load(self.model, LOAD, ends.append)
        return self.wait(lambda: ends, 60) and self.services.worker.state is WorkerState.READY

    def processes(self) -> list[psutil.Process]:
        """The worker and what it started."""
        pid = self.services.worker.pid
        try:
            worker = psutil.Process(pid) if pid else None
            return [worker, *worker.children(recursive=True)] if worker else []
        except psutil.NoSuchProcess:
            return []

    def close(self) -> bool:
        """End as the program ends. False: it did not."""
        done: list[None] = []
        self.services.close(lambda: done.append(None))
        ended = self.wait(lambda: done, 15)
        self.services.shutdown()
        return ended


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run; zombies do not."""
    found = []
    for process in processes:
        try:
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def report(window: Windowless) -> None:
    """Print what is shown now as one JSON line."""
    row = window.answer
    line = {
        "time": time.monotonic(),
        "pids": [process.pid for process in window.processes()],
        "state": str(window.services.worker.state),
        "message": row.id if row else "",
        "text": row.text if row else "",
    }
    print(json.dumps(line), flush=True)


def main() -> int:
    """Ask, again and again, and report."""
    window = Windowless(Path(sys.argv[1]), Path(sys.argv[2]))
    timer = QTimer()
    timer.timeout.connect(lambda: report(window))
    timer.start(int(REPORT_SECONDS * 1000))
    while window.ask(LONG_QUESTION, 1000):
        window.wait(lambda: not window.services.chat.busy, 300)
        window.services.chat.new_conversation()
    return 1


if __name__ == "__main__":
    sys.exit(main())
