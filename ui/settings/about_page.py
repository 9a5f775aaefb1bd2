"""Which version this is, what it is made of, and where its logs lie."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import PySide6
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPlainTextEdit, QWidget

from app.settings.look import DiskLook
from app.worker.service import WorkerService
from engine.version import program_version
from ui.settings import words
from ui.settings.page import SettingsPage
from ui.settings.row import Row
from ui.theme import SPACE_XS, Theme
from ui.widgets.text_button import TextButton

if TYPE_CHECKING:
    from app.settings.look import Licence

LIST_LINES, TEXT_LINES = 8, 12


class AboutPage(SettingsPage):
    """Versions, logs, licences.

    Args:
        logs: Folder of the logs.
        opener: Shows a folder in the desktop's file manager.
    """

    def __init__(
        self,
        theme: Theme,
        worker: WorkerService,
        look: DiskLook,
        logs: Path,
        opener: Callable[[Path], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, parent)
        self._worker, self._look, self._asked = worker, look, False
        self.set_title(
            self.tr("About Vramble"),
            self.tr("Chat with language models on your own Radeon. Under the Apache License 2.0."),
        )
        self._build_versions()
        self._build_logs(logs, opener)
        self._build_licences()
        worker.hello_received.connect(self._show_engine)
        theme.changed.connect(self._fit)
        self._show_engine()

    def opened(self) -> None:
        """Read the licences once."""
        self._fit()
        if not self._asked:
            self._asked = True
            self._look.licences(self._show_licences)
            self._look.build(self._show_build)

    def _build_versions(self) -> None:
        section = self.section(self.tr("Versions"))
        copy = TextButton(self.theme, self.tr("Copy"), "copy")
        copy.setObjectName("copyVersions")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._versions()))
        section.add(Row(self.theme, "Vramble", program_version(), [copy], words="version"))
        self._engine = Row(self.theme, self.tr("Engine"), "", words="llama.cpp build version")
        section.add(self._engine)
        self._build = Row(self.theme, "llama.cpp", self.tr("unknown"), words="build compiler")
        section.add(self._build)
        section.add(Row(self.theme, "Python, Qt", f"{platform.python_version()}, {PySide6.__version__}"))

    def _versions(self) -> str:
        lines = [f"Vramble {program_version()}", self._engine_text(), f"llama.cpp {self._build.text}"]
        return "\n".join([*lines, f"Python {platform.python_version()}, PySide6 {PySide6.__version__}"])

    def _engine_text(self) -> str:
        hello = self._worker.hello
        if hello is None:
            return self.tr("It has not started yet.")
        if not hello.engine:
            return self.tr("It could not be loaded.")
        loaded = ", ".join(info.name for info in hello.backends if info.loaded)
        return f"{hello.engine} ({loaded})" if loaded else hello.engine

    def _show_engine(self) -> None:
        self._engine.set_text(self._engine_text())

    def _show_build(self, line: str) -> None:
        if line:
            self._build.set_text(line)

    def _build_logs(self, logs: Path, opener: Callable[[Path], None]) -> None:
        section = self.section(self.tr("Logs"))
        button = TextButton(self.theme, self.tr("Open folder"), "folder-open")
        button.setObjectName("openLogs")
        button.clicked.connect(lambda: self._look.find_folder(logs, opener))
        text = self.tr("What the engine and the program wrote: {0}").format(words.shown_path(logs))
        section.add(Row(self.theme, self.tr("Log folder"), text, [button], words="worker.log crash"))

    def _build_licences(self) -> None:
        section = self.section(self.tr("Licences"), self.tr("What Vramble is made of. Choose one to read its text."))
        self._list = QListWidget()
        self._list.setObjectName("licencesList")
        self._list.setProperty("role", "bare")
        self._list.setSpacing(SPACE_XS)
        self._list.setAccessibleName(self.tr("Packages and their licences"))
        self._list.itemSelectionChanged.connect(self._show_text)
        self._text = QPlainTextEdit()
        self._text.setObjectName("licenceText")
        self._text.setReadOnly(True)
        self._text.setTabChangesFocus(True)
        self._text.setProperty("role", "mono")
        self._text.setAccessibleName(self.tr("Text of the licence"))
        self._text.hide()
        for widget in (self._list, self._text):
            section.add(widget, "licences packages")
        section.set_wanted(self._text, False)
        self._licences = section

    def _show_licences(self, found: Sequence[Licence]) -> None:
        for licence in found:
            item = QListWidgetItem(f"{licence.package} {licence.version}   {licence.licence}")
            item.setData(Qt.ItemDataRole.UserRole, licence.text)
            self._list.addItem(item)

    def _show_text(self) -> None:
        chosen = self._list.selectedItems()
        text = chosen[0].data(Qt.ItemDataRole.UserRole) if chosen else ""
        self._text.setPlainText(text or self.tr("The package carries no text of its licence."))
        self._licences.set_wanted(self._text, bool(chosen))

    def _fit(self) -> None:
        """Heights for the present text size."""
        for widget, lines, between in ((self._list, LIST_LINES, 2 * SPACE_XS), (self._text, TEXT_LINES, 0)):
            widget.setFixedHeight((widget.fontMetrics().lineSpacing() + between) * lines + 16)
