"""The memory page, in its own window: who holds what, and how that came."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QFontMetrics,
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from app.memory.service import MemoryService
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from ui.memory.bars_page import BarsPage
from ui.memory.blocks import blocks
from ui.memory.figures import FigureRow, as_text, figure_rows, history_rows
from ui.memory.figures_table import FiguresTable
from ui.memory.page_settings import MemoryPageSettings
from ui.memory.page_words import card_names
from ui.memory.shares import chosen_gpu
from ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.first_size import fit_screen
from ui.widgets.text_button import TextButton
from ui.window_settings import pack_geometry, unpack_geometry

LEAST = QSize(760, 480)
READOUT_LINES = 2


class MemoryWindow(QWidget):
    """Bars, plot and table of the same figures. Escape closes it.

    Attributes:
        looked_at: Whether somebody looks now.
    """

    looked_at = Signal(bool)

    def __init__(
        self,
        memory: MemoryService,
        worker: WorkerService,
        store: SettingsStore,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._memory, self._worker, self._store, self._theme = memory, worker, store, theme
        self.setObjectName("memoryWindow")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "background")
        self.setWindowTitle(self.tr("Memory – Vramble"))
        self.setMinimumSize(LEAST)
        fit_screen(self, 1280, 800)
        self._build()
        self._lay_out()
        self._add_shortcuts()
        if self._settings.geometry:
            self.restoreGeometry(unpack_geometry(self._settings.geometry))
        memory.sampled.connect(lambda _snapshot: self._refresh())
        memory.failed.connect(self._refresh)
        worker.model_changed.connect(lambda _model: self._refresh())
        theme.changed.connect(self._restyle)
        self._restyle()
        self._show_chosen()

    @property
    def _settings(self) -> MemoryPageSettings:
        return self._store.get(MemoryPageSettings)

    def present(self) -> None:
        """Bring the window to the front."""
        self.show()
        self.raise_()
        self.activateWindow()
        self.focus()

    def focus(self) -> None:
        """Give the keyboard to the figures."""
        if self._settings.table:
            self._table.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self._bars.focus_first()

    def text(self) -> str:
        """All figures of now as text, as "Copy" gives them."""
        return as_text(self._rows())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape: see the class."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up."""
        super().showEvent(event)
        self._title.setVisible(self.isWindow())
        self._refresh()
        self.looked_at.emit(True)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the place of the window."""
        super().closeEvent(event)
        if self.isWindow():
            self._change(geometry=pack_geometry(self.saveGeometry()))

    def hideEvent(self, event: QHideEvent) -> None:
        """Closed, or covered by another page."""
        super().hideEvent(event)
        if not event.spontaneous():
            self.looked_at.emit(False)

    def changeEvent(self, event: QEvent) -> None:
        """Minimised: nobody looks."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.WindowStateChange:
            self.looked_at.emit(self.isVisible() and not self.isMinimized())
            self._refresh()

    def _build(self) -> None:
        theme = self._theme
        self._model_label = ElidedLabel()
        set_role(self._model_label, "muted")
        self._scale_button = TextButton(theme, self.tr("One scale"), "ruler", role="quiet")
        self._scale_button.setObjectName("memoryOneScale")
        self._scale_button.setToolTip(self.tr("Equal lengths are equal amounts of memory in all bars"))
        self._table_button = TextButton(theme, self.tr("Table"), "table", role="quiet")
        self._table_button.setObjectName("memoryTableButton")
        self._table_button.setToolTip(self.tr("The same figures as a table (Ctrl+T)"))
        for button, on in ((self._scale_button, self._settings.one_scale), (self._table_button, self._settings.table)):
            button.setCheckable(True)
            button.setChecked(on)
        self._copy_button = TextButton(theme, self.tr("Copy"), "copy", role="quiet")
        self._copy_button.setObjectName("memoryCopy")
        self._copy_button.setToolTip(self.tr("Copy all figures as text"))
        self._scale_button.toggled.connect(lambda on: self._choose(one_scale=on))
        self._table_button.toggled.connect(lambda on: self._choose(table=on))
        self._copy_button.clicked.connect(self._copy)
        self._table = FiguresTable(theme)
        self._bars = BarsPage(self._memory.history, self._store, theme)
        self._bars.told.connect(self._tell)
        self._readout = QLabel()
        self._readout.setObjectName("memoryReadout")
        self._readout.setTextFormat(Qt.TextFormat.PlainText)
        self._readout.setWordWrap(True)
        self._readout.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(SPACE_L, SPACE_XS, SPACE_S, SPACE_XS)
        head.setSpacing(SPACE_S)
        self._title = QLabel(self.tr("Memory"))
        set_role(self._title, "title")
        head.addWidget(self._title)
        head.addSpacing(SPACE_M)
        head.addWidget(self._model_label, 1)
        for button in (self._scale_button, self._table_button, self._copy_button):
            head.addWidget(button)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._bars)
        self._pages.addWidget(self._table)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        foot = QHBoxLayout()
        foot.setContentsMargins(SPACE_L, 0, SPACE_L, 0)
        foot.addWidget(self._readout)
        whole.addLayout(head)
        whole.addWidget(_hairline())
        whole.addWidget(self._pages, 1)
        whole.addWidget(_hairline())
        whole.addLayout(foot)

    def _add_shortcuts(self) -> None:
        close = QShortcut(QKeySequence(QKeySequence.StandardKey.Close), self)
        close.activated.connect(self.close)
        table = QShortcut(QKeySequence("Ctrl+T"), self)
        table.activated.connect(self._table_button.toggle)

    def _rows(self) -> tuple[FigureRow, ...]:
        snapshot = self._memory.snapshot
        if snapshot is None:
            return ()
        model = self._worker.model
        gpu = chosen_gpu(snapshot, model)
        past = history_rows(snapshot, self._memory.history, gpu.pci if gpu is not None else None)
        return (*figure_rows(blocks(snapshot, model), card_names(snapshot)), *past)

    def _refresh(self) -> None:
        """Bring up to date what is seen."""
        if not self.isVisible() or self.isMinimized():
            return
        model = self._worker.model
        name = self.tr("No model is loaded") if model is None else f"{model.name} {model.quant}".strip()
        if self._model_label.text() != name:
            self._model_label.setText(name)
        if self._settings.table:
            self._table.figures.set_rows(self._rows())
        else:
            self._bars.show_figures(self._memory.snapshot, model, one_scale=self._settings.one_scale)
            self._scale_button.setVisible(self._bars.scales > 1)

    def _choose(self, **values: bool) -> None:
        """A button was pressed."""
        self._change(**values)
        self._show_chosen()
        self._refresh()

    def _show_chosen(self) -> None:
        self._pages.setCurrentWidget(self._table if self._settings.table else self._bars)
        self._scale_button.setVisible(not self._settings.table and self._bars.scales > 1)
        self._tell("")

    def _tell(self, line: str) -> None:
        """The exact figures of what is pointed at, else how to point."""
        hint = self.tr("Point at a bar or at the plot for exact figures, or use the arrow keys.")
        text = line or ("" if self._settings.table else hint)
        if text != self._readout.text():
            self._readout.setText(text)
            set_role(self._readout, "" if line else "muted")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text())
        self._tell(self.tr("All figures are in the clipboard."))

    def _change(self, **values: object) -> None:
        self._store.put(msgspec.structs.replace(self._settings, **values))

    def _restyle(self) -> None:
        lines = READOUT_LINES * QFontMetrics(self._theme.font()).height()
        self._readout.setFixedHeight(lines + 2 * SPACE_XS)
        self._bars.restyle()


def _hairline() -> QFrame:
    line = QFrame()
    line.setProperty("role", "hairline")
    return line
