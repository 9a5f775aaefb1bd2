"""What an answer is kept to: a grammar, a JSON schema, biases of tokens. What is wrong stands below the field."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QWidget

from app.chat.constraints import bias_text, biases_in, problem_of
from app.chat.parameters import Parameters
from engine.errors import VrambleError
from engine.protocol.types import LogitBias
from ui.chat.panel.controls import Lines
from ui.chat.panel.rows import ParameterRow
from ui.theme import Theme

LINES = 4


class FixedLines(Lines):
    """Lines of fixed pitch."""

    def _fit(self) -> None:
        super()._fit()
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self._theme.font().pointSizeF())
        self.setFont(font)


class Biases(FixedLines):
    """Biases as lines of text; they count when all lines are right.

    Attributes:
        told: What is wrong with them, "" nothing.
    """

    told = Signal(str)
    _meant: tuple[LogitBias, ...] = ()

    def show_value(self, value: str | tuple[LogitBias, ...]) -> None:
        """Show other biases; what is typed stays while it means these, or nothing yet."""
        if isinstance(value, str) or value == self._meant:
            return
        self._meant = value
        super().show_value(bias_text(value))

    def problem(self) -> str:
        """What is wrong with them."""
        found = self._read()
        return found.message if isinstance(found, VrambleError) else ""

    def _read(self) -> tuple[LogitBias, ...] | VrambleError:
        try:
            return biases_in(self.toPlainText())
        except VrambleError as error:
            return error

    def _tell(self) -> None:
        found = self._read()
        if not self._quiet and not isinstance(found, VrambleError):
            self._meant = found
            self.chosen.emit(found)
        self.told.emit(self.problem())


class Constraints(QObject):
    """Makes the rows."""

    def __init__(self, theme: Theme, parameters: Parameters, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme, self._parameters = theme, parameters

    def rows(self) -> Sequence[QWidget]:
        """Schema, grammar, biases."""
        return [self._schema(), self._grammar(), self._biases()]

    def _schema(self) -> QWidget:
        title = self.tr("JSON schema")
        text = self.tr("The answer is JSON of this form.")
        return self._text("json_schema", title, text, '{"type": "object"}')

    def _grammar(self) -> QWidget:
        title = self.tr("Grammar (GBNF)")
        text = self.tr("The answer keeps to these rules, beginning with the one named root.")
        return self._text("grammar", title, text, 'root ::= "yes" | "no"')

    def _text(self, field: str, title: str, text: str, example: str) -> QWidget:
        lines = FixedLines(self._theme, title, example, LINES)
        return self._row(field, title, text, lines, lambda: problem_of(self._parameters.present, field))

    def _biases(self) -> QWidget:
        title = self.tr("Logit bias")
        text = self.tr("One token a line, by its number: 1234: -5 makes it less likely, -1000 forbids it.")
        lines = Biases(self._theme, title, "1234: -5", LINES - 1)
        row = self._row("logit_bias", title, text, lines, lines.problem)
        lines.told.connect(row.tell)
        return row

    def _row(self, field: str, title: str, text: str, control: Lines, problem: Callable[[], str]) -> ParameterRow:
        return ParameterRow(self._theme, self._parameters, field, title, text, control, problem)
