"""How long the library takes to look at many model files, and what the window feels of it.

    python -m tests.bench.library_scan [--files 2000] [--tokens 32000] [--rounds 5] [--json FILE]

The files are GGUF headers with a vocabulary of ``--tokens`` entries, followed by a hole as long as the weights; half
lie in the own folder with their origins, the others in folders of LM Studio, the Hub's cache and Ollama. Cold is the
first scan of all (headers read, nothing known; the page cache is dropped where that is allowed), warm is one with the
index of an earlier run read from the disk, and again is one more in the same process. The window's share is the largest
gap between the ticks of a 10 ms timer while the service has its child process look at everything, how much CPU time its
thread takes for that, and the longest single turn of its event loop in CPU time, which other work on the machine does
not change. ``--here`` has the service look in a thread of its own process, as it did before there was a child.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

from app.jobs import SerialRunner, ThreadExecutor
from app.library.service import LibraryService, Outside
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.library.gguf import ModelHeader, read_header
from engine.library.index import Index
from engine.library.origin import Origin, origin_path
from engine.library.surroundings import Surroundings
from engine.library.survey import Survey
from engine.library.whereabouts import Whereabouts
from tests.bench.figures import Spread, machine_line, spread, table
from tests.fakes.model_homes import OLLAMA_MODEL, hub_file, machine, ollama_model, put
from tests.fakes.tiny_gguf import tiny_llama


class Window(msgspec.Struct, frozen=True):
    """What the thread of a window feels of one scan, in milliseconds."""

    gap: float
    turn: float
    cpu: float
    wall: float


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds."""

    files: int
    cold: float
    warm: Spread
    again: Spread
    index_mb: float
    gap_cold: Window
    gap_warm: Window


def make_files(own: Path, around: Surroundings, count: int, tokens: int) -> None:
    """``count`` models: half of them own, the others of three programs."""
    whole = tiny_llama(tokens=[f"token-{number}" for number in range(tokens)], name="model-00000")
    header = read_header(io.BytesIO(whole), len(whole))
    assert isinstance(header, ModelHeader)
    for number in range(count):
        data = whole[: header.data_start].replace(b"model-00000", f"model-{number:05d}".encode(), 1)
        path = _put(own, around, number, data)
        os.truncate(path, len(whole) + number * 4096)


def _put(own: Path, around: Surroundings, number: int, data: bytes) -> Path:
    """Write a header where model ``number`` belongs; gives the file itself."""
    place, name = number % 8, f"model-{number:05d}-Q4_K_M.gguf"
    if place < 4:
        path = put(own / f"owner{number % 50}" / f"repo-{number}" / name, data)
        put(origin_path(path), msgspec.json.encode(Origin(repo="a/b", path=name, sha256=f"{number:064x}")))
        return path
    if place < 6:
        return put(around.home / f".lmstudio/models/p{number % 20}/repo-{number}" / name, data)
    if place == 6:
        cache = around.home / ".cache/huggingface/hub"
        return hub_file(cache, f"o{number % 20}/r-{number}", "c" * 40, name, data).resolve()
    return ollama_model(around.home / ".ollama/models", f"library/m{number}/8b", [(OLLAMA_MODEL, data)])[0]


def timed(work: Callable[[], object]) -> float:
    """Milliseconds."""
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def drop_caches() -> bool:
    """Forget file contents that the system keeps in memory; False where that is not allowed."""
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
    except OSError:
        return False
    return True


def felt(own: Path, around: Surroundings, index: Path, folder: Path, *, apart: bool) -> Window:
    """What a window feels of the scan that its service begins with."""
    app = QCoreApplication.instance() or QCoreApplication([])
    runner = SerialRunner(ThreadExecutor("files"), app)
    settings = SettingsStore(folder / "settings.json", runner, Notices(app), app)
    begin, ticks, turns = time.perf_counter(), [time.perf_counter()], []
    timer = QTimer(app)
    timer.setInterval(10)
    timer.timeout.connect(lambda: ticks.append(time.perf_counter()))
    timer.start()
    outside = Outside(settings, around, index, apart=apart)
    library = LibraryService(own, None, ThreadExecutor("library"), app, outside)
    while library.scanning:
        before = time.thread_time()
        app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        turns.append(time.thread_time() - before)
    end = time.perf_counter()
    timer.stop()
    library.shutdown()
    runner.close()
    gap = max(after - before for before, after in pairwise([*ticks, end]))
    return Window(gap * 1000, max(turns) * 1000, sum(turns) * 1000, (end - begin) * 1000)


def measure(folder: Path, count: int, tokens: int, rounds: int, *, apart: bool) -> Figures:
    """All figures, with files below ``folder``."""
    own, around, index = folder / "own", machine(folder), folder / "index"
    make_files(own, around, count, tokens)

    def survey() -> Survey:
        return Survey(Whereabouts(own, around), Index(index))

    drop_caches()
    first = survey()
    cold = timed(first.scan)
    found = first.scan()
    assert sum(model.can_chat for model in found.models) == count, "not all files were found"
    warm = [timed(lambda: survey().scan()) for _ in range(rounds)]
    again = [timed(first.scan) for _ in range(rounds)]
    gap_warm = felt(own, around, index, folder, apart=apart)
    drop_caches()
    gap_cold = felt(own, around, folder / "no-index", folder, apart=apart)
    warm_spread, again_spread = spread(warm), spread(again)
    assert warm_spread is not None
    assert again_spread is not None
    return Figures(
        files=count,
        cold=cold,
        warm=warm_spread,
        again=again_spread,
        index_mb=index.stat().st_size / 1e6,
        gap_cold=gap_cold,
        gap_warm=gap_warm,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--tokens", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--here", action="store_true", help="look in a thread of the window's process")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), chosen.files, chosen.tokens, chosen.rounds, apart=not chosen.here)
    print(machine_line())
    rows = [
        (f"cold, {found.files:,} files", f"{found.cold:.0f}"),
        ("warm, index from the disk: p50, max", f"{found.warm.p50:.0f}, {found.warm.max:.0f}"),
        ("again in the same process: p50, max", f"{found.again.p50:.0f}, {found.again.max:.0f}"),
        *((f"window, {name}", _line(window)) for name, window in (("cold", found.gap_cold), ("warm", found.gap_warm))),
        ("index, MB", f"{found.index_mb:.1f}"),
    ]
    print(table([("scan", "ms"), *rows]))
    if chosen.json is not None:
        chosen.json.write_bytes(msgspec.json.encode(found))
    return 0


def _line(window: Window) -> str:
    return f"gap {window.gap:.0f}, turn {window.turn:.1f} CPU, {window.cpu:.0f} CPU of {window.wall:.0f}"


if __name__ == "__main__":
    sys.exit(main())
