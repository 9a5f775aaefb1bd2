"""What is known of the chosen model, what is wrong with it, and what can be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.library.service import FileState, InstalledModel
from engine.library.records import Mend, ModelUpdate
from engine.library.roots import RootInfo, RootState
from ui.library import words as library_words
from ui.library.keep import roots_words, words
from ui.settings.row import PlainLabel
from ui.theme import SPACE_M, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.text_button import TextButton


class ModelPanel(QFrame):
    """Below the table of models.

    Attributes:
        load_wanted, options_wanted, folder_wanted, delete_wanted: The buttons.
        mend_wanted: A `Mend` for the chosen model.
        verify_wanted, updates_wanted, page_wanted, copy_wanted: From the menu.
        move_wanted: Id of the folder that it should be moved to.
        update_wanted: The newer file should be fetched.
    """

    load_wanted = Signal()
    options_wanted = Signal()
    folder_wanted = Signal()
    delete_wanted = Signal()
    mend_wanted = Signal(object)
    verify_wanted = Signal()
    updates_wanted = Signal()
    page_wanted = Signal()
    copy_wanted = Signal()
    move_wanted = Signal(str)
    update_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model: InstalledModel | None = None
        self._targets: tuple[RootInfo, ...] = ()
        self._mends: list[TextButton] = []
        self._shown_mends: tuple[object, ...] = ()
        self._name = ElidedLabel()
        self._name.setObjectName("modelName")
        self._name.setProperty("role", "heading")
        self._facts = PlainLabel("", "muted")
        self._facts.setObjectName("modelDetails")
        self._problem = PlainLabel()
        self._problem.setObjectName("modelProblem")
        self._update = TextButton(theme, "", "arrow-circle-up")
        self._update.setObjectName("updateModelButton")
        self._update.clicked.connect(self.update_wanted)
        self._build_buttons()
        self._lay_out()
        theme.changed.connect(lambda: QTimer.singleShot(0, self, self._settle))
        self.show_model(None)

    def _settle(self) -> None:
        """Another font has come with a style, which is applied after the theme has told of it."""
        self._facts.updateGeometry()
        self._problem.updateGeometry()
        self._arrange()

    def _build_buttons(self) -> None:
        self.load = self._button(self.tr("Load"), "play", "loadModelButton", self.load_wanted.emit, role="primary")
        self.options = self._button(
            self.tr("Load with options…"), "sliders-horizontal", "loadWithOptionsButton", self.options_wanted.emit
        )
        self.options.setToolTip(self.tr("Choose context, device and more first (Shift+Enter)"))
        self.folder = self._button(self.tr("Show folder"), "folder-open", "showFolderButton", self.folder_wanted.emit)
        self.delete = self._button(self.tr("Delete"), "trash", "deleteModelButton", self.delete_wanted.emit)
        self.more = self._button(self.tr("More"), "dots-three", "moreModelButton", self._open_menu)

    def _button(self, text: str, icon: str, name: str, run: Callable[[], None], *, role: str = "") -> TextButton:
        button = TextButton(self._theme, text, icon, role=role)
        button.setObjectName(name)
        button.clicked.connect(lambda: run())
        return button

    def _lay_out(self) -> None:
        self._mend_row = QHBoxLayout()
        self._mend_row.setSpacing(SPACE_S)
        self._mend_row.addWidget(self._problem, 1)
        self._mend_row.addWidget(self._update)
        actions = QHBoxLayout()
        actions.setSpacing(SPACE_S)
        for button in (self.delete, self.folder, self.more):
            actions.addWidget(button)
        actions.addStretch()
        actions.addWidget(self.options)
        actions.addWidget(self.load)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_XS, 0, 0, 0)
        column.setSpacing(SPACE_XS)
        column.addWidget(self._name)
        column.addWidget(self._facts)
        column.addLayout(self._mend_row)
        column.addSpacing(SPACE_M - SPACE_XS)
        column.addLayout(actions)

    def set_targets(self, roots: Sequence[RootInfo]) -> None:
        """Folders that a model can be moved to."""
        self._targets = tuple(roots)

    def show_model(
        self,
        model: InstalledModel | None,
        *,
        root: RootInfo | None = None,
        loaded: bool = False,
        update: ModelUpdate | None = None,
        others: tuple[InstalledModel, ...] = (),
    ) -> None:
        """Show ``model``; ``others`` are all models, to name the twin of a duplicate."""
        self._model = model
        name = roots_words.name(root) if root is not None else ""
        self._name.setText(model.label if model is not None else "")
        self._facts.setText(words.facts(model, root, name) if model is not None else "")
        text, tint = words.problem(model, others) if model is not None else ("", "muted")
        self._problem.setText(text)
        set_role(self._problem, tint)
        self._show_update(update)
        self._show_mends(model)
        self._problem.setVisible(bool(text) or update is not None or bool(self._mends))
        self._enable(model, loaded)

    def _enable(self, model: InstalledModel | None, loaded: bool) -> None:
        self.load.setEnabled(model is not None and model.can_chat and not loaded)
        self.options.setEnabled(model is not None and model.can_chat)
        self.options.setText(self.tr("Change options…") if loaded else self.tr("Load with options…"))
        self._arrange()
        for button in (self.folder, self.more):
            button.setEnabled(model is not None)
        self.delete.setEnabled(model is not None and model.state is not FileState.ABSENT)

    def _show_update(self, update: ModelUpdate | None) -> None:
        self._update.setVisible(update is not None)
        if update is None:
            return
        size = library_words.file_size(update.n_bytes)
        self._update.setText(self.tr("Get the newer file ({0})").format(size))
        if not self._problem.text():
            self._problem.setText(self.tr("Its repository has a newer file of this name."))

    def _show_mends(self, model: InstalledModel | None) -> None:
        wanted = tuple(one for one in model.mends if one is not Mend.DELETE) if model is not None else ()
        if wanted == self._shown_mends:
            return
        self._shown_mends = wanted
        for button in self._mends:
            self._mend_row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._mends = []
        for one in wanted:
            text, icon = words.mend(one)
            button = self._button(text, icon, f"mend-{one}", partial(self.mend_wanted.emit, one))
            self._mend_row.addWidget(button)
            self._mends.append(button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What has no room is found in the menu."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        buttons = (self.delete, self.folder, self.more, self.options, self.load)
        wanted = sum(button.sizeHint().width() + SPACE_S for button in buttons)
        self.folder.setVisible(wanted <= self.width())

    # ---- the menu

    def _open_menu(self) -> None:
        menu = self.make_menu()
        menu.popup(self.more.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def open_menu_at(self, place: QPoint) -> None:
        """Show what the button More shows at a place of the screen."""
        self.make_menu().popup(place)

    def make_menu(self) -> QMenu:
        """Everything else that can be done; deletes itself when it is closed."""
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        model = self._model
        if model is None:
            return menu
        here = model.state is not FileState.ABSENT
        self._add(menu, self.tr("Show in file manager"), self.folder_wanted.emit)
        self._add(menu, self.tr("Check the file"), self.verify_wanted.emit, enabled=here)
        self._add_targets(menu, model, here)
        menu.addSeparator()
        known = model.repo is not None
        self._add(menu, self.tr("Look for a newer file"), self.updates_wanted.emit, enabled=known)
        self._add(menu, self.tr("Show its repository"), self.page_wanted.emit, enabled=known)
        self._add(menu, self.tr("Copy path"), self.copy_wanted.emit)
        return menu

    def _add_targets(self, menu: QMenu, model: InstalledModel, here: bool) -> None:
        submenu = menu.addMenu(self.tr("Move to"))
        others = [one for one in self._targets if one.id != model.root and one.state is RootState.PRESENT]
        for one in others:
            text = f"{roots_words.name(one)}, {roots_words.free(one)}" if one.free is not None else one.name
            self._add(submenu, text.replace("&", "&&"), partial(self.move_wanted.emit, one.id))
        submenu.setEnabled(bool(others) and here and not model.owner)

    @staticmethod
    def _add(menu: QMenu, text: str, run: Callable[[], None], *, enabled: bool = True) -> None:
        action = menu.addAction(text)
        action.setEnabled(enabled)
        action.triggered.connect(lambda: run())
