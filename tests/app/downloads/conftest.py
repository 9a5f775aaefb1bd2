"""A local Hub and a download service with real children."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.downloads.service import DownloadJob, DownloadService
from app.jobs import ThreadExecutor
from engine.downloads.messages import Limits
from tests.fakes.local_hub import LocalHub

QUICK = Limits(connect_s=5, stall_s=20, retries=2, first_wait_s=0.02, longest_wait_s=0.05, report_s=0, reserve=1)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with LocalHub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def downloads(qapp: QApplication, hub: LocalHub, models: Path) -> Iterator[DownloadService]:
    # Destroyed here and not by the garbage collector, which may run in a thread of the hub.
    owner = QObject()
    service = DownloadService(models, ThreadExecutor("downloads"), owner, limits=QUICK)
    yield service
    service.shutdown()
    shiboken6.delete(owner)


def job_of(service: DownloadService, number: int) -> DownloadJob | None:
    return next((job for job in service.jobs if job.id == number), None)
