"""The button that names the loaded model and lists the others."""

from __future__ import annotations

from app.library.service import InstalledModel, LibraryService
from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.worker.service import WorkerService
from ui.chat.model_actions import ModelActions
from ui.chat.words import path_text, size_text
from ui.theme import Theme
from ui.theming import icons
from ui.widgets.elided_label import plain_tooltip
from ui.widgets.text_button import TextButton

MOST_WIDTH, BESIDE_TEXT, CARET = 340, 76, 14


class ModelPicker(TextButton):
    """Shows the model's name, "Loading ..." or "Choose a model"; pressing it opens the list.

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
        super().__init__(theme, "", "cpu", parent, role="picker")
        self._worker, self._library, self._actions = worker, library, actions
        self._full = ""
        self.setObjectName("modelPicker")
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.setAccessibleName(self.tr("Installed models"))
        self.clicked.connect(self.open_menu)
        worker.model_changed.connect(self.refresh)
        library.models_changed.connect(self.refresh)
        actions.loading_changed.connect(self.refresh)
        theme.changed.connect(self.refresh)
        self.refresh()

    def full_text(self) -> str:
        """The name as it is, also while the button shows it cut."""
        return self._full

    def refresh(self) -> None:
        """Read the services again."""
        model = self._worker.model
        if self._actions.loading:
            self._full = self.tr("Loading {name}").format(name=self._actions.loading)
        elif model is not None:
            self._full = f"{model.name} {model.quant}".strip()
        else:
            self._full = self.tr("Choose a model")
        self.setAccessibleName(self.tr("Model: {name}").format(name=self._full))
        self._elide()

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
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_menu()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The button, and the caret of a drop-down at its right end."""
        super().paintEvent(event)
        size = self._theme.px(CARET)
        box = QRectF(self.width() - size - self._theme.px(12), (self.height() - size) / 2, size, size)
        icons.draw(QPainter(self), self._theme.icon_path("caret-down"), box, QColor(self._theme.tokens.muted))

    def _elide(self) -> None:
        room = self._theme.px(MOST_WIDTH - BESIDE_TEXT)
        self.setText(self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideMiddle, room).replace("&", "&&"))
        self.setToolTip(plain_tooltip(self._full))

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
        manager = self._menu.addAction(self.tr("Model manager…"))
        manager.triggered.connect(self.manager_wanted)

    def _nothing(self) -> QAction:
        text = self.tr("Looking for models…") if self._library.scanning else self.tr("No model is installed yet")
        action = QAction(text, self._menu)
        action.setEnabled(False)
        return action

    def _entry(self, model: InstalledModel) -> QAction:
        facts = "  ".join(part for part in (model.quant, size_text(model.size_bytes)) if part)
        action = QAction(f"{model.name.replace('&', '&&')}\t{facts}", self._menu)
        action.setCheckable(True)
        action.setEnabled(model.can_chat)
        action.setToolTip(model.problem or path_text(model.path))
        action.triggered.connect(lambda: self._actions.load(model.path))
        return action
