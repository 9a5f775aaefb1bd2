"""What a report comes down to: one large figure, what belongs to it, and how a race ended."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine.bench.records import Report, VariantResult
from ui.bench import rows, words
from ui.settings.row import plain_label
from ui.theme import SPACE_L, SPACE_M, SPACE_S, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.text_button import TextButton

FIGURE = 2.4
"""Size of the figure in the base size of text."""


class Headline(QWidget):
    """Figure, facts, verdict.

    Attributes:
        keep_wanted: The model should load as the winner did.
    """

    keep_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._figure, self._unit = QLabel(), QLabel()
        self._figure.setObjectName("benchFigure")
        self._beside, self._about = ElidedLabel(), ElidedLabel()
        self._about.setProperty("role", "muted")
        self._verdict = plain_label()
        self._verdict.setObjectName("benchVerdict")
        self._keep = TextButton(theme, "", "check")
        self._keep.setObjectName("benchKeep")
        self._keep.clicked.connect(self.keep_wanted)
        self._lay_out()
        theme.changed.connect(self._dress)
        self._dress()

    def show_report(self, report: Report) -> None:
        """Show the figures of its best variant."""
        best = rows.best_of(report)
        main, reading = (best.main, best.reading) if best else (None, None)
        value = main.decode if main else reading.prefill if reading else None
        self._figure.setText(words.median(value) or "–")
        self._unit.setText(self.tr("tok/s generated") if main or not reading else self.tr("tok/s read"))
        self._beside.setText(" · ".join(self._facts(best) if best else ()))
        where = words.place(best) if best else ""
        stopped = "" if report.finished else self.tr("stopped")
        about = (stopped, words.model(report), where, report.protocol.value, words.when(report))
        self._about.setText(" · ".join(fact for fact in about if fact))

    def show_verdict(self, text: str, *, keep: bool, kept: bool) -> None:
        """Say how a race ended. ``keep``: its winner can be kept; ``kept``: it is already."""
        self._verdict.setText(text)
        self._verdict.setVisible(bool(text))
        self._keep.setVisible(keep)
        self._keep.setEnabled(not kept)
        self._keep.setText(self.tr("Used for this model") if kept else self.tr("Use it for this model"))

    def _facts(self, best: VariantResult) -> list[str]:
        main, facts = best.main, []
        if best.reading is not None and main is not None:
            facts.append(self.tr("prompts {0} tok/s").format(words.median(best.reading.prefill)))
        if main is not None and main.share is not None:
            facts.append(self.tr("{0} of what the memory allows").format(words.percent(main.share)))
        if main is not None and main.tokens_per_joule is not None:
            facts.append(self.tr("{0} tokens per joule").format(f"{main.tokens_per_joule:.2f}"))
        return facts

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(SPACE_S)
        head.addWidget(self._figure)
        head.addWidget(self._unit, 0, Qt.AlignmentFlag.AlignBottom)
        head.addSpacing(SPACE_L)
        head.addWidget(self._beside, 1, Qt.AlignmentFlag.AlignBottom)
        outcome = QHBoxLayout()
        outcome.addWidget(self._verdict, 1)
        outcome.addWidget(self._keep)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_M)
        column.addLayout(head)
        column.addWidget(self._about)
        column.addLayout(outcome)

    def _dress(self) -> None:
        size = self._theme.font(FIGURE).pointSizeF()
        self._figure.setStyleSheet(f"font-size: {size:.1f}pt; font-weight: 600;")
