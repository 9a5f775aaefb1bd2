"""The model manager on real services, a local Hub and a stand-in for the worker."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import shiboken6
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget

from app.downloads.service import DownloadService
from app.jobs import ThreadExecutor
from app.library.service import LibraryService
from engine.downloads.messages import Limits
from tests.engine.library.making import llama
from tests.fakes.local_hub import LocalHub
from tests.fakes.tiny_gguf import U32
from tests.ui.shell.standins import FakeWorker
from ui.library.window import ModelManagerWindow
from ui.theme import Theme

QUICK = Limits(connect_s=5, stall_s=20, retries=1, first_wait_s=0.02, report_s=0, reserve=1)
REPO = "maker/small-GGUF"
GEMMA = "ggml-org/gemma-GGUF/gemma-3-4b-it-Q4_K_M.gguf"
QWEN = "Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q8_0.gguf"

W = TypeVar("W", bound=QWidget)


class Manager:
    """The window and what a user does with it."""

    def __init__(self, models: Path, hub: LocalHub, theme: Theme, owner: QObject, qtbot: Any) -> None:
        self.models, self.hub, self.qtbot = models, hub, qtbot
        self.worker = FakeWorker()
        self.library = LibraryService(models, None, ThreadExecutor("library"), owner)
        self.downloads = DownloadService(models, ThreadExecutor("downloads"), owner, limits=QUICK)
        self.downloads.finished.connect(self._rescan)
        self.until(lambda: not self.library.scanning)
        self.opened: list[Path] = []
        self.loads: list[Path] = []
        self.window = ModelManagerWindow(self.library, self.downloads, self.worker, theme, opener=self.open)  # type: ignore[arg-type]
        self.window.load_requested.connect(self._note_load)
        self.window.show()
        qtbot.waitExposed(self.window)
        self.window.activateWindow()
        self.until(lambda: not self.library.scanning)

    def open(self, folder: Path) -> None:
        self.opened.append(folder)

    def _note_load(self, path: Path) -> None:
        self.loads.append(path)

    def _rescan(self, _job: object) -> None:
        self.library.rescan()

    def close(self) -> None:
        self.downloads.shutdown()
        self.library.shutdown()
        self.window.close()
        shiboken6.delete(self.window)

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=60_000)

    def find(self, name: str, kind: type[W] = QWidget) -> W:  # type: ignore[assignment]
        """The visible widget with an object name."""
        found = [w for w in self.window.findChildren(kind, name) if w.isVisible()]
        assert found, f"{name} is not visible"
        return found[0]

    def shows(self, name: str) -> bool:
        return any(w.isVisible() for w in self.window.findChildren(QWidget, name))

    def click(self, name: str) -> None:
        button = self.find(name, QPushButton)
        assert button.isEnabled(), f"{name} is disabled"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """A key for the widget that has the focus."""
        focused: QWidget | None = self.window.focusWidget()
        QTest.keyClick(self.window if focused is None else focused, key, modifier)

    def type(self, text: str) -> None:
        target = self.window.focusWidget()
        assert target is not None
        QTest.keyClicks(target, text)

    def files(self) -> list[str]:
        found = [Path(folder) / name for folder, _, names in os.walk(self.models) for name in names]
        return sorted(str(path.relative_to(self.models)) for path in found if not path.name.startswith("."))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with LocalHub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    return folder


@pytest.fixture
def filled(models: Path) -> Path:
    """Two models."""
    for name, kind in ((GEMMA, 15), (QWEN, 7)):
        path = models / name
        path.parent.mkdir(parents=True)
        path.write_bytes(llama({"general.file_type": (U32, kind)}))
    return models


@pytest.fixture
def manager(models: Path, hub: LocalHub, theme: Theme, qtbot: Any) -> Iterator[Manager]:
    # Destroyed here and not by the garbage collector, which may run in a thread of the hub.
    owner = QObject()
    made = Manager(models, hub, theme, owner, qtbot)
    yield made
    made.close()
    shiboken6.delete(owner)
