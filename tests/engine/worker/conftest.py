"""Models made once, and workers that are ended whatever the test does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.engine.worker.driver import Worker, starter_model
from tests.fakes.tiny_gguf import small_llama, tiny_llama


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiny.gguf and small.gguf."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "tiny.gguf").write_bytes(tiny_llama())
    (folder / "small.gguf").write_bytes(small_llama())
    return folder


@pytest.fixture(scope="session")
def tiny(models: Path) -> Path:
    return models / "tiny.gguf"


StartWorker = Callable[..., Worker]


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[StartWorker]:
    """Starts workers; they are killed at the end if they still run."""
    with ExitStack() as stack:

        def start(**options: object) -> Worker:
            worker = Worker(log=tmp_path / "worker.log", **options)  # type: ignore[arg-type]
            stack.callback(worker.process.kill)
            return worker

        yield start


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """A worker without a model, shared by the tests of a module."""
    with Worker(log=tmp_path_factory.mktemp("worker") / "worker.log") as made:
        yield made


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """A worker with the starter model, shared by the tests of a module."""
    with Worker(log=tmp_path_factory.mktemp("chat") / "worker.log") as worker:
        worker.loaded(starter_model(), n_threads=1, n_ctx=1024)
        yield worker


@pytest.fixture(scope="module")
def cpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """A worker for references only: the first one takes its priority away."""
    with Worker(log=tmp_path_factory.mktemp("cpu") / "worker.log") as made:
        yield made
