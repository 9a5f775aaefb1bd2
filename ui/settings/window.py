"""The settings: their own window with a list of pages, a search, and the chosen page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QButtonGroup, QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from app.services import Services
from ui.settings.about_page import AboutPage
from ui.settings.backends_page import BackendsPage
from ui.settings.conversations_page import ConversationsPage
from ui.settings.devices_page import DevicesPage
from ui.settings.doctor_page import DoctorPage
from ui.settings.engine_page import EnginePage
from ui.settings.general_page import GeneralPage
from ui.settings.page import SettingsPage
from ui.settings.pending_bar import PendingBar
from ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS, Theme
from ui.widgets.empty_state import EmptyState
from ui.widgets.first_size import fit_screen
from ui.widgets.text_button import TextButton

FIRST = "general"
LIST_WIDTH, WIDEST_LIST = 216, 340
LEAST, LARGEST_LEAST = QSize(720, 480), QSize(1180, 640)
ICONS = {
    "general": "gear-six",
    "conversations": "chats",
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
        self._limit_size()
        fit_screen(self, 980, 680)
        self._makers = self._page_makers(services, os.environ if environ is None else environ, opener)
        self._pages: dict[str, SettingsPage] = {}
        self._buttons: dict[str, TextButton] = {}
        self._pending = PendingBar(theme, services.changes)
        self._pending.left.connect(self.focus)
        self._lay_out()
        self._pending.refresh()
        self._add_shortcuts()
        self._follow_focus()
        theme.changed.connect(self._limit)
        self._limit()
        self.show_page(FIRST)

    @property
    def page(self) -> str:
        """Name of the page that is shown."""
        shown = self._stack.currentWidget()
        return next((name for name, page in self._pages.items() if page is shown), FIRST)

    def show_page(self, name: str) -> None:
        """Show the page called ``name``."""
        page = self.page_of(name)
        self._buttons[name].setChecked(True)
        self._stack.setCurrentWidget(page)
        if self.isVisible():
            page.opened()

    def turn(self, step: int) -> None:
        """Show the next page of the list, or with -1 the one before."""
        names = [name for name, button in self._buttons.items() if not button.isHidden()]
        if names:
            place = names.index(self.page) if self.page in names else 0
            self.show_page(names[(place + step) % len(names)])
            self.focus()

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

    def page_of(self, name: str) -> SettingsPage:
        """The page called ``name``; made when it is wanted first."""
        if name not in self._pages:
            self._pages[name] = self._makers[name]()
            self._stack.addWidget(self._pages[name])
        return self._pages[name]

    def _page_makers(
        self, services: Services, environ: Mapping[str, str], opener: Callable[[Path], None]
    ) -> dict[str, Callable[[], SettingsPage]]:
        theme, store, look, paths = self._theme, services.settings, services.look, services.paths
        worker = services.worker
        return {
            "general": lambda: GeneralPage(theme, store, paths, look, opener),
            "conversations": lambda: ConversationsPage(
                theme, store, services.chat.keeping, services.backup, services.notices
            ),
            "engine": lambda: EnginePage(theme, store),
            "devices": lambda: DevicesPage(theme, store, worker),
            "backends": lambda: BackendsPage(theme, store, worker, look, paths.backends, environ, opener),
            "doctor": lambda: DoctorPage(theme, services.doctor),
            "about": lambda: AboutPage(theme, worker, look, paths.logs, opener),
        }

    def _titles(self) -> dict[str, str]:
        """What the pages are called in the list."""
        return {
            "general": self.tr("General"),
            "conversations": self.tr("Conversations"),
            "engine": self.tr("Model loading"),
            "devices": self.tr("Devices"),
            "backends": self.tr("Backends"),
            "doctor": self.tr("Diagnosis"),
            "about": self.tr("About Vramble"),
        }

    def _lay_out(self) -> None:
        self._stack = QStackedWidget()
        self._nothing = EmptyState(
            self._theme,
            "magnifying-glass",
            self.tr("No setting is called that."),
            self.tr("Temperature, system prompt and other parameters belong to the conversation: Ctrl+I."),
        )
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
        for name, title in self._titles().items():
            button = TextButton(self._theme, title, ICONS[name], role="nav")
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
        for keys, step in (("Ctrl+PgDown", 1), ("Ctrl+PgUp", -1)):
            QShortcut(QKeySequence(keys), self).activated.connect(lambda step=step: self.turn(step))
        for number, name in enumerate(self._makers):
            jump = QShortcut(QKeySequence(f"Ctrl+{number + 1}"), self)
            jump.activated.connect(lambda name=name: self.present(name))

    def _find(self, text: str) -> None:
        """Show only what has every word of ``text``, and the first page that has it."""
        words = text.casefold().split()
        names = self._makers if words else self._pages
        hits = {name: self.page_of(name).search(words) for name in names}
        for name, button in self._buttons.items():
            button.setVisible(not words or hits[name] > 0)
        found = [name for name in hits if hits[name]]
        current = self._stack.currentWidget()
        if words and not found:
            self._stack.setCurrentWidget(self._nothing)
        elif current is self._nothing or (words and not hits[self.page]):
            self.show_page(found[0] if words else FIRST)

    def _follow_focus(self) -> None:
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_changed)

    def _focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to what got the focus, also from outside of the page."""
        page = self._stack.currentWidget()
        if now is not None and isinstance(page, SettingsPage) and page.isAncestorOf(now):
            page.ensureWidgetVisible(now)

    def _limit(self) -> None:
        self._limit_size()
        self._list.setFixedWidth(min(self._theme.px(LIST_WIDTH), WIDEST_LIST))

    def _limit_size(self) -> None:
        """Large text needs room, but never more than a screen of 1280 by 800 has."""
        least = QSize(self._theme.px(LEAST.width()), self._theme.px(LEAST.height()))
        self.setMinimumSize(least.boundedTo(LARGEST_LEAST))
