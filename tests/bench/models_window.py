"""What the models window costs the thread that draws it, with many models.

    QT_QPA_PLATFORM=offscreen python -m tests.bench.models_window [--files 2000] [--tokens 2000] [--profile STEP]

The real services and the real window, on a home of its own with as many GGUF headers as asked for. Each act is followed
by turns of the event loop until nothing has happened for a while. What is told is CPU time of the GUI thread
(`time.thread_time`), so that other work on the machine does not count: the longest single turn, the act itself among
them, and all turns together.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.paths import Paths
from app.services import Services
from app.wiring import build
from tests.bench.figures import machine_line, table
from tests.bench.library_scan import make_files
from tests.fakes.model_homes import machine
from ui.library.keep.columns import Column
from ui.library.presenting import make_manager
from ui.library.window import LIBRARY, ModelManagerWindow
from ui.theme import Theme

QUIET_S = 1.0
"""An act is over when so long nothing of note has happened."""
NOTEWORTHY_S = 0.001


@dataclass
class Act:
    """CPU seconds of the turns that an act took."""

    name: str
    turns: list[float] = field(default_factory=list)
    wall: float = 0.0


class Stage:
    """Runs acts and measures each turn of the event loop."""

    def __init__(self, profiled: str) -> None:
        self.acts: list[Act] = []
        self._profiled = profiled

    def run(self, name: str, act: Callable[[], object], busy: Callable[[], bool] = lambda: False) -> None:
        """``act``, then turns until it is quiet and not ``busy``."""
        found = Act(name)
        profile = cProfile.Profile() if name == self._profiled else None
        begin = time.monotonic()
        if profile is not None:
            profile.enable()
        found.turns.append(_cost(act))
        last = time.monotonic()
        while busy() or time.monotonic() - last < QUIET_S:
            cost = _cost(_turn)
            found.turns.append(cost)
            if cost >= NOTEWORTHY_S:
                last = time.monotonic()
        found.wall = last - begin
        if profile is not None:
            profile.disable()
            pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
        self.acts.append(found)


def _turn() -> None:
    wake = QTimer()
    wake.setSingleShot(True)
    wake.start(20)
    flags = QEventLoop.ProcessEventsFlag
    QCoreApplication.processEvents(flags.AllEvents | flags.WaitForMoreEvents)


def _cost(act: Callable[[], object]) -> float:
    begin = time.thread_time()
    act()
    return time.thread_time() - begin


def play(application: QApplication, services: Services, stage: Stage) -> None:
    """Everything that somebody does with a window full of models."""
    library = services.library
    theme = Theme()
    theme.apply(application)
    made: list[ModelManagerWindow] = []

    def scanning() -> bool:
        return library.scanning

    stage.run("first scan, nothing open", services.begin, scanning)
    stage.run("window made", lambda: made.append(make_manager(services, theme)))
    window = made[0]
    view = window.library.view
    stage.run("shown", window.present, scanning)
    stage.run("library page", lambda: window._tabs.setCurrentIndex(LIBRARY), scanning)
    stage.run("looked at again", library.rescan, scanning)
    own = library.folder / "new-Q4_K_M.gguf"
    own.write_bytes(library.models[0].path.read_bytes()[:-4096])
    stage.run("one file more", library.rescan, scanning)
    stage.run("a word typed", lambda: window.library._tools._search.setText("model-0012"))
    stage.run("the word deleted", lambda: window.library._tools._search.setText(""))
    stage.run(
        "sorted by size", lambda: view.horizontalHeader().setSortIndicator(Column.SIZE, Qt.SortOrder.AscendingOrder)
    )
    stage.run("to the end", view.scrollToBottom)
    stage.run(
        "sorted by fit", lambda: view.horizontalHeader().setSortIndicator(Column.FIT, Qt.SortOrder.AscendingOrder)
    )
    stage.run("another text size", lambda: theme.set_scale(1.5))
    window.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--profile", default="", metavar="ACT", help="print where the time of one act goes")
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ["HOME"] = str(home / "home")
        os.environ["VRAMBLE_SYSROOT"] = str(home / "system")
        paths = Paths(home / "data", home / "config", home / "cache", home / "state")
        make_files(paths.models, machine(home), chosen.files, chosen.tokens)
        app = QApplication(sys.argv[:1])
        services = build(paths)
        stage = Stage(chosen.profile)
        play(app, services, stage)
        services.shutdown()
    print(machine_line())
    rows = [
        (act.name, max(act.turns) * 1000, sum(act.turns) * 1000, len(act.turns), act.wall * 1000) for act in stage.acts
    ]
    print(table([(f"{chosen.files:,} models, CPU ms", "longest turn", "all turns", "turns", "wall"), *rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
