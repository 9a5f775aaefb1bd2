"""What a screen reader finds in the transcript: one label for each message that is seen, and announcements.

The labels draw nothing and take no clicks. They exist only while an assistive program is listening.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from ui.chat.transcript.qt_text import copiable
from ui.chat.transcript.row import Row, is_open
from ui.chat.transcript.scene import Scene
from ui.chat.transcript.words import Words

LONGEST = 4000
"""Characters of a message that its label holds."""


class MessageLabel(QLabel):
    """Author and text of one message, for reading aloud only."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setObjectName("messageLabel")

    def paintEvent(self, event: QPaintEvent) -> None:
        """The view draws the message."""

    def sizeHint(self) -> QSize:
        """Any size will do."""
        return QSize(1, 1)


class Spoken:
    """Keeps the labels with what is seen and speaks up when an answer is finished."""

    def __init__(self, view: QWidget, viewport: QWidget, words: Words) -> None:
        self._view, self._viewport, self._words = view, viewport, words
        self._labels: dict[str, MessageLabel] = {}
        self._rows: dict[str, Row] = {}
        self._running = ""

    def update(self, scene: Scene) -> None:
        """Follow what is seen."""
        self._announce_end(scene)
        if not QAccessible.isActive():
            self._clear()
            return
        seen: dict[str, QRect] = {}
        for placed in scene.layout.placed:
            place = QPoint(int(scene.column_x), int(placed.y))
            box = QRect(place, QSize(int(scene.layout.column), int(placed.height)))
            name = scene.layout.rows[placed.row].id
            seen[name] = seen[name].united(box) if name in seen else box
            self._rows[name] = scene.layout.rows[placed.row]
        for name in [name for name in self._labels if name not in seen]:
            self._labels.pop(name).deleteLater()
        for name, box in seen.items():
            self._show(name, box)
        self._rows = {name: self._rows[name] for name in seen}

    def _clear(self) -> None:
        for label in self._labels.values():
            label.deleteLater()
        self._labels.clear()

    def _show(self, name: str, box: QRect) -> None:
        label = self._labels.get(name)
        if label is None:
            label = self._labels[name] = MessageLabel(self._viewport)
            label.lower()
            label.show()
        text = self.text_of(self._rows[name])
        if label.text() != text:
            label.setText(text)
        if label.geometry() != box:
            label.setGeometry(box)

    def text_of(self, row: Row) -> str:
        """What is read for a message: author, text, and how it ended."""
        end = ". ".join(word for word in (row.error or "", self._words.foot(row)) if word)
        body = copiable(row.text[:LONGEST]) or row.progress
        return "\n".join(word for word in (row.author, self._words.thought_line(row), body, end) if word)

    def say(self, text: str) -> None:
        """Have ``text`` read out."""
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._view, text))

    def _announce_end(self, scene: Scene) -> None:
        rows = scene.layout.rows
        last = rows[-1] if rows else None
        if last is not None and is_open(last):
            self._running = last.id
        elif last is not None and last.id == self._running:
            self._running = ""
            self.say(self.text_of(last))
