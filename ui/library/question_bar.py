"""A question inside the window: one sentence, a button for each thing to do, one that does nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from ui.theme import SPACE_M, SPACE_S, Theme, set_role
from ui.widgets.notice_card import Sentence
from ui.widgets.text_button import TextButton

Other = tuple[str, Callable[[], None]]


class QuestionBar(QFrame):
    """Hidden until `ask`. Escape means no.

    Attributes:
        answered: The question is gone.
    """

    answered = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._yes: Callable[[], None] | None = None
        self._others: list[TextButton] = []
        self.setObjectName("questionBar")
        self.setProperty("role", "notice")
        self.setProperty("severity", "warn")
        self._text = Sentence("")
        self._text.setMinimumWidth(1)
        self._do = TextButton(theme, "", role="danger")
        self._do.setObjectName("confirmButton")
        self._keep = TextButton(theme, self.tr("Keep it"))
        self._keep.setObjectName("keepButton")
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_M, SPACE_S, SPACE_S, SPACE_S)
        column.setSpacing(SPACE_S)
        self._row = QHBoxLayout()
        self._row.setSpacing(SPACE_S)
        self._row.addStretch()
        self._row.addWidget(self._keep)
        self._row.addWidget(self._do)
        column.addWidget(self._text)
        column.addLayout(self._row)
        self._do.clicked.connect(self._agree)
        self._keep.clicked.connect(self.close_question)
        self.hide()

    def ask(
        self,
        text: str,
        label: str,
        yes: Callable[[], None],
        others: Sequence[Other] = (),
        *,
        keep: str = "",
        dangerous: bool = True,
    ) -> None:
        """Show the question; ``yes`` runs when the button called ``label`` is pressed.

        Args:
            others: Further buttons, each with what it does.
            keep: What the button is called that does nothing.
            dangerous: Something is lost by ``yes``.
        """
        self._yes = yes
        self._text.setText(text)
        self._do.setText(label)
        set_role(self._do, "danger" if dangerous else "primary")
        self._keep.setText(keep or self.tr("Keep it"))
        self._show_others(others)
        self.setAccessibleName(text)
        self.show()
        (self._keep if dangerous else self._do).setFocus(Qt.FocusReason.OtherFocusReason)

    def close_question(self) -> None:
        """Withdraw the question."""
        if not self.isHidden():
            self._yes = None
            self.hide()
            self.answered.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape means no."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_question()
        else:
            super().keyPressEvent(event)

    def _show_others(self, others: Sequence[Other]) -> None:
        for button in self._others:
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._others = []
        for label, run in others:
            button = TextButton(self._theme, label)
            button.clicked.connect(lambda _checked=False, run=run: self._take(run))
            self._row.insertWidget(self._row.count() - 1, button)
            self._others.append(button)

    def _take(self, run: Callable[[], None]) -> None:
        self.close_question()
        run()

    def _agree(self) -> None:
        yes = self._yes
        self.close_question()
        if yes is not None:
            yes()
