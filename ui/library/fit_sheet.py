"""The sum behind a fit badge: what the model takes, what there is, and what would make it fit."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from app.fit.badges import Badge
from engine.memory.fit.records import Suggestion
from ui.load import words
from ui.load.summary import SHORT, Summary
from ui.theme import SPACE_L, SPACE_M, Theme, set_role
from ui.widgets.text_button import TextButton

WIDTH = 340


class FitSheet(QFrame):
    """Closes with Escape or a click elsewhere.

    Attributes:
        chosen: A change was pressed: these `LoadOptions` fit.
        other_wanted: The other file that fits was pressed.
    """

    chosen = Signal(object)
    other_wanted = Signal()

    def __init__(
        self,
        theme: Theme,
        name: str,
        badge: Badge,
        suggestions: Sequence[Suggestion],
        parent: QWidget,
        *,
        installed: bool = True,
        other: str = "",
    ) -> None:
        """``other``: quant of another file that would fit, or "". What is not ``installed`` cannot be loaded yet."""
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("fitSheet")
        self.setProperty("role", "popover")
        self.setAccessibleName(self.tr("Will {0} fit").format(name))
        self._theme = theme
        column = QVBoxLayout(self)
        column.setContentsMargins(0, SPACE_L, 0, SPACE_M)
        column.setSpacing(0)
        column.addWidget(self._head(name, badge))
        summary = Summary(theme)
        summary.learned.forget.hide()
        summary.show_plan(badge.plan, "")
        column.addWidget(summary)
        fails = badge.plan is not None and badge.plan.verdict in SHORT
        if fails and installed:
            summary.suggestions.show_all(tuple(suggestions))
        elif fails and suggestions:
            column.addWidget(self._told(suggestions))
        if other:
            column.addWidget(self._other(other))
        summary.chosen.connect(self._take)
        self.setFixedWidth(theme.px(WIDTH))

    def open_at(self, cell: QRect) -> None:
        """Show it below ``cell`` (on the screen), moved so that it stays there."""
        self.adjustSize()
        corner = QPoint(cell.left(), cell.bottom())
        room = (QGuiApplication.screenAt(corner) or self.screen()).availableGeometry()
        if corner.y() + self.height() > room.bottom():
            corner.setY(max(room.top(), cell.top() - self.height()))
        corner.setX(max(room.left(), min(corner.x(), room.right() - self.width())))
        corner.setY(max(room.top(), min(corner.y(), room.bottom() - self.height())))
        self.move(corner)
        self.show()
        self.setFocus()

    def _head(self, name: str, badge: Badge) -> QLabel:
        plan = badge.plan
        text = name
        if plan is not None and plan.options.n_ctx:
            text = self.tr("{0}, context of {1}").format(name, words.count(plan.options.n_ctx))
        elif plan is not None:
            text = self.tr("{0}, its full context").format(name)
        return self._line(text, "heading")

    def _told(self, suggestions: Sequence[Suggestion]) -> QLabel:
        changes = "\n".join(f"· {words.suggestion(one)}" for one in suggestions)
        return self._line(self.tr("Once it is here, it would fit with:\n{0}").format(changes), "muted")

    def _other(self, quant: str) -> TextButton:
        button = TextButton(self._theme, self.tr("Choose {0}, which fits").format(quant), role="quiet")
        button.setObjectName("otherQuant")
        button.clicked.connect(self.other_wanted)
        button.clicked.connect(self.close)
        return button

    def _line(self, text: str, role: str) -> QLabel:
        label = QLabel(text)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setContentsMargins(SPACE_L, 0, SPACE_L, 0)
        set_role(label, role)
        return label

    def _take(self, options: object) -> None:
        self.close()
        self.chosen.emit(options)
