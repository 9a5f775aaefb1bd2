"""One setting as a row: what it is called and does at the left, its control at the right."""

from __future__ import annotations

import re
from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from ui.settings.two_parts import TwoParts
from ui.theme import SPACE_XS, Theme, set_role
from ui.widgets.icon_button import IconButton

BREAK = "\u200b"
LONG_WORD = re.compile(r"\S{20,}")
SIGNS = re.compile(r"[/=,.:;_-]")


def matches(text: str, words: Iterable[str]) -> bool:
    """Whether every one of ``words`` (in small letters) is in ``text``."""
    folded = text.casefold()
    return all(word in folded for word in words)


class PlainLabel(QLabel):
    """Wrapped plain text that can be narrow: long words break after signs, as in paths and commands."""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setMinimumWidth(1)
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def text(self) -> str:
        """The text, without what only breaks it."""
        return self._whole

    def setText(self, text: str) -> None:
        """Show ``text``."""
        self._whole = text
        self.setAccessibleName(text)
        super().setText(LONG_WORD.sub(lambda word: SIGNS.sub(f"\\g<0>{BREAK}", word[0]), text))


def plain_label(text: str = "", role: str = "") -> PlainLabel:
    """A label for wrapped plain text."""
    return PlainLabel(text, role)


class Row(TwoParts):
    """Title, explanation, an optional note, controls, and an arrow back to the default.

    Attributes:
        reset: The arrow was pressed.
    """

    reset = Signal()

    def __init__(
        self,
        theme: Theme,
        title: str,
        text: str = "",
        controls: Iterable[QWidget] = (),
        *,
        words: str = "",
        can_reset: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, parent)
        self._words = words
        self._title, self._text, self._note = plain_label(title), plain_label(text, "muted"), plain_label()
        self._fields = list(controls)
        self._arrow: IconButton | None = None
        if can_reset:
            self._arrow = IconButton(theme, "arrow-counter-clockwise", self.tr("Reset “{0}”").format(title))
            self._arrow.clicked.connect(self.reset)
            self._arrow.hide()
        self._describe()
        self._lay_out()
        self._note.hide()
        self._text.setVisible(bool(text))

    @property
    def title(self) -> str:
        """What the setting is called."""
        return self._title.text()

    @property
    def text(self) -> str:
        """What explains it."""
        return self._text.text()

    @property
    def note(self) -> str:
        """What is said about the present value; "" nothing."""
        return self._note.text()

    @property
    def words(self) -> str:
        """Everything a search can find it by."""
        return f"{self._title.text()} {self._text.text()} {self._words}"

    def set_title(self, title: str) -> None:
        """Call it something else."""
        self._title.setText(title)
        self._describe()

    def set_text(self, text: str) -> None:
        """Explain it in other words."""
        self._text.setText(text)
        self._text.setVisible(bool(text))
        self._describe()

    def set_note(self, text: str, role: str = "warn") -> None:
        """Say something about the present value; "" nothing."""
        self._note.setText(text)
        set_role(self._note, role)
        self._note.setVisible(bool(text))
        self._describe()

    def set_changed(self, changed: bool) -> None:
        """Show or hide the arrow; the focus does not get lost with it."""
        if self._arrow is None:
            return
        if self._arrow.hasFocus() and not changed and self._fields:
            self._fields[0].setFocus(Qt.FocusReason.OtherFocusReason)
        self._arrow.setVisible(changed)

    def _describe(self) -> None:
        explained = " ".join(part for part in (self._text.text(), self._note.text()) if part)
        for control in self._fields:
            control.setAccessibleDescription(explained)

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.setSpacing(SPACE_XS // 2)
        left.addStretch()
        for label in (self._title, self._text, self._note):
            left.addWidget(label)
        left.addStretch()
        self.lay_out(left, self._fields, self._arrow)
