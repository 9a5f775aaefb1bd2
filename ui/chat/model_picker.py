"""The button that names the loaded model and lists the others."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.library.service import InstalledModel, LibraryService
from app.worker.service import WorkerService
from engine.library.names import shown
from ui.chat.model_actions import ModelActions
from ui.chat.model_menu import ModelMenu
from ui.library.words import file_size
from ui.load.suit_words import suited_text
from ui.theme import Theme
from ui.theming import icons
from ui.widgets.elided_label import plain_tooltip
from ui.widgets.text_button import ElidedButton

MOST, LEAST, BESIDE, CARET = 380, 180, 80, 14


class ModelPicker(ElidedButton):
    """Shows the model's name, "Loading ..." or "Choose a model"; pressing it opens the list.

    The model that the next message loads is named too, muted.

    Attributes:
        manager_wanted: The last entry of the list was chosen.
    """

    manager_wanted = Signal()

    def __init__(
        self,
        worker: WorkerService,
        library: LibraryService,
        actions: ModelActions,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, "cpu", parent, role="picker", beside=BESIDE, least=LEAST, most=MOST)
        self._worker, self._library, self._actions = worker, library, actions
        self.setObjectName("modelPicker")
        self._menu = ModelMenu(theme, self)
        self._menu.options_wanted.connect(actions.choose_options)
        self._menu.setAccessibleName(self.tr("Installed models"))
        self.clicked.connect(self.open_menu)
        worker.model_changed.connect(self.refresh)
        library.models_changed.connect(self.refresh)
        actions.loading_changed.connect(self.refresh)
        actions.coming_changed.connect(self.refresh)
        theme.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Read the services again."""
        model = self._worker.model
        away = "" if model is not None or self._actions.loading else self._actions.coming
        if self._actions.loading:
            text = self.tr("Loading {name}").format(name=self._actions.loading)
        elif model is not None:
            text = f"{model.name} {model.quant}".strip()
        else:
            text = away or self.tr("Choose a model")
        self.set_full_text(text, self.tr(", not loaded") if away else "")
        self._mute(muted=bool(away))
        self.setAccessibleName(self.tr("Model: {name}").format(name=self.full_text()))
        suited = self._actions.suits_in_use() if model is not None else ()
        note = self.tr("The next message loads it.") if away else suited_text(suited) if suited else ""
        self.setToolTip(plain_tooltip("\n".join(part for part in (self.full_text(), note) if part)))
        self.setAccessibleDescription(note)

    def _mute(self, *, muted: bool) -> None:
        if muted != bool(self.property("away")):
            self.setProperty("away", muted)
            self.set_icon("cpu", "muted" if muted else "text")
            self.style().unpolish(self)
            self.style().polish(self)
            self.updateGeometry()

    def open_menu(self) -> None:
        """Show the list below the button, the loaded model checked and first under the keyboard."""
        self._fill()
        self._menu.setMinimumWidth(self.width())
        self._menu.popup(self.mapToGlobal(QPoint(0, self.height())))
        checked = next((a for a in self._menu.actions() if a.isChecked()), None)
        first = next((a for a in self._menu.actions() if a.isEnabled() and not a.isSeparator()), None)
        if (active := checked or first) is not None:
            self._menu.setActiveAction(active)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow down opens the list, as in a combo box."""
        if event.key() == Qt.Key.Key_Down:
            self.open_menu()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The button, and the caret of a drop-down at its right end."""
        super().paintEvent(event)
        size = self._theme.px(CARET)
        box = QRectF(self.width() - size - self._theme.px(12), (self.height() - size) / 2, size, size)
        icons.draw(QPainter(self), self._theme.icon_path("caret-down"), box, QColor(self._theme.tokens.muted))

    def _fill(self) -> None:
        self._menu.clear()
        group = QActionGroup(self._menu)
        loaded = self._worker.model
        for model in sorted(self._library.models, key=lambda m: m.name.lower()):
            action = self._entry(model)
            action.setChecked(loaded is not None and str(model.path) == loaded.path)
            group.addAction(action)
            self._menu.addAction(action)
        if self._menu.isEmpty():
            self._menu.addAction(self._nothing())
        self._menu.addSeparator()
        if self._actions.changeable is not None:
            change = self._menu.addAction(self.tr("Change load options…") + "\tCtrl+Shift+O")
            change.triggered.connect(self._actions.change_options)
        manager = self._menu.addAction(self.tr("Models…"))
        manager.triggered.connect(self.manager_wanted)

    def _nothing(self) -> QAction:
        text = self.tr("Looking for models…") if self._library.scanning else self.tr("No model is installed yet")
        action = QAction(text, self._menu)
        action.setEnabled(False)
        return action

    def _entry(self, model: InstalledModel) -> QAction:
        facts = "  ".join(part for part in (model.quant, file_size(model.size_bytes)) if part)
        action = QAction(f"{model.name.replace('&', '&&')}\t{facts}", self._menu)
        action.setCheckable(True)
        action.setEnabled(model.can_chat)
        action.setToolTip(model.problem or shown(model.path))
        action.setData(model.path)
        action.triggered.connect(lambda: self._actions.load(model.path))
        return action
