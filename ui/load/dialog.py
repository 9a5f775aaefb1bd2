"""How one model is loaded: choices at the left, what they take at the right."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.load.draft import LoadDraft
from engine.library.records import InstalledModel
from engine.memory.fit.records import FitPlan
from engine.protocol.types import LoadOptions
from ui.load import suit_words, words
from ui.load.advanced import ADVANCED_FIELDS, advanced_rows
from ui.load.fold import Fold
from ui.load.footer import Footer
from ui.load.image_row import ImageRow
from ui.load.kv_row import KvRow
from ui.load.panes import line, scrolled, side
from ui.load.place_row import PlaceRow
from ui.load.row import ChoiceRow
from ui.load.sliders import ContextRow, ExpertsRow, LayersRow
from ui.load.summary import SHORT, Summary
from ui.load.tab_order import set_order
from ui.theme import SPACE_L, SPACE_M, SPACE_S, Theme, set_role
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.first_size import fit_screen, screen_room

SUMMARY_WIDTH = 310
LEAST_WIDTH = 720
"""Pixels at scale 1 with which choices and summary are side by side."""

WIDTH, HEIGHT = 1060, 740
LEAST_HEIGHT = 480
SETTLED_MS = 200
"""Suggestions take many forecasts, and a dry run half a second, so they wait until a slider stands still."""

LIVE_MS = 2000
"""Other programs take memory and give it back while the dialog is open."""


class LoadDialog(QDialog):
    """Shows a `LoadDraft` and changes it. Enter loads, Escape does not.

    Where large text leaves no room for two columns, what it takes is above the choices.

    Args:
        again: The model is loaded already.
        note: What else holds for loads of this model.

    Attributes:
        load_wanted: Load it: path, options, and whether to remember them for this model.
    """

    load_wanted = Signal(object, object, bool)

    def __init__(
        self, draft: LoadDraft, theme: Theme, *, again: bool = False, note: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._note = note
        self._told: tuple[FitPlan | None, str, bool] | None = None
        self._settled, self._clock = QTimer(self), QTimer(self)
        for timer, interval, slot in (
            (self._settled, SETTLED_MS, self._look_closer),
            (self._clock, LIVE_MS, self._show_forecast),
        ):
            timer.setInterval(interval)
            timer.timeout.connect(slot)
        self._settled.setSingleShot(True)
        self._clock.start()
        self._draft, self._theme, self._again = draft, theme, again
        self._stops: list[QWidget] = []
        draft.setParent(self)
        self.setObjectName("loadDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Load options – {0}").format(draft.name))
        self._narrow = screen_room(self).width() < theme.px(LEAST_WIDTH)
        self._build()
        self._lay_out()
        draft.changed.connect(self.refresh)
        draft.measured.connect(self._show_forecast)
        self.finished.connect(draft.leave)
        self.refresh()
        self._unfold_changed()
        self.setMinimumHeight(LEAST_HEIGHT)
        fit_screen(self, theme.px(WIDTH), theme.px(HEIGHT))
        if (first := self._context.first_control()) is not None:
            first.setFocus()

    @property
    def rows(self) -> tuple[ChoiceRow, ...]:
        """All choices."""
        return (*self._basic, *self._advanced)

    @property
    def options(self) -> LoadOptions:
        """As chosen until now."""
        return self._draft.options

    def refresh(self) -> None:
        """Show the draft."""
        for row in self.rows:
            row.refresh()
        facts = self._draft.facts
        self._experts.setVisible(facts.n_experts > 0 or self._draft.is_changed("n_cpu_moe"))
        self._show_forecast()
        self._show_profile()
        self._order_tabs()

    def _show_forecast(self) -> None:
        """What it takes, also when only other programs have changed that."""
        problem = next((f"{p.message} {p.next_step}".strip() for p in self._draft.problems), "")
        plan = self._draft.forecast()
        self._show_other(plan, problem)
        told = (plan, problem, self._draft.refining)
        if told == self._told:
            return
        self._told = told
        self._summary.show_plan(plan, problem, refining=told[2])
        self._settled.start()
        total, room = (None, None) if plan is None or problem else (plan.total, plan.room)
        self.footer.show_load(words.load_button(total, room, again=self._again), problem)

    def _show_other(self, plan: FitPlan | None, problem: str) -> None:
        """Another quant that is here, where this one does not fit; its header may come late."""
        short = plan is not None and not problem and plan.verdict in SHORT
        if self._summary.suggestions.show_other(self._draft.other_quant() if short else None):
            self._order_tabs()

    def _load_other(self, model: InstalledModel) -> None:
        """It is loaded with these options; they are not remembered for it."""
        self.load_wanted.emit(model.path, self._draft.options, False)
        super().accept()

    def _look_closer(self) -> None:
        """The options stand still: ask the engine about them, and what would fit."""
        plan = self._told[0] if self._told is not None else None
        if plan is not None and not plan.exact:
            self._draft.refine()
            self._show_forecast()
            self._settled.stop()
        if plan is not None and plan.verdict in SHORT:
            self._summary.suggestions.show_all(self._draft.suggestions())
            self._order_tabs()

    def showEvent(self, event: QShowEvent) -> None:
        """The title of a window is small, that of a page stands above it."""
        super().showEvent(event)
        self._heading.setVisible(self.isWindow())

    def accept(self) -> None:
        """Load, unless something is wrong."""
        if self._draft.problems:
            return
        self.load_wanted.emit(self._draft.path, self._draft.options, self.footer.remember.isChecked())
        super().accept()

    def _build(self) -> None:
        draft, theme = self._draft, self._theme
        self._experts = ExpertsRow(draft, theme)
        self._context = ContextRow(draft, theme)
        self._basic: tuple[ChoiceRow, ...] = (
            self._context,
            PlaceRow(draft, theme),
            LayersRow(draft, theme),
            KvRow(draft, theme),
            self._experts,
            ImageRow(draft, theme),
        )
        self._advanced: tuple[ChoiceRow, ...] = ()
        self._fold = Fold(theme, self.tr("Advanced"), self._make_advanced)
        self._profile = QLabel()
        self._profile.setObjectName("profileNote")
        self._profile.setWordWrap(True)
        set_role(self._profile, "good")
        self._summary = Summary(theme)
        self._summary.chosen.connect(draft.take)
        self._summary.suggestions.other_chosen.connect(self._load_other)
        self._summary.forget_wanted.connect(draft.forget_learned)
        self.footer = Footer(theme)
        self.footer.recommended.clicked.connect(draft.recommend)
        self.footer.reset_all.clicked.connect(draft.reset_all)
        self.footer.cancel.clicked.connect(self.reject)
        self.footer.load_button.clicked.connect(self.accept)

    def _lay_out(self) -> None:
        self._heading = ElidedLabel(self._draft.name)
        set_role(self._heading, "title")
        left = QVBoxLayout()
        left.setContentsMargins(SPACE_L, SPACE_L, 0, 0)
        left.setSpacing(SPACE_S)
        left.addWidget(self._heading)
        left.addWidget(self._profile)
        if self._note:
            note = QLabel(self._note)
            note.setObjectName("loadNote")
            note.setWordWrap(True)
            note.setProperty("role", "warn")
            left.addWidget(note)
        left.addWidget(scrolled(self._choices(), self.tr("Load options")), 1)
        upper = QHBoxLayout()
        upper.setSpacing(0)
        upper.addLayout(left, 1)
        if not self._narrow:
            upper.addWidget(line("hairline-vertical"))
            width = self._theme.px(SUMMARY_WIDTH)
            upper.addWidget(side(self._summary, self.tr("What it takes"), width))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(upper, 1)
        outer.addWidget(line("hairline"))
        outer.addWidget(self.footer)

    def _choices(self) -> QWidget:
        inside = QWidget()
        inside.setProperty("role", "page")
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, SPACE_M, SPACE_M)
        column.setSpacing(0)
        if self._narrow:
            column.addWidget(self._summary)
        for row in self._basic:
            column.addWidget(row)
        column.addWidget(self._fold)
        column.addStretch()
        return inside

    def _show_profile(self) -> None:
        profile = self._draft.recommended
        texts = [] if profile is None else [suit_words.profile_text(profile.kind, profile.changes)]
        texts += [] if self._draft.made_to_fit is None else [words.made_to_fit(self._draft.made_to_fit)]
        self._profile.setText(" ".join(texts))
        self._profile.setVisible(profile is not None)

    def show_advanced(self) -> None:
        """Fold out what few people need."""
        self._fold.open()

    def _make_advanced(self) -> tuple[ChoiceRow, ...]:
        self._advanced = advanced_rows(self._draft, self._theme)
        for row in self._advanced:
            row.refresh()
        QTimer.singleShot(0, self, self._order_tabs)
        return self._advanced

    def _order_tabs(self) -> None:
        """Rows change, and some are made late: Tab goes as the eye does."""
        stops = [stop for row in self._basic for stop in row.tab_stops()]
        stops += [self._fold.button, *(stop for row in self._advanced for stop in row.tab_stops())]
        stops += [*self._summary.suggestions.buttons, self._summary.learned.forget, *self.footer.stops]
        if stops != self._stops:
            self._stops = stops
            set_order(stops)

    def _unfold_changed(self) -> None:
        """What is not as usual is not hidden."""
        keys, values = self._draft.options.kv_type_k, self._draft.options.kv_type_v
        if keys is not values or self._draft.is_changed(*ADVANCED_FIELDS):
            self.show_advanced()
