"""The column with the folders that hold models, and what can be done with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.library.service import LibraryService
from engine.library.roots import RootInfo, RootKind
from ui.library.keep import roots_words
from ui.library.keep.roots_list import RootsList
from ui.theme import SPACE_S, SPACE_XS, Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.text_button import TextButton

WIDTH, WIDEST = 224, 320


class RootsColumn(QWidget):
    """List, "Add folder", and a menu.

    Attributes:
        chosen: Another folder was selected: its `RootInfo`, None for all.
        add_wanted: A folder should be picked.
        remove_wanted: A folder (`RootInfo`) should be taken off the list.
        show_wanted: A folder (`RootInfo`) should be shown in the file manager.
    """

    chosen = Signal(object)
    add_wanted = Signal()
    remove_wanted = Signal(object)
    show_wanted = Signal(object)

    def __init__(self, library: LibraryService, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._library, self._theme = library, theme
        self.list = RootsList(theme)
        self.list.chosen.connect(self.chosen)
        self.list.menu_wanted.connect(self._open_menu_at)
        self.list.remove_wanted.connect(self._remove)
        self._add = TextButton(theme, self.tr("Add folder…"), "folder-plus", role="quiet")
        self._add.setObjectName("addRootButton")
        self._add.setToolTip(self.tr("Use the models in a folder where they are"))
        self._add.clicked.connect(self.add_wanted)
        self._more = IconButton(theme, "dots-three", self.tr("More for this folder"))
        self._more.setObjectName("moreRootButton")
        self._more.clicked.connect(self._open_menu)
        row = QHBoxLayout()
        row.setSpacing(SPACE_XS)
        row.addWidget(self._add)
        row.addStretch()
        row.addWidget(self._more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, SPACE_S, 0)
        column.setSpacing(SPACE_S)
        column.addWidget(self.list, 1)
        column.addLayout(row)
        library.roots_changed.connect(self._refresh)
        theme.changed.connect(self._limit)
        self._limit()
        self._refresh()

    @property
    def root(self) -> RootInfo | None:
        """The folder that is selected; None: all."""
        return self.list.root

    def _refresh(self) -> None:
        self.list.show_roots(self._library.roots)

    def _limit(self) -> None:
        self.setFixedWidth(min(self._theme.px(WIDTH), WIDEST))

    def _remove(self) -> None:
        root = self.root
        if root is not None and root.root.kind is not RootKind.OWN:
            self.remove_wanted.emit(root)

    def _open_menu(self) -> None:
        menu = self.make_menu()
        menu.popup(self._more.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def _open_menu_at(self, place: QPoint) -> None:
        self.make_menu().popup(place)

    def make_menu(self) -> QMenu:
        """What can be done with the selected folder; deletes itself when it is closed."""
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        root = self.root
        if root is not None:
            self._entry(menu, self.tr("Show in file manager"), lambda: self.show_wanted.emit(root))
            removable = root.root.kind is not RootKind.OWN
            self._entry(menu, self.tr("Take off the list"), lambda: self.remove_wanted.emit(root), enabled=removable)
            menu.addSeparator()
        self._entry(menu, self.tr("Look at all folders again"), self._library.rescan)
        hidden = self._library.hidden_roots
        if hidden:
            submenu = menu.addMenu(self.tr("Show again"))
            for one in hidden:
                name = roots_words.name(one).replace("&", "&&")
                self._entry(submenu, name, partial(self._library.show_root, one.id))
        return menu

    @staticmethod
    def _entry(menu: QMenu, text: str, run: Callable[[], None], *, enabled: bool = True) -> None:
        action = menu.addAction(text)
        action.setEnabled(enabled)
        action.triggered.connect(lambda: run())
