"""The rows of the panel: which parameters there are, in words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.chat.parameters import Parameters
from app.chat.settings import ContextPolicy
from ui.chat.panel.controls import Decimal, Lines, Whole
from ui.chat.panel.rows import Control, ParameterRow
from ui.settings.controls import Choice
from ui.theme import Theme

MOST_TOKENS = 1_000_000


class Samplers(QObject):
    """Makes rows over one set of parameters."""

    def __init__(self, theme: Theme, parameters: Parameters, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme, self._parameters = theme, parameters

    def prompt(self) -> ParameterRow:
        """The system prompt."""
        title = self.tr("System prompt")
        hint = self.tr("For example: You are a patient teacher. Answer briefly.")
        text = self.tr("Stands before the conversation. The model reads it each time.")
        return self._row("system_prompt", title, text, Lines(self._theme, title, hint, 5))

    def usual(self) -> Sequence[QWidget]:
        """What many people change."""
        tr = self.tr
        return [
            self._decimal("temperature", tr("Temperature"), tr("0 always takes the likeliest token."), 0, 5, 0.05),
            self._whole("top_k", tr("Top-k"), tr("Keeps the k likeliest tokens; 0 keeps all."), 0, 1_000_000),
            self._decimal("top_p", tr("Top-p"), tr("Keeps the likeliest tokens up to this share; 1 keeps all."), 0, 1),
            self._decimal("min_p", tr("Min-p"), tr("Drops tokens below this share of the best one."), 0, 1, 0.01),
            self._whole(
                "max_tokens",
                tr("Longest answer"),
                tr("In tokens, the thought included."),
                1,
                MOST_TOKENS,
                tr("No limit"),
            ),
            self._whole("seed", tr("Seed"), tr("The same seed gives the same answer."), 0, 2**31 - 1, tr("Random")),
            self._thinking(),
            self._whole(
                "think_tokens",
                tr("Longest thought"),
                tr("In tokens; then the model has to answer."),
                1,
                MOST_TOKENS,
                tr("No limit"),
            ),
            self._overflow(),
        ]

    def advanced(self) -> Sequence[QWidget]:
        """All others."""
        return [*self._penalties(), *self._rare(), self._prefill()]

    def _penalties(self) -> list[QWidget]:
        tr = self.tr
        again = tr("Makes tokens that were there before less likely; 1 changes nothing.")
        return [
            self._decimal("repeat_penalty", tr("Repeat penalty"), again, 0.05, 5),
            self._whole(
                "repeat_last_n", tr("Penalties look back"), tr("In tokens; -1 the whole context."), -1, 1_000_000
            ),
            self._decimal(
                "frequency_penalty", tr("Frequency penalty"), tr("Grows each time a token was there."), -2, 2
            ),
            self._decimal("presence_penalty", tr("Presence penalty"), tr("Once for each token that was there."), -2, 2),
            self._decimal("dry_multiplier", tr("DRY strength"), tr("Penalty on repeated sequences; 0 is off."), 0, 10),
            self._decimal("dry_base", tr("DRY base"), tr("How fast that penalty grows."), 1, 10),
            self._whole("dry_allowed_length", tr("DRY allowed length"), tr("So many tokens may repeat."), 1, 1000),
            self._whole(
                "dry_penalty_last_n", tr("DRY looks back"), tr("In tokens; -1 the whole context."), -1, 1_000_000
            ),
        ]

    def _rare(self) -> list[QWidget]:
        tr = self.tr
        return [
            self._decimal("typical_p", tr("Typical-p"), tr("Locally typical sampling; 1 is off."), 0, 1),
            self._decimal(
                "top_n_sigma", tr("Top-n-sigma"), tr("Within so many standard deviations; -1 is off."), -1, 20, 0.1
            ),
            self._decimal("xtc_probability", tr("XTC probability"), tr("How often the likeliest tokens go."), 0, 1),
            self._decimal("xtc_threshold", tr("XTC threshold"), tr("What counts as likely for it."), 0, 1),
            self._decimal("dynatemp_range", tr("Dynamic temperature"), tr("How far it moves to both sides."), 0, 5),
            self._decimal("dynatemp_exponent", tr("Its exponent"), tr("How entropy maps to temperature."), 0.05, 10),
            self._whole("mirostat", tr("Mirostat"), tr("1 or 2 take the place of most samplers; 0 is off."), 0, 2),
            self._decimal("mirostat_tau", tr("Mirostat tau"), tr("The surprise that it aims at."), 0.05, 20, 0.1),
            self._decimal("mirostat_eta", tr("Mirostat eta"), tr("How fast it learns."), 0.01, 1, 0.01),
        ]

    def _prefill(self) -> QWidget:
        title = self.tr("Answers begin with")
        text = self.tr("Written for the model, which goes on from there.")
        return self._row("prefill", title, text, Lines(self._theme, title, self.tr("Nothing"), 2))

    def _thinking(self) -> QWidget:
        title = self.tr("Thinking")
        values = [(None, self.tr("As the model does")), (True, self.tr("On")), (False, self.tr("Off"))]
        text = self.tr("Whether the model thinks before it answers, where it can do both.")
        return self._row("think", title, text, Choice(self._theme, title, values))

    def _overflow(self) -> QWidget:
        title = self.tr("When the context is full")
        values = [
            (ContextPolicy.STOP, self.tr("Stop with a message")),
            (ContextPolicy.SHIFT, self.tr("Leave out the oldest turns")),
            (ContextPolicy.SUMMARISE, self.tr("Summarise the oldest turns")),
        ]
        text = self.tr("What happens when the conversation is longer than the context.")
        return self._row("overflow", title, text, Choice(self._theme, title, values))

    def _decimal(
        self, field: str, title: str, text: str, lowest: float, highest: float, step: float = 0.05
    ) -> ParameterRow:
        return self._row(field, title, text, Decimal(self._theme, title, lowest, highest, step))

    def _whole(self, field: str, title: str, text: str, lowest: int, highest: int, word: str = "") -> ParameterRow:
        return self._row(field, title, text, Whole(self._theme, title, lowest, highest, word=word))

    def _row(self, field: str, title: str, text: str, control: Control) -> ParameterRow:
        return ParameterRow(self._theme, self._parameters, field, title, text, control)
