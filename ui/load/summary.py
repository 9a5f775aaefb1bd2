"""What the load will take, beside the choices, while they are made."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine.memory.fit.records import DeviceUse, FitPlan, Verdict
from ui.load import words
from ui.load.suggestions import Suggestions
from ui.load.use_block import UseBlock
from ui.theme import ICON_SIZE, SPACE_L, SPACE_M, SPACE_S, Theme, set_role
from ui.widgets.empty_state import Emblem
from ui.widgets.text_button import TextButton

LOOKS = {
    Verdict.FITS: ("check-circle", "good"),
    Verdict.TIGHT: ("warning", "warn"),
    Verdict.PARTLY: ("circle-half", "warn"),
    Verdict.NO: ("x-circle", "bad"),
    Verdict.UNKNOWN: ("question", "muted"),
}
SHORT = (Verdict.PARTLY, Verdict.NO)
"""Verdicts that suggestions are made for."""


class Summary(QWidget):
    """Verdict, a bar for each device, a legend with sizes, the expected speed.

    Attributes:
        chosen: A suggestion was pressed: these `LoadOptions` fit.
        forget_wanted: What earlier loads taught should be forgotten.
    """

    chosen = Signal(object)
    forget_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._plan: FitPlan | None = None
        self.setObjectName("fitSummary")
        heading = QLabel(self.tr("What it takes"))
        set_role(heading, "heading")
        self.verdict = VerdictLine(theme)
        self.reason = _text("muted")
        self.reason.setObjectName("fitReason")
        self.speed = _text("")
        self.footnote = _text("muted")
        self.footnote.setObjectName("fitSource")
        self.learned = LearnedLine(theme)
        self.learned.forget.clicked.connect(self.forget_wanted)
        self.suggestions = Suggestions(theme)
        self.suggestions.chosen.connect(self.chosen)
        self._uses = QVBoxLayout()
        self._uses.setSpacing(SPACE_M)
        self._blocks: list[UseBlock] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_L, SPACE_L, SPACE_L, SPACE_L)
        column.setSpacing(SPACE_S)
        for widget in (heading, self.verdict, self.reason, self.suggestions):
            column.addWidget(widget)
        column.addSpacing(SPACE_S)
        column.addLayout(self._uses)
        column.addSpacing(SPACE_S)
        column.addWidget(self.speed)
        column.addWidget(self.footnote)
        column.addWidget(self.learned)
        column.addStretch()

    def show_plan(self, plan: FitPlan | None, problem: str, *, refining: bool = False) -> None:
        """Show a forecast.

        Args:
            problem: What keeps the options from being loaded at all.
            refining: The engine is being asked about these options.
        """
        self._plan = plan
        self.verdict.show_verdict(None if plan is None else plan.verdict, problem)
        reason = self.tr("Nothing is known of this model yet.") if plan is None else plan.reason
        self.reason.setText(problem or reason)
        self.reason.setVisible(bool(problem) or plan is None or plan.verdict is not Verdict.FITS)
        set_role(self.reason, "bad" if problem else "muted")
        if plan is None or problem or plan.verdict not in SHORT:
            self.suggestions.show_all(())
            self.suggestions.show_other(None)
        self._show_uses(() if plan is None else plan.uses)
        speed = None if plan is None or problem else plan.speed
        self.speed.setText(words.speed(speed) if speed else "")
        self.speed.setVisible(bool(speed))
        self.footnote.setText("" if plan is None else words.footnote(plan, refining=refining))
        self.learned.show_plan(plan)

    def _show_uses(self, uses: tuple[DeviceUse, ...]) -> None:
        while len(self._blocks) < len(uses):
            block = UseBlock(self._theme)
            self._blocks.append(block)
            self._uses.addWidget(block)
        for number, block in enumerate(self._blocks):
            block.setVisible(number < len(uses))
            if number < len(uses):
                block.show_use(uses[number])


class LearnedLine(QWidget):
    """What earlier loads taught, and a button that forgets it. Takes no room before there was one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = _text("muted")
        self.text.setObjectName("fitLearned")
        self.forget = TextButton(theme, self.tr("Forget"), role="quiet")
        self.forget.setObjectName("forgetLearned")
        self.forget.setToolTip(self.tr("Forget what earlier loads taught about these devices, and begin anew"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.text, 1)
        row.addWidget(self.forget)
        self.hide()

    def show_plan(self, plan: FitPlan | None) -> None:
        """Bring it up to date."""
        text = "" if plan is None else words.learned(plan)
        self.text.setText(text)
        self.setVisible(bool(text))


class VerdictLine(QWidget):
    """A sign and a word."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._emblem: Emblem | None = None
        self.word = QLabel()
        self.word.setObjectName("fitVerdict")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(SPACE_S)
        self._row.addWidget(self.word, 1)

    def show_verdict(self, verdict: Verdict | None, problem: str) -> None:
        """The word for it."""
        icon, tint = LOOKS[Verdict.NO if problem else verdict or Verdict.UNKNOWN]
        if self._emblem is not None:
            self._row.removeWidget(self._emblem)
            self._emblem.hide()
            self._emblem.deleteLater()
        self._emblem = Emblem(self._theme, icon, tint=tint, size=ICON_SIZE)
        self._row.insertWidget(0, self._emblem)
        self.word.setText(words.verdict(verdict or Verdict.UNKNOWN) if not problem else words.impossible())
        set_role(self.word, tint)
        self.word.setFont(self._theme.font(1.15, bold=True))


def _text(role: str) -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    set_role(label, role)
    return label
