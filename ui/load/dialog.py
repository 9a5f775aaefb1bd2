"""How one model is loaded: choices at the left, what they take at the right."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.load.draft import LoadDraft
from engine.protocol.types import LoadOptions
from ui.load import words
from ui.load.advanced import ADVANCED_FIELDS, advanced_rows
from ui.load.fold import Fold
from ui.load.kv_row import KvRow
from ui.load.place_row import PlaceRow
from ui.load.row import ChoiceRow
from ui.load.sliders import ContextRow, ExpertsRow, LayersRow
from ui.load.summary import Summary
from ui.load.tab_order import set_order
from ui.theme import SPACE_L, SPACE_M, SPACE_S, Theme, set_role
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.first_size import fit_screen
from ui.widgets.text_button import TextButton

SUMMARY_WIDTH = 310
WIDTH, HEIGHT = 1060, 740
LEAST_HEIGHT = 480


class LoadDialog(QDialog):
    """Shows a `LoadDraft` and changes it. Enter loads, Escape does not.

    Args:
        again: The model is loaded already.

    Attributes:
        load_wanted: Load it: path, options, and whether to remember them for this model.
    """

    load_wanted = Signal(object, object, bool)

    def __init__(self, draft: LoadDraft, theme: Theme, *, again: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._draft, self._theme, self._again = draft, theme, again
        self._stops: list[QWidget] = []
        draft.setParent(self)
        self.setObjectName("loadDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Load options – {0}").format(draft.name))
        self._build()
        self._lay_out()
        draft.changed.connect(self.refresh)
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
        problem = next((f"{p.message} {p.next_step}".strip() for p in self._draft.problems), "")
        plan = self._draft.forecast()
        self._summary.show_plan(plan, problem)
        total, room = (None, None) if plan is None or problem else (plan.total, plan.room)
        self.load_button.setText(words.load_button(total, room, again=self._again))
        self.load_button.setEnabled(not problem)
        self.load_button.setToolTip(problem)
        self.load_button.setAccessibleDescription(problem)
        self._show_profile()
        self._order_tabs()

    def accept(self) -> None:
        """Load, unless something is wrong."""
        if self._draft.problems:
            return
        self.load_wanted.emit(self._draft.path, self._draft.options, self.remember.isChecked())
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
        )
        self._advanced: tuple[ChoiceRow, ...] = ()
        self._fold = Fold(theme, self.tr("Advanced"), self._make_advanced)
        self._profile = QLabel()
        self._profile.setObjectName("profileNote")
        self._profile.setWordWrap(True)
        set_role(self._profile, "good")
        self._summary = Summary(theme)
        self._summary.layers_wanted.connect(lambda layers: draft.change(n_gpu_layers=layers))
        self.recommended = self._button(self.tr("Recommended"), "recommendedButton", "magic-wand")
        self.recommended.setToolTip(self.tr("Choose what suits this device and this model"))
        self.recommended.clicked.connect(draft.recommend)
        self.reset_all = self._button(self.tr("Reset all"), "resetAllButton", "arrow-counter-clockwise")
        self.reset_all.setToolTip(self.tr("Back to the settings for all models"))
        self.reset_all.clicked.connect(draft.reset_all)
        self.remember = QCheckBox(self.tr("Remember for this model"))
        self.remember.setObjectName("rememberOptions")
        self.remember.setChecked(True)
        self.cancel = self._button(self.tr("Cancel"), "cancelOptionsButton")
        self.cancel.clicked.connect(self.reject)
        self.load_button = self._button(self.tr("Load"), "loadOptionsButton", role="primary")
        self.load_button.setDefault(True)
        self.load_button.clicked.connect(self.accept)

    def _button(self, text: str, name: str, icon: str = "", role: str = "") -> TextButton:
        button = TextButton(self._theme, text, icon, role=role)
        button.setObjectName(name)
        return button

    def _lay_out(self) -> None:
        heading = ElidedLabel(self._draft.name)
        set_role(heading, "title")
        left = QVBoxLayout()
        left.setContentsMargins(SPACE_L, SPACE_L, 0, 0)
        left.setSpacing(SPACE_S)
        left.addWidget(heading)
        left.addWidget(self._profile)
        left.addWidget(self._scrolled(self._choices(), self.tr("Load options")), 1)
        side = QWidget()
        side.setProperty("role", "panel")
        side_column = QVBoxLayout(side)
        side_column.setContentsMargins(0, 0, 0, 0)
        side_column.addWidget(self._scrolled(self._summary, self.tr("What it takes")))
        side.setFixedWidth(self._theme.px(SUMMARY_WIDTH))
        upper = QHBoxLayout()
        upper.setSpacing(0)
        upper.addLayout(left, 1)
        upper.addWidget(_line("hairline-vertical"))
        upper.addWidget(side)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(upper, 1)
        outer.addWidget(_line("hairline"))
        outer.addLayout(self._foot())

    def _choices(self) -> QWidget:
        inside = QWidget()
        inside.setProperty("role", "page")
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, SPACE_M, SPACE_M)
        column.setSpacing(0)
        for row in self._basic:
            column.addWidget(row)
        column.addWidget(self._fold)
        column.addStretch()
        return inside

    def _scrolled(self, inside: QWidget, name: str) -> QScrollArea:
        area = QScrollArea()
        area.setAccessibleName(name)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside.setProperty("role", "page")
        area.setWidget(inside)
        return area

    def _foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.setContentsMargins(SPACE_L, SPACE_S, SPACE_L, SPACE_S)
        foot.setSpacing(SPACE_S)
        foot.addWidget(self.recommended)
        foot.addWidget(self.reset_all)
        foot.addStretch(1)
        foot.addWidget(self.remember)
        foot.addWidget(self.cancel)
        foot.addWidget(self.load_button)
        return foot

    def _show_profile(self) -> None:
        profile = self._draft.recommended
        self._profile.setText("" if profile is None else words.profile_text(profile.kind, profile.changes))
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
        stops += [self._summary.fewer, self.recommended, self.reset_all, self.remember, self.cancel, self.load_button]
        if stops != self._stops:
            self._stops = stops
            set_order(stops)

    def _unfold_changed(self) -> None:
        """What is not as usual is not hidden."""
        keys, values = self._draft.options.kv_type_k, self._draft.options.kv_type_v
        if keys is not values or self._draft.is_changed(*ADVANCED_FIELDS):
            self.show_advanced()


def _line(role: str) -> QFrame:
    line = QFrame()
    line.setProperty("role", role)
    return line
