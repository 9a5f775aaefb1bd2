"""The models window on stand-ins, and on the real services of library and downloads with a local Hub."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import shiboken6
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QLabel, QMenu, QPushButton, QTabWidget, QWidget

from app.downloads.service import DownloadService
from app.jobs import ThreadExecutor
from app.library.service import LibraryService
from engine.downloads.messages import Limits
from tests.engine.library.making import llama
from tests.fakes.local_hub import LocalHub
from tests.fakes.tiny_gguf import U32
from tests.ui.library.fakes import FakeAccount, FakeBadges, FakeDownloads, FakeHub, FakeLibrary, make_store
from tests.ui.shell.standins import FakeWorker
from ui.library.outside import Outside
from ui.library.parts import Parts
from ui.library.window import ModelManagerWindow
from ui.theme import Theme

PATIENCE_MS = 60_000
QUICK = Limits(connect_s=30, stall_s=60, retries=1, first_wait_s=0.02, report_s=0, reserve=1)
REPO = "maker/small-GGUF"
GEMMA = "ggml-org/gemma-GGUF/gemma-3-4b-it-Q4_K_M.gguf"
QWEN = "Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q8_0.gguf"

W = TypeVar("W", bound=QWidget)


class Manager:
    """The window and what a user does with it."""

    def __init__(self, parts: Parts, qtbot: Any) -> None:
        self.parts, self.qtbot = parts, qtbot
        self.hub: Any = parts.hub
        self.library: Any = parts.library
        self.downloads: Any = parts.downloads
        self.account: Any = parts.account
        self.worker: Any = parts.worker
        self.opened: list[Path] = []
        self.visited: list[str] = []
        self.loads: list[Path] = []
        self.window = ModelManagerWindow(parts)
        self.window.load_requested.connect(self.loads.append)
        self.window.show()
        qtbot.waitExposed(self.window)
        self.window.activateWindow()
        self.until(lambda: not self.library.scanning)

    def close(self) -> None:
        self.window.close()
        shiboken6.delete(self.window)

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=PATIENCE_MS)

    # ---- what is seen

    def find(self, name: str, kind: type[W] = QWidget) -> W:  # type: ignore[assignment]
        """The visible widget with an object name."""
        found = [w for w in self.window.findChildren(kind, name) if w.isVisible()]
        assert found, f"{name} is not visible"
        return found[0]

    def shows(self, name: str) -> bool:
        return any(w.isVisible() for w in self.window.findChildren(QWidget, name))

    def texts(self) -> str:
        """All labels that are seen."""
        return "\n".join(label.text() for label in self.window.findChildren(QLabel) if label.isVisible())

    def rows(self, name: str) -> list[list[str]]:
        model = self.find(name, QAbstractItemView).model()
        columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount()
        return [[model.index(row, column).data() for column in range(columns)] for row in range(model.rowCount())]

    def page(self) -> int:
        return self.find("managerTabs", QTabWidget).currentIndex()

    # ---- what is done

    def tab(self, number: int) -> None:
        self.press(Qt.Key(Qt.Key.Key_1 + number), Qt.KeyboardModifier.ControlModifier)
        assert self.page() == number

    def click(self, name: str) -> None:
        button = self.find(name, QPushButton)
        assert button.isEnabled(), f"{name} is disabled"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def click_text(self, text: str) -> None:
        found = [
            b for b in self.window.findChildren(QPushButton) if b.isVisible() and b.text().replace("&", "") == text
        ]
        assert found, f"no button {text}"
        QTest.mouseClick(found[0], Qt.MouseButton.LeftButton)

    def index(self, name: str, text: str) -> QModelIndex:
        view = self.find(name, QAbstractItemView)
        for row in range(view.model().rowCount()):
            index = view.model().index(row, 0)
            if index.data() == text:
                return index
        raise AssertionError(f"no row {text}")

    def choose(self, name: str, text: str) -> None:
        """Click the row whose first cell is ``text``."""
        view, index = self.find(name, QAbstractItemView), self.index(name, text)
        view.scrollTo(index)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(index).center())

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """A key for the widget that has the focus."""
        focused: QWidget | None = self.window.focusWidget()
        QTest.keyClick(self.window if focused is None else focused, key, modifier)

    def type(self, text: str) -> None:
        target = self.window.focusWidget()
        assert target is not None
        QTest.keyClicks(target, text)

    def menu(self, button: str) -> list[QMenu]:
        """The menu that a button opens, and those inside it."""
        self.click(button)
        found = [menu for menu in self.window.findChildren(QMenu) if menu.isVisible()]
        assert found, "no menu"
        return [found[-1], *found[-1].findChildren(QMenu)]

    def trigger(self, button: str, text: str) -> None:
        """Choose an entry of the menu that a button opens."""
        menus = self.menu(button)
        action = next(a for menu in menus for a in menu.actions() if a.text() == text and a.menu() is None)
        assert action.isEnabled(), f"{text} cannot be chosen"
        action.trigger()
        menus[0].close()

    def files(self) -> list[str]:
        folder = self.library.folder
        found = [Path(place) / name for place, _, names in os.walk(folder) for name in names]
        return sorted(str(path.relative_to(folder)) for path in found if not path.name.startswith("."))


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


def build(manager: list[Manager], **parts: Any) -> Parts:
    """Parts whose outside is noted in the manager that will be made."""
    outside = Outside(
        folder=lambda folder: manager[0].opened.append(folder),
        visit=lambda address: manager[0].visited.append(address),
        site=lambda: "https://hub.example",
    )
    return Parts(**{"hub": FakeHub(), "worker": FakeWorker(), "outside": outside, **parts})


@pytest.fixture
def fake(theme: Theme, tmp_path: Path, qtbot: Any) -> Iterator[Manager]:
    """On stand-ins."""
    made: list[Manager] = []
    parts = build(
        made,
        theme=theme,
        downloads=FakeDownloads(),
        library=FakeLibrary(),
        settings=make_store(tmp_path),
        badges=FakeBadges(),
        account=FakeAccount(),
    )
    made.append(Manager(parts, qtbot))
    yield made[0]
    made[0].close()


@pytest.fixture
def manager(models: Path, hub: LocalHub, theme: Theme, tmp_path: Path, qtbot: Any) -> Iterator[Manager]:
    """On real services; the pages of repositories are told by the test."""
    # Destroyed here and not by the garbage collector, which may run in a thread of the hub.
    owner = QObject()
    library = LibraryService(models, None, ThreadExecutor("library"), owner)
    downloads = DownloadService(models, ThreadExecutor("downloads"), owner, limits=QUICK)
    downloads.finished.connect(lambda _job: library.rescan())
    made: list[Manager] = []
    parts = build(made, theme=theme, downloads=downloads, library=library, settings=make_store(tmp_path))
    made.append(Manager(parts, qtbot))
    yield made[0]
    downloads.shutdown()
    library.shutdown()
    made[0].close()
    shiboken6.delete(owner)
