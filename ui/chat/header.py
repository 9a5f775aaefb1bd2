"""The line above the conversation: which model, where it runs, the ways to other models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QEvent, QPoint, Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from app.library.service import LibraryService
from app.worker.service import WorkerService
from engine.client.session import WorkerState
from ui.chat.device_label import DeviceLabel
from ui.chat.load_progress import LoadProgress
from ui.chat.model_actions import ModelActions
from ui.chat.model_picker import ModelPicker
from ui.theme import SPACE_S, SPACE_XS, Theme, ThemeMode
from ui.widgets.icon_button import IconButton
from ui.widgets.late import LateVisibility
from ui.widgets.text_button import TextButton

T = TypeVar("T")

SCALES = (0.85, 1.0, 1.15, 1.4)


class Header(QWidget):
    """Model picker, device or load progress, unload, models, more.

    Attributes:
        sidebar_toggled: Show or hide the list of conversations.
        manager_wanted: Open the model manager window.
        settings_wanted: Open the settings window on the page of this name; "" any.
        bench_wanted: Open the benchmark window.
        cancel_wanted: Stop a load that nobody asked for by name (the reload before an answer).
        mode_chosen: `ThemeMode` from the menu.
        scale_chosen: Text size from the menu, 1.0 normal.
    """

    sidebar_toggled = Signal()
    manager_wanted = Signal()
    settings_wanted = Signal(str)
    bench_wanted = Signal()
    memory_wanted = Signal()
    palette_wanted = Signal()
    shortcuts_wanted = Signal()
    cancel_wanted = Signal()
    mode_chosen = Signal(object)
    scale_chosen = Signal(float)

    def __init__(
        self,
        worker: WorkerService,
        library: LibraryService,
        actions: ModelActions,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._worker, self._actions, self._theme = worker, actions, theme
        self._sidebar_button = IconButton(theme, "list", self.tr("Conversations"), shortcut="Ctrl+B")
        self._sidebar_button.setObjectName("sidebarButton")
        self._sidebar_button.clicked.connect(self.sidebar_toggled)
        self._picker = ModelPicker(worker, library, actions, theme)
        self._picker.manager_wanted.connect(self.manager_wanted)
        self._device = DeviceLabel(worker, theme)
        self._device.diagnosis_wanted.connect(lambda: self.settings_wanted.emit("doctor"))
        self._progress = LoadProgress(theme)
        self._progress.cancelled.connect(self._cancel)
        self._unload = IconButton(theme, "eject", self.tr("Unload the model and free its memory"))
        self._unload.setObjectName("unloadButton")
        self._unload.clicked.connect(actions.unload)
        self._models = TextButton(theme, self.tr("Models"), "stack", role="quiet")
        self._models.setObjectName("modelsButton")
        self._models.setAccessibleName(self.tr("Models"))
        self._models.setToolTip(self.tr("Open the model manager (Ctrl+M)"))
        self._models.clicked.connect(self.manager_wanted)
        self._settings = IconButton(theme, "gear-six", self.tr("Settings"), shortcut="Ctrl+,")
        self._settings.setObjectName("settingsButton")
        self._settings.clicked.connect(lambda: self.settings_wanted.emit(""))
        self._more = IconButton(theme, "dots-three-vertical", self.tr("More"))
        self._more.setObjectName("moreButton")
        self._more.clicked.connect(self._open_more)
        self._build()
        self._late = LateVisibility(self._progress)
        worker.load_progress.connect(self._progress.set_fraction)
        worker.state_changed.connect(self._follow)
        worker.model_changed.connect(self._follow)
        theme.changed.connect(self._fit)
        self._follow()

    def set_sidebar_open(self, opened: bool) -> None:
        """Name the button by what it will do."""
        self._sidebar_button.set_name(self.tr("Hide conversations") if opened else self.tr("Show conversations"))

    def open_picker(self) -> None:
        """Open the list of installed models."""
        self._picker.open_menu()

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_S, SPACE_XS, SPACE_S, SPACE_XS)
        row.setSpacing(SPACE_XS)
        row.addWidget(self._sidebar_button)
        row.addWidget(self._picker)
        row.addWidget(self._unload)
        row.addWidget(self._progress)
        row.addWidget(self._device)
        row.addStretch(1)
        row.addWidget(self._models)
        row.addWidget(self._settings)
        row.addWidget(self._more)

    def _follow(self) -> None:
        loading = self._worker.state is WorkerState.LOADING
        if loading and not self._late.wanted:
            self._progress.set_fraction(0.0)
            self._late.show()
        elif not loading:
            self._late.hide()
        self._unload.setVisible(self._worker.model is not None)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Decide again what there is room for."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """What is shown, or how wide it is, changed."""
        done = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit()
        return done

    def _fit(self) -> None:
        """Where not even the least fits, the device goes first (the line at the bottom has it), then a word."""
        if not self.isVisible():
            return
        icons = (self._sidebar_button, self._unload, self._settings, self._more)
        parts = [one for one in (*icons, self._picker, self._progress) if not one.isHidden()]
        widths = [self._width_of_models(), *(one.minimumSizeHint().width() for one in parts)]
        spare = self.width() - 2 * SPACE_S - SPACE_XS * (len(widths) + 1) - sum(widths)
        self._device.give_way(spare < self._device.minimumSizeHint().width())
        words = self.tr("Models") if spare >= 0 else ""
        if words != self._models.text():
            self._models.setText(words)

    def _width_of_models(self) -> int:
        """With its word."""
        width, word = self._models.minimumSizeHint().width(), self.tr("Models")
        return width if self._models.text() else width + self._models.fontMetrics().horizontalAdvance(word)

    def _cancel(self) -> None:
        if not self._actions.cancel_load():
            self.cancel_wanted.emit()

    def _open_more(self) -> None:
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        change = menu.addAction(self.tr("Change load options…") + "\tCtrl+Shift+O")
        change.setEnabled(self._actions.changeable is not None)
        change.triggered.connect(self._actions.change_options)
        for text, keys, wanted in (
            (self.tr("Memory…"), "Ctrl+Shift+M", self.memory_wanted),
            (self.tr("Benchmark…"), "Ctrl+Shift+B", self.bench_wanted),
            (self.tr("Find a command…"), "Ctrl+K", self.palette_wanted),
            (self.tr("Keyboard shortcuts"), "F1", self.shortcuts_wanted),
        ):
            menu.addAction(f"{text}\t{keys}").triggered.connect(lambda _checked=False, signal=wanted: signal.emit())
        modes = {
            ThemeMode.SYSTEM: self.tr("Follow the system"),
            ThemeMode.LIGHT: self.tr("Light"),
            ThemeMode.DARK: self.tr("Dark"),
        }
        self._add_choices(menu, self.tr("Appearance"), modes, self._theme.mode, self.mode_chosen.emit)
        sizes = {scale: f"{scale:.0%}".replace("%", " %") for scale in SCALES}
        self._add_choices(menu, self.tr("Text size"), sizes, self._theme.chosen_scale, self.scale_chosen.emit)
        corner = self._more.mapToGlobal(QPoint(self._more.width(), self._more.height()))
        menu.popup(corner - QPoint(menu.sizeHint().width(), 0))
        menu.setActiveAction(next(a for a in menu.actions() if a.isChecked()))

    @staticmethod
    def _add_choices(
        menu: QMenu, heading: str, choices: Mapping[T, str], present: T, chosen: Callable[[T], None]
    ) -> None:
        menu.addSeparator()
        menu.addAction(heading).setEnabled(False)
        group = QActionGroup(menu)
        for value, text in choices.items():
            action = menu.addAction(text)
            action.setCheckable(True)
            action.setChecked(value == present)
            action.triggered.connect(partial(chosen, value))
            group.addAction(action)
