"""What the load will take, beside the choices, while they are made."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine.memory.fit.records import DeviceUse, FitPlan, Verdict
from engine.protocol.types import DeviceKind
from ui.chat.words import short_device
from ui.load import words
from ui.load.bar import FitBar, colour_of, paint_pattern
from ui.theme import ICON_SIZE, SPACE_L, SPACE_M, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.empty_state import Emblem
from ui.widgets.text_button import TextButton

LOOKS = {
    Verdict.FITS: ("check-circle", "good"),
    Verdict.TIGHT: ("warning", "warn"),
    Verdict.PARTLY: ("warning", "warn"),
    Verdict.NO: ("x-circle", "bad"),
    Verdict.UNKNOWN: ("question", "muted"),
}
MARK = 12


class Summary(QWidget):
    """Verdict, a bar for each device, a legend with sizes, the expected speed.

    Attributes:
        layers_wanted: Load with so many layers on the GPU: that fits.
    """

    layers_wanted = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._plan: FitPlan | None = None
        self.setObjectName("fitSummary")
        heading = QLabel(self.tr("What it takes"))
        set_role(heading, "heading")
        self.verdict = Verdictline(theme)
        self.reason = _text("muted")
        self.reason.setObjectName("fitReason")
        self.speed = _text("")
        self.footnote = _text("muted")
        self.fewer = TextButton(theme, "", role="")
        self.fewer.setObjectName("fewerLayersButton")
        self.fewer.clicked.connect(self._want_fewer)
        self._uses = QVBoxLayout()
        self._uses.setSpacing(SPACE_M)
        self._blocks: list[UseBlock] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_L, SPACE_L, SPACE_L, SPACE_L)
        column.setSpacing(SPACE_S)
        for widget in (heading, self.verdict, self.reason, self.fewer):
            column.addWidget(widget)
        column.addSpacing(SPACE_S)
        column.addLayout(self._uses)
        column.addSpacing(SPACE_S)
        column.addWidget(self.speed)
        column.addWidget(self.footnote)
        column.addStretch()

    def show_plan(self, plan: FitPlan | None, problem: str) -> None:
        """Show a forecast; ``problem``: what keeps the options from being loaded at all."""
        self._plan = plan
        self.verdict.show_verdict(None if plan is None else plan.verdict, problem)
        reason = self.tr("Nothing is known of this model yet.") if plan is None else plan.reason
        self.reason.setText(problem or reason)
        self.reason.setVisible(bool(problem) or plan is None or plan.verdict is not Verdict.FITS)
        set_role(self.reason, "bad" if problem else "muted")
        self._show_fewer(plan)
        self._show_uses(() if plan is None else plan.uses)
        speed = None if plan is None or problem else plan.speed
        self.speed.setText(words.speed(speed) if speed else "")
        self.speed.setVisible(bool(speed))
        self.footnote.setText("" if plan is None else self._footnote(plan))

    def _show_fewer(self, plan: FitPlan | None) -> None:
        wanted = plan is not None and plan.verdict is Verdict.PARTLY and plan.proposed_layers > 0
        self.fewer.setVisible(wanted)
        if plan is not None and wanted:
            self.fewer.setText(self.tr("Use {0} of {1} layers").format(plan.proposed_layers, plan.max_layers))

    def _want_fewer(self) -> None:
        if self._plan is not None and self._plan.proposed_layers > 0:
            self.layers_wanted.emit(self._plan.proposed_layers)

    def _show_uses(self, uses: tuple[DeviceUse, ...]) -> None:
        while len(self._blocks) < len(uses):
            block = UseBlock(self._theme)
            self._blocks.append(block)
            self._uses.addWidget(block)
        for number, block in enumerate(self._blocks):
            block.setVisible(number < len(uses))
            if number < len(uses):
                block.show_use(uses[number])

    def _footnote(self, plan: FitPlan) -> str:
        if plan.exact:
            return self.tr("By a dry run of this model.")
        return self.tr("Reckoned from the header of the file.")


class Verdictline(QWidget):
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


class UseBlock(QWidget):
    """One device: name, sum, bar, and what the parts are."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name, self._sum = QLabel(), QLabel()
        self._name.setWordWrap(True)
        self._bar = FitBar(theme)
        self._grid = QGridLayout()
        self._grid.setSpacing(SPACE_XS)
        self._grid.setColumnStretch(1, 1)
        self._lines: dict[str, tuple[Mark, QLabel, QLabel]] = {}
        for row, part in enumerate(("weights", "kv", "compute")):
            mark, name, size = Mark(theme, part), QLabel(words.part(part)), QLabel()
            set_role(name, "muted")
            self._grid.addWidget(mark, row, 0)
            self._grid.addWidget(name, row, 1)
            self._grid.addWidget(size, row, 2, Qt.AlignmentFlag.AlignRight)
            self._lines[part] = (mark, name, size)
        top = QHBoxLayout()
        top.addWidget(self._name, 1)
        top.addWidget(self._sum)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_XS)
        column.addLayout(top)
        column.addWidget(self._bar)
        column.addLayout(self._grid)

    def show_use(self, use: DeviceUse) -> None:
        """Bring figures and bar up to date."""
        name = words.tr("RAM") if words.is_ram(use.kind) else short_device(use.name)
        total = words.sum_of(use.total, use.room)
        self._name.setText(name)
        self._sum.setText(total)
        self._bar.show_use(use)
        sizes = {"weights": use.weights, "kv": use.kv, "compute": use.compute + use.output + use.image}
        texts = [f"{words.part(part)} {words.gib(size)}" for part, size in sizes.items() if size]
        self._bar.setToolTip(", ".join(texts))
        self.setAccessibleName(f"{name}: {total}. {', '.join(texts)}")
        for part, size in sizes.items():
            mark, label, figure = self._lines[part]
            mark.show_kind(use.kind)
            figure.setText(words.gib(size))
            for widget in (mark, label, figure):
                widget.setVisible(size > 0)


class Mark(QWidget):
    """The look of a part in the bar."""

    def __init__(self, theme: Theme, part: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._part = theme, part
        self._kind = DeviceKind.CPU
        self.setSizePolicy(self.sizePolicy().Policy.Fixed, self.sizePolicy().Policy.Fixed)

    def sizeHint(self) -> QSize:
        """A small square."""
        return QSize(self._theme.px(MARK), self._theme.px(MARK))

    def show_kind(self, kind: DeviceKind) -> None:
        """Take the colour of a kind of device."""
        self._kind = kind
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The pattern."""
        colour = colour_of(self._kind, self._theme.tokens)
        paint_pattern(QPainter(self), QRectF(self.rect()), self._part, colour)


def _text(role: str) -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    set_role(label, role)
    return label
