"""What the window consists of in Game Mode: the chat, pages over it, and the line with hints."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QStackedWidget, QVBoxLayout, QWidget

from app.folders.look import FolderLook
from app.pad.keyboard import SteamKeyboard
from app.pad.service import PadService
from ui.shell.arrows import Arrows
from ui.shell.fields import FieldTaps, open_for
from ui.shell.flick import let_flick
from ui.shell.hint_bar import HintBar
from ui.shell.hints import WRITTEN, Press, Where, held_by, hints_for
from ui.shell.pages import Pages
from ui.shell.presses import ChatDoings, Presses, Turns, marks
from ui.theme import Theme

NAMES = {press.value: press for press in Press}


class GameShell(QWidget):
    """The central widget of the one window.

    Attributes:
        pages: The way from the chat to the page that is shown.
    """

    def __init__(
        self, theme: Theme, folders: FolderLook, pad: PadService, keyboard: SteamKeyboard, window: QWidget
    ) -> None:
        super().__init__(window)
        self._pad, self._keyboard, self._window = pad, keyboard, window
        self._presses: Presses | None = None
        self._chat: ChatDoings | None = None
        self._stack = QStackedWidget()
        self.pages = Pages(self._stack, theme, folders, self)
        self._bar = HintBar(theme)
        self._bar.keyboard_wanted.connect(self._type_somewhere)
        self._arrows = Arrows(window, lambda: self)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._show_hints)
        self._arrows.popup_changed.connect(self.show_hints)
        self._taps = FieldTaps(window, self._type_into)
        line = QFrame()
        line.setProperty("role", "hairline")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._stack, 1)
        self._column.addWidget(line)
        self._column.addWidget(self._bar)

    def take(self, chat: QWidget, notices: QWidget) -> None:
        """Show ``chat`` under all pages, and ``notices`` under whatever is shown."""
        self._stack.insertWidget(0, chat)
        self._column.insertWidget(1, notices)

    def begin(self, chat: ChatDoings) -> None:
        """Follow pads, and what the buttons mean."""
        self._chat = chat
        presses = self._presses = Presses(self.pages, chat, self._type_into, self._window)
        self._bar.pressed.connect(presses.press)
        self._pad.pressed.connect(self._pressed)
        self._pad.pads_changed.connect(self.show_hints)
        self.pages.changed.connect(self.show_hints)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self.show_hints)
        self._pad.start()
        self.show_hints()

    def show_hints(self, *_what: object) -> None:
        """Bring the line up to date, once what goes on now is over."""
        self._soon.start(0)

    def _show_hints(self) -> None:
        if self._chat is None:
            return
        let_flick(self)
        top = self.pages.top
        where = Where(
            held=held_by(QApplication.focusWidget()),
            in_chat=top is None,
            answering=self._chat.answering(),
            popup=QApplication.activePopupWidget() is not None,
            scrolls=self._chat.scrolls(),
            turns=isinstance(top, Turns),
            marks=marks(QApplication.focusWidget()),
        )
        self._bar.show_hints(hints_for(where, pad=self._pad.pads > 0), pad=self._pad.pads > 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys that nothing had a use for."""
        if not self._arrows.unused(event):
            super().keyPressEvent(event)

    def _pressed(self, name: str) -> None:
        """Pads are read whoever has the screen: in another program's hands they mean nothing here."""
        active = QApplication.applicationState() is Qt.ApplicationState.ApplicationActive
        if self._presses is not None and active and name in NAMES:
            self._presses.press(NAMES[name])

    def _type_somewhere(self) -> None:
        focused = QApplication.focusWidget()
        if (focused is None or held_by(focused) not in WRITTEN) and self._chat is not None:
            if self.pages.top is None:
                self._chat.focus()
            focused = QApplication.focusWidget()
        self._type_into(focused or self)

    def _type_into(self, field: QWidget) -> None:
        open_for(field, self._keyboard)
