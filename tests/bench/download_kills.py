"""kill -9 of the download child and of the window's process at random moments: the file is right in the end, and little
is fetched twice.

The Hub is the one of the tests, at a bounded speed, so that what it sent is what was received. After each kill the next
process goes on; a finished file is checked and deleted, and another begins. Use, in the checkout:

    .venv/bin/python -m tests.bench.download_kills [--kills 100] [--which child|window] [--connections 4] [--json FILE]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import psutil

from engine.downloads.launch import command, environment
from engine.downloads.messages import Fetch, encode
from engine.downloads.partial import bytes_here
from engine.library.listing import FilePart
from tests.bench.figures import machine, machine_line, table, write_json
from tests.fakes.local_hub import LocalHub

REPO, FILE = "maker/kills-GGUF", "kills-Q4_0.gguf"
SIZE = 64 << 20
SPEED = 24e6
"""Bytes per second of all connections together."""

LONGEST = 2.5
"""Seconds until a kill, from the moment on that the process said or did something."""

PATIENCE = 120.0


class Tally(msgspec.Struct):
    """What came of the kills. Bytes are those that the server sent more than the files have."""

    kills: int = 0
    files: int = 0
    wrong: int = 0
    twice: int = 0
    most_twice: int = 0
    orphans: int = 0


class Course:
    """Kills of one kind of process.

    Args:
        start: Starts the process; it is ready when it writes a line.
    """

    def __init__(self, hub: LocalHub, models: Path, kills: int, rng: random.Random) -> None:
        self._hub = hub
        self._models = models
        self._kills = kills
        self._rng = rng
        self._target = models / REPO / FILE
        self._seed = 0
        self.tally = Tally()

    def run(self, start: object, connections: int) -> Tally:
        """Kill until there were enough, then let the last file be finished."""
        assert callable(start)
        self._next_file(connections)
        while self.tally.kills < self._kills or not self._target.exists():
            before = self._sent(), self._here()
            process: subprocess.Popen[bytes] = start()
            try:
                wait_for_line(process)
                self._follow(process)
            finally:
                self._end(process)
            lost = self._sent() - before[0] - (self._here() - before[1])
            self.tally.twice += max(0, lost)
            self.tally.most_twice = max(self.tally.most_twice, lost)
            if self._target.exists() and not self._finish(connections):
                break
        return self.tally

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for a random moment; after the last kill until the file is there."""
        enough = self.tally.kills >= self._kills
        end = time.monotonic() + (PATIENCE if enough else self._rng.random() * LONGEST)
        while time.monotonic() < end and not self._target.exists() and process.poll() is None:
            time.sleep(0.01)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None and not self._target.exists():
            self.tally.kills += 1
        children = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        process.send_signal(signal.SIGKILL)
        process.wait()
        _, alive = psutil.wait_procs(children, timeout=20)
        self.tally.orphans += len(alive)
        for child in alive:
            child.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def _here(self) -> int:
        return SIZE if self._target.exists() else bytes_here(self._target, SIZE)

    def _sent(self) -> int:
        return self._hub.sent.get(FILE, 0)

    def _next_file(self, connections: int) -> None:
        self._seed += 1
        data = random.Random(self._seed).randbytes(SIZE)
        self._hub.add(REPO, FILE, data, bytes_per_s=SPEED / connections)

    def _finish(self, connections: int) -> bool:
        """Check the file and begin another one; False when there were kills enough."""
        right = hashlib.sha256(self._target.read_bytes()).hexdigest() == self._hub.repos[REPO][FILE].sha256
        self.tally.files += 1
        self.tally.wrong += not right
        if self.tally.kills >= self._kills:
            return False
        self._target.unlink()
        self._next_file(connections)
        return True


def wait_for_line(process: subprocess.Popen[bytes]) -> None:
    """Until the process has said something."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        assert selector.select(PATIENCE), "the process says nothing"


def start_child(models: Path, connections: int) -> subprocess.Popen[bytes]:
    """The download child, with its request."""
    request = Fetch(
        models=os.fsencode(models), repo=REPO, files=(FilePart(path=FILE, size=SIZE),), connections=connections
    )
    process = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    assert process.stdin is not None
    process.stdin.write(encode(request))
    process.stdin.flush()
    return process


def start_window(home: Path, connections: int) -> subprocess.Popen[bytes]:
    """A process with the download service of the window, which takes the queue up by itself."""
    line = [
        sys.executable,
        "-m",
        "tests.bench.download_kills",
        "--window",
        str(home),
        "--connections",
        str(connections),
    ]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def be_a_window(home: Path, connections: int) -> int:
    """The download service on an event loop. It asks for the file, unless the queue has it."""
    from PySide6.QtCore import QCoreApplication, QTimer

    from app.downloads.service import DownloadService
    from app.downloads.settings import DownloadSettings
    from app.jobs import SerialRunner, ThreadExecutor
    from app.notices import Notices
    from app.settings.store import SettingsStore

    application = QCoreApplication([])
    runner = SerialRunner(ThreadExecutor("files"), application)
    store = SettingsStore(home / "settings.json", runner, Notices(application), application)
    store.put(DownloadSettings(connections=connections))
    service = DownloadService(
        home / "models", ThreadExecutor("downloads"), application, store=store, queue_file=home / "downloads.json"
    )
    service.finished.connect(lambda job: print(job.state, job.error, flush=True))
    QTimer.singleShot(0, lambda: print("ready", flush=True))
    if not (home / "downloads.json").exists() or FILE.encode() not in (home / "downloads.json").read_bytes():
        service.start(REPO, FILE)
    return application.exec()


def main() -> int:
    """Kill and print."""
    parser = argparse.ArgumentParser(description="Random kills of downloads.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--which", choices=("child", "window", "both"), default="both")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--window", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.window:
        return be_a_window(arguments.window, arguments.connections)
    rows: list[list[object]] = [
        ["killed", "kills", "files", "wrong", "orphans", "MB twice", "per kill, kB", "most, kB"]
    ]
    names = {"child": ["download child"], "window": ["window"]}.get(arguments.which, ["download child", "window"])
    for name in names:
        with LocalHub() as hub, tempfile.TemporaryDirectory() as folder:
            os.environ["HF_ENDPOINT"] = hub.url
            home = Path(folder)
            course = Course(hub, home / "models", arguments.kills, random.Random(arguments.seed))
            starts = {
                "download child": lambda home=home: start_child(home / "models", arguments.connections),
                "window": lambda home=home: start_window(home, arguments.connections),
            }
            tally = course.run(starts[name], arguments.connections)
        per_kill = tally.twice / max(1, tally.kills) / 1000
        most = round(tally.most_twice / 1000)
        rows.append([name, tally.kills, tally.files, tally.wrong, tally.orphans, tally.twice / 1e6, per_kill, most])
        print(table(rows), flush=True)
    print(machine_line())
    write_json(arguments.json, {"rows": rows, "machine": machine()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
