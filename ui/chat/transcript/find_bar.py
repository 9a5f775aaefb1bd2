"""The small bar over the conversation in which words are typed to be found."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QWidget

from ui.chat.transcript.finding import MOST, Finder
from ui.theme import SPACE_M, SPACE_S, SPACE_XS, Theme
from ui.widgets.icon_button import IconButton

WIDTH = 420


class FindBar(QFrame):
    """Field, count, back and on, close. Enter goes on, Shift+Enter back, Esc closes.

    Attributes:
        typed: The words are others now.
        stepped: Go on by 1 or -1.
        closed: It was closed; the keyboard is needed elsewhere.
    """

    typed = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("findBar")
        self.setProperty("role", "floating")
        self.setAutoFillBackground(True)
        self._field = QLineEdit()
        self._field.setObjectName("findField")
        self._field.setPlaceholderText(self.tr("Find in this conversation"))
        self._field.setAccessibleName(self.tr("Find in this conversation"))
        self._field.textChanged.connect(self.typed)
        self._count = QLabel()
        self._count.setObjectName("findCount")
        self._count.setProperty("role", "muted")
        back = IconButton(theme, "caret-up", self.tr("Previous match"), shortcut="Shift+Enter")
        forward = IconButton(theme, "caret-down", self.tr("Next match"), shortcut="Enter")
        close = IconButton(theme, "x", self.tr("Close"), shortcut="Esc")
        for name, button in (("findBack", back), ("findForward", forward), ("findClose", close)):
            button.setObjectName(name)
        back.clicked.connect(lambda: self.stepped.emit(-1))
        forward.clicked.connect(lambda: self.stepped.emit(1))
        close.clicked.connect(self.close_bar)
        self._steps = (back, forward)
        line = QHBoxLayout(self)
        line.setContentsMargins(SPACE_S, SPACE_XS, SPACE_XS, SPACE_XS)
        line.setSpacing(SPACE_XS)
        line.addWidget(self._field, 1)
        line.addWidget(self._count)
        for widget in (back, forward, close):
            line.addWidget(widget)
        self.hide()

    @property
    def words(self) -> str:
        """What is typed."""
        return self._field.text()

    def open_with(self, words: str) -> None:
        """Show the bar with these words, or those of before, all selected."""
        if words:
            self._field.setText(words)
        self.show()
        self.raise_()
        self._field.selectAll()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.typed.emit(self.words)

    def close_bar(self) -> None:
        """Hide it."""
        self.hide()
        self.closed.emit()

    @property
    def needed_height(self) -> int:
        """Pixels with the room around it."""
        return self.sizeHint().height() + 2 * SPACE_S

    def place(self, below: QRect) -> None:
        """Stand above the right end of ``below``."""
        width = min(self._theme.px(WIDTH), below.width() - 2 * SPACE_M)
        height = self.sizeHint().height()
        self.setGeometry(QRect(below.right() - SPACE_M - width, below.top() - SPACE_S - height, width, height))

    def tell(self, finder: Finder) -> None:
        """Say how many matches there are, and which one is shown."""
        count = len(finder.matches)
        many = f"{count:,}+" if count >= MOST or not finder.done else f"{count:,}"
        if not finder.active:
            text = ""
        elif not count:
            text = self.tr("Nothing found") if finder.done else self.tr("Searching…")
        else:
            text = self.tr("{} of {}").format(f"{(finder.chosen or 0) + 1:,}", many)
        self._count.setText(text)
        for button in self._steps:
            button.setEnabled(count > 1)

    def event(self, event: QEvent) -> bool:
        """Claim Escape before it stops an answer."""
        override = event if event.type() is QEvent.Type.ShortcutOverride else None
        if isinstance(override, QKeyEvent) and override.key() == Qt.Key.Key_Escape:
            override.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter, Shift+Enter, Esc."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.stepped.emit(-1 if back else 1)
        elif event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)
