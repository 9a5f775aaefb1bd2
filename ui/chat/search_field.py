"""Where the query of a search over all conversations is typed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from ui.theme import ICON_SIZE, SPACE_M, SPACE_S, SPACE_XS, TARGET_SIZE, Theme
from ui.theming import icons
from ui.widgets.icon_button import IconButton

WAIT_MS = 60
"""Of keys that follow each other closely only the last one asks."""


class SearchField(QLineEdit):
    """Asks while it is typed in. Escape empties it, Down goes to the results.

    Attributes:
        asked: The text to search for; "" ends the search.
        results_wanted: The keyboard should go to the results.
        left: Escape in an empty field.
    """

    asked = Signal(str)
    results_wanted = Signal()
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("conversationSearch")
        self.setPlaceholderText(self.tr("Search"))
        self.setAccessibleName(self.tr("Search all conversations"))
        self.setToolTip(self.tr("Search all conversations (Ctrl+Shift+F)"))
        self._theme = theme
        self._clear = IconButton(theme, "x", self.tr("End the search"), self)
        self._clear.setObjectName("searchClearButton")
        self._clear.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._clear.setCursor(Qt.CursorShape.ArrowCursor)
        self._clear.clicked.connect(self.clear)
        self._clear.hide()
        self._fit()
        theme.changed.connect(self._fit)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(WAIT_MS)
        self._soon.timeout.connect(lambda: self.asked.emit(self.text()))
        self.textChanged.connect(self._changed)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The glass before the text."""
        super().paintEvent(event)
        size = self._theme.px(ICON_SIZE)
        box = QRect(SPACE_S, 0, size, size)
        box.moveCenter(QPoint(box.center().x(), self.rect().center().y()))
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            colour = QColor(self._theme.tokens.muted)
            icons.draw(painter, self._theme.icon_path("magnifying-glass"), box.toRectF(), colour)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The cross stays at the end."""
        super().resizeEvent(event)
        self._clear.move(self.width() - self._clear.width(), (self.height() - self._clear.height()) // 2)

    def _fit(self) -> None:
        side = self._theme.px(ICON_SIZE) + SPACE_S
        self.setTextMargins(side - SPACE_XS, 0, self._theme.px(TARGET_SIZE) - SPACE_M, 0)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Claim Escape before it stops an answer."""
        override = event if event.type() is QEvent.Type.ShortcutOverride else None
        if isinstance(override, QKeyEvent) and override.key() == Qt.Key.Key_Escape:
            override.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape, Down and Enter; the rest is text."""
        if event.key() == Qt.Key.Key_Escape:
            if self.text():
                self.clear()
            else:
                self.left.emit()
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.text().strip():
            self.results_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _changed(self, text: str) -> None:
        self._clear.setVisible(bool(text))
        if text.strip():
            self._soon.start()
        else:
            self._soon.stop()
            self.asked.emit("")
