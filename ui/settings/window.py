"""The settings: their own window with a list of pages, a search, and the chosen page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from app.wiring import Services
from ui.settings.about_page import AboutPage
from ui.settings.backends_page import BackendsPage
from ui.settings.devices_page import DevicesPage
from ui.settings.doctor_page import DoctorPage
from ui.settings.engine_page import EnginePage
from ui.settings.general_page import GeneralPage
from ui.settings.page import SettingsPage
from ui.settings.pending_bar import PendingBar
from ui.settings.row import plain_label
from ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS, Theme
from ui.widgets.first_size import fit_screen
from ui.widgets.text_button import TextButton

LIST_WIDTH = 216
ICONS = {
    "general": "gear-six",
    "engine": "sliders-horizontal",
    "devices": "cpu",
    "backends": "puzzle-piece",
    "doctor": "heartbeat",
    "about": "info",
}


def open_folder(folder: Path) -> None:
    """Show ``folder`` in the desktop's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


class SettingsWindow(QWidget):
    """Every change is saved at once. Escape ends a search, then closes the window."""

    def __init__(
        self,
        services: Services,
        theme: Theme,
        *,
        environ: Mapping[str, str] | None = None,
        opener: Callable[[Path], None] = open_folder,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("settingsWindow")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "background")
        self.setWindowTitle(self.tr("Settings – Vramble"))
        self.setMinimumSize(720, 480)
        fit_screen(self, 980, 680)
        self._pages = self._make_pages(services, os.environ if environ is None else environ, opener)
        self._buttons: dict[str, TextButton] = {}
        self._pending = PendingBar(theme, services.changes)
        self._pending.left.connect(self.focus)
        self._lay_out()
        self._add_shortcuts()
        theme.changed.connect(self._limit)
        self._limit()
        self.show_page("general")

    @property
    def page(self) -> str:
        """Name of the page that is shown."""
        shown = self._stack.currentWidget()
        return next((name for name, page in self._pages.items() if page is shown), next(iter(self._pages)))

    def show_page(self, name: str) -> None:
        """Show the page called ``name``."""
        page = self._pages[name]
        self._buttons[name].setChecked(True)
        self._stack.setCurrentWidget(page)
        if self.isVisible():
            page.opened()

    def present(self, name: str = "") -> None:
        """Bring the window to the front, on page ``name`` when given."""
        self.show()
        self.show_page(name or self.page)
        self.raise_()
        self.activateWindow()
        self.focus()

    def focus(self) -> None:
        """Give the keyboard to the list of pages."""
        self._buttons[self.page].setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape: see the class."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self._search.text():
            self._search.clear()
        else:
            self.close()

    def _make_pages(
        self, services: Services, environ: Mapping[str, str], opener: Callable[[Path], None]
    ) -> dict[str, SettingsPage]:
        theme, store, look, paths = self._theme, services.settings, services.look, services.paths
        return {
            "general": GeneralPage(theme, store, paths, look, opener),
            "engine": EnginePage(theme, store),
            "devices": DevicesPage(theme, store, services.worker),
            "backends": BackendsPage(theme, store, services.worker, look, paths.backends, environ, opener),
            "doctor": DoctorPage(theme, services.doctor),
            "about": AboutPage(theme, services.worker, look, paths.logs, opener),
        }

    def _lay_out(self) -> None:
        self._stack = QStackedWidget()
        for page in self._pages.values():
            self._stack.addWidget(page)
        self._nothing = plain_label(self.tr("No setting is called that."), "muted")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack.addWidget(self._nothing)
        right = QVBoxLayout()
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.addWidget(self._stack, 1)
        right.addWidget(self._pending)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._build_list())
        row.addLayout(right, 1)

    def _build_list(self) -> QWidget:
        self._list = QWidget()
        self._list.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._list.setProperty("role", "panel")
        self._search = QLineEdit()
        self._search.setObjectName("settingsSearch")
        self._search.setPlaceholderText(self.tr("Search"))
        self._search.setAccessibleName(self.tr("Search the settings"))
        self._search.textChanged.connect(self._find)
        column = QVBoxLayout(self._list)
        column.setContentsMargins(SPACE_M, SPACE_L, SPACE_M, SPACE_L)
        column.setSpacing(SPACE_XS // 2)
        column.addWidget(self._search)
        column.addSpacing(SPACE_S)
        group = QButtonGroup(self)
        for name, page in self._pages.items():
            button = TextButton(self._theme, page.title, ICONS[name], role="nav")
            button.setObjectName(f"settingsPage-{name}")
            button.setCheckable(True)
            button.clicked.connect(lambda _checked=False, name=name: self.show_page(name))
            group.addButton(button)
            self._buttons[name] = button
            column.addWidget(button)
        column.addStretch()
        return self._list

    def _add_shortcuts(self) -> None:
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self._search.setFocus)
        close = QShortcut(QKeySequence(QKeySequence.StandardKey.Close), self)
        close.activated.connect(self.close)
        for number, name in enumerate(self._pages):
            jump = QShortcut(QKeySequence(f"Ctrl+{number + 1}"), self)
            jump.activated.connect(lambda name=name: self.show_page(name))

    def _find(self, text: str) -> None:
        """Show only what has every word of ``text``, and the first page that has it."""
        words = text.casefold().split()
        hits = {name: page.search(words) for name, page in self._pages.items()}
        for name, button in self._buttons.items():
            button.setVisible(not words or hits[name] > 0)
        found = [name for name in hits if hits[name]]
        current = self._stack.currentWidget()
        if words and not found:
            self._stack.setCurrentWidget(self._nothing)
        elif current is self._nothing or (words and not hits[self.page]):
            self.show_page(found[0] if words else "general")

    def _limit(self) -> None:
        self._list.setFixedWidth(min(self._theme.px(LIST_WIDTH), 340))
