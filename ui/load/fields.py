"""Rows with one plain control for one field of the load options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSpinBox, QWidget

from app.load.draft import LoadDraft
from engine.protocol.types import LoadOptions
from ui.load.row import ChoiceRow
from ui.theme import Theme

TEXT_MARGIN = 8
"""Pixels between the frame of a number field and its text."""


class ComboRow(ChoiceRow):
    """One of a few values."""

    def __init__(
        self,
        draft: LoadDraft,
        theme: Theme,
        title: str,
        explanation: str,
        field: str,
        choices: Sequence[tuple[Any, str]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(draft, theme, title, explanation, (field,), parent)
        self._values = [value for value, _ in choices]
        self.combo = QComboBox()
        for _, text in choices:
            self.combo.addItem(text)
        self.add_control(self.combo, field)
        self.combo.currentIndexChanged.connect(lambda index: draft.change(**{field: self._values[index]}))

    def show_options(self, options: LoadOptions) -> None:
        """Choose the value."""
        with QSignalBlocker(self.combo):
            self.combo.setCurrentIndex(self._values.index(getattr(options, self.fields[0])))


class NumberRow(ChoiceRow):
    """A whole number between limits; the lowest one may have a word of its own."""

    def __init__(
        self,
        draft: LoadDraft,
        theme: Theme,
        title: str,
        explanation: str,
        field: str,
        limits: tuple[int, int],
        *,
        step: int = 1,
        lowest: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(draft, theme, title, explanation, (field,), parent)
        self.spin = number_edit(limits, step, lowest)
        self.add_control(self.spin, field)
        self.spin.valueChanged.connect(lambda value: draft.change(**{field: value}))

    def show_options(self, options: LoadOptions) -> None:
        """Show the number."""
        with QSignalBlocker(self.spin):
            self.spin.setValue(getattr(options, self.fields[0]))


class CheckRow(ChoiceRow):
    """Yes or no."""

    def __init__(
        self,
        draft: LoadDraft,
        theme: Theme,
        title: str,
        explanation: str,
        field: str,
        label: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(draft, theme, title, explanation, (field,), parent)
        self.box = QCheckBox(label)
        self.add_control(self.box, field)
        self.box.toggled.connect(lambda on: draft.change(**{field: on}))

    def show_options(self, options: LoadOptions) -> None:
        """Check the box or not."""
        with QSignalBlocker(self.box):
            self.box.setChecked(getattr(options, self.fields[0]))


class FloatRow(ChoiceRow):
    """A number with decimals, kept exactly as typed; an empty field leaves it to the model."""

    def __init__(
        self,
        draft: LoadDraft,
        theme: Theme,
        title: str,
        explanation: str,
        field: str,
        *,
        empty: float | None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(draft, theme, title, explanation, (field,), parent)
        self._empty = empty
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(self.tr("the model's own"))
        self.add_control(self.edit, field)
        self.edit.textEdited.connect(self._take)

    def show_options(self, options: LoadOptions) -> None:
        """Show the number, unless what is typed means just that already."""
        value = getattr(options, self.fields[0])
        unread = any(problem.field == self.fields[0] for problem in self._draft.problems)
        if not unread and _parsed(self.edit.text(), self._empty) != value:
            self.edit.setText("" if value == self._empty else _exact(value))

    def _take(self, text: str) -> None:
        value = _parsed(text, self._empty)
        if isinstance(value, str):
            self._draft.set_unreadable(self.fields[0], self.tr("“{0}” is no number.").format(text.strip()))
        else:
            self._draft.change(**{self.fields[0]: value})


def number_edit(limits: tuple[int, int], step: int = 1, lowest: str = "") -> QSpinBox:
    """A field for whole numbers that tells a value once it is typed to its end."""
    spin = QSpinBox()
    spin.setRange(*limits)
    spin.setSingleStep(step)
    spin.setSpecialValueText(lowest)
    spin.setKeyboardTracking(False)
    spin.lineEdit().setTextMargins(TEXT_MARGIN, 0, 0, 0)
    return spin


def _exact(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _parsed(text: str, empty: float | None) -> float | str | None:
    """The number; ``empty`` for no text; the text itself when it is no number."""
    plain = text.strip().replace(",", ".")
    if not plain:
        return empty
    try:
        return float(plain)
    except ValueError:
        return text
