"""From a search to the badge that says whether a model fits, with a local Hub that takes its time for each answer.

Timed are the steps that a user sees, with the real service, the real children and headers of real size: rows of the
search, the page of a repository with its card and files, the badge of a file from the remote header. The first round
finds no process and nothing kept; the others find the child that is there while the window is open, and other
repositories. ``--exclusive`` runs all of it at real-time priority (needs the right to it). Use, in the checkout:

    QT_QPA_PLATFORM=offscreen .venv/bin/python -m tests.bench.search_badge [--latency-ms 20] [--rounds 8] [--exclusive]
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEventLoop, QObject

from app.downloads.remote_headers import RemoteHeaders
from app.fit.badges import FitBadges
from app.hub.service import HubService
from app.jobs import SerialRunner, ThreadExecutor
from app.load.service import LoadService
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.hub.records import SearchQuery
from engine.memory.fit import fit_devices
from tests.bench.alone import alone
from tests.fakes import sparse_gguf as sparse
from tests.fakes.hub_pages import row
from tests.fakes.local_hub import LocalHub
from tests.fakes.sparse_gguf import Sizes
from tests.ui.shell.standins import HELLO

SHAPE = sparse.llama(Sizes(36, 4096, 32, 8, 128, 12288, 151936), "Q4_K")
"""An 8B model with a vocabulary of 152k tokens."""

HEADER_BYTES = 12 * 1024 * 1024
GIVE_UP_S = 120.0
STEPS = ("rows of the search", "page of a repository", "badge of a file", "search to badge")


class Stand:
    """The services as the program builds them, on a local Hub."""

    def __init__(self, hub: LocalHub, folder: Path) -> None:
        self.owner = QObject()
        store = SettingsStore(folder / "settings.json", SerialRunner(ThreadExecutor("files"), self.owner), Notices())
        self.hub = HubService(
            folder / "hub", ThreadExecutor("hub"), lambda: dict(os.environ), lambda: False, lambda: (), self.owner
        )
        self.load = LoadService(
            store,
            ThreadExecutor("load"),
            lambda: HELLO.devices,
            lambda: fit_devices(HELLO.devices),
            lambda: (),
            self.owner,
        )
        self.remote = RemoteHeaders(folder / "headers", ThreadExecutor("headers"), self.owner)
        self.badges = FitBadges(self.load, self.remote, self.owner)

    def close(self) -> None:
        self.hub.shutdown()
        self.remote.shutdown()
        self.load.shutdown()


def wait(condition: Callable[[], bool]) -> None:
    """Let events go by until it holds."""
    end = time.monotonic() + GIVE_UP_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 5)


def one_round(stand: Stand, number: int) -> list[float]:
    """Milliseconds of each step."""
    begin = time.perf_counter()
    stand.hub.search(SearchQuery(text=f"model{number}-"), now=True)
    wait(lambda: not stand.hub.searching and bool(stand.hub.results))
    rows = time.perf_counter()
    stand.hub.open(stand.hub.results[0].repo)
    wait(lambda: stand.hub.page is not None)
    opened = time.perf_counter()
    page = stand.hub.page
    assert page is not None
    file = page.groups[0].files[0].file
    stand.badges.look_at_files(page.listing, page.listing.files, file)
    wait(lambda: stand.badges.of_file(page.listing, file).plan is not None)
    end = time.perf_counter()
    return [1000 * step for step in (rows - begin, opened - rows, end - opened, end - begin)]


def fill(hub: LocalHub, folder: Path, rounds: int) -> None:
    """A repository for each round, with a file whose header has its real length."""
    path = SHAPE.write(folder / "model.gguf")
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(HEADER_BYTES)
    for number in range(rounds):
        repo = f"maker/model{number}-GGUF"
        hub.add(repo, f"model{number}-Q4_K_M.gguf", head, told_size=size)
        hub.add(repo, f"model{number}-Q8_0.gguf", head, told_size=2 * size)
        hub.add(repo, "README.md", b"# Model\n\n" + b"Some words on it. " * 1500, linked=False)
    hub.pages.rows = [row(f"maker/model{number}-GGUF") for number in range(rounds)]


def measure(rounds: int, latency_s: float) -> list[list[float]]:
    """Milliseconds of each step of each round."""
    with tempfile.TemporaryDirectory() as name, LocalHub() as hub:
        os.environ["HF_ENDPOINT"] = hub.url
        fill(hub, Path(name), rounds)
        hub.pages.latency_s = latency_s
        stand = Stand(hub, Path(name) / "own")
        times = [one_round(stand, number) for number in range(rounds)]
        stand.close()
    return times


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--latency-ms", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--exclusive", action="store_true", help="real-time priority for all")
    arguments = parser.parse_args()
    app = QCoreApplication.instance() or QCoreApplication([])
    with alone(arguments.exclusive):
        if arguments.exclusive:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        times = measure(arguments.rounds, arguments.latency_ms / 1000)
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, ", end=""
    )
    print(f"{arguments.latency_ms:.0f} ms for each answer")
    print(f"{'':24}{'first':>9}{'median':>9}{'fastest':>9}  ms")
    for place, step in enumerate(STEPS):
        later = [one[place] for one in times[1:]] or [times[0][place]]
        print(f"{step:24}{times[0][place]:9.0f}{statistics.median(later):9.0f}{min(later):9.0f}")
    del app
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
