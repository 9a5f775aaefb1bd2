"""SaveCaches with the real worker: what is kept goes to the disk when it is asked for, also where RAM is short."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.protocol.frames import CachesSaved, SaveCaches
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import Worker, assistant
from tests.engine.worker.test_real_restart import MORE, TALK, ask, files, load

MEMINFO = "MemTotal: 8000000 kB\nMemFree: 100000 kB\nMemAvailable: {} kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kv"


def save(worker: Worker, seconds: float = 60.0) -> bool:
    request = SaveCaches(id=worker.new_id(), seconds=seconds)
    worker.send(request)
    end = worker.until_terminal(request.id)[1]
    assert isinstance(end, CachesSaved), end
    return end.complete


@pytest.mark.parametrize("available", [6_000_000, 1_000_000], ids=["roomy", "short"])
def test_saved_on_request_and_read_by_another_process(
    start_worker: StartWorker, models: Path, folder: Path, tmp_path: Path, available: int
) -> None:
    (tmp_path / "root" / "proc").mkdir(parents=True)
    (tmp_path / "root" / "proc" / "meminfo").write_text(MEMINFO.format(available))
    worker = start_worker(env={"VRAMBLE_SYSROOT": str(tmp_path / "root")})
    load(worker, models / "small.gguf", folder)
    text, end = ask(worker, TALK)
    assert files(folder) == []
    assert save(worker)
    (path,) = files(folder)
    written = path.stat().st_mtime_ns
    assert save(worker)
    assert path.stat().st_mtime_ns == written, "nothing is new"
    worker.process.kill()
    after = start_worker()
    load(after, models / "small.gguf", folder)
    _, restored = ask(after, TALK, assistant(text), MORE)
    assert restored.stats.cached_tokens >= end.stats.prompt_tokens > 64


def test_no_time_is_no_file(start_worker: StartWorker, models: Path, folder: Path) -> None:
    worker = start_worker()
    load(worker, models / "small.gguf", folder)
    ask(worker, TALK)
    assert not save(worker, seconds=-1.0)
    assert files(folder) == []


def test_without_a_model_and_without_a_budget(start_worker: StartWorker, models: Path, folder: Path) -> None:
    worker = start_worker()
    assert save(worker)
    load(worker, models / "small.gguf", folder, disk=0)
    ask(worker, TALK)
    assert save(worker)
    assert files(folder) == []
