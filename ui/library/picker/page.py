"""Picks files or a folder inside the window: where a desktop's dialog is not offered (Game Mode)."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHBoxLayout, QListView, QVBoxLayout, QWidget

from app.folders.look import FolderEntry, FolderList, FolderLook
from engine.library.names import shown
from ui.library.picker.model import ENTRY_ROLE, EntriesModel
from ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.text_button import ElidedButton, TextButton

PLACES_WIDTH = 224


class Entries(QListView):
    """Enter opens a folder or takes files, Backspace goes up.

    Attributes:
        opened: An entry was opened.
        up_wanted: The folder above.
    """

    opened = Signal(object)
    up_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the class."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.opened.emit(self.currentIndex().data(ENTRY_ROLE))
        elif event.key() == Qt.Key.Key_Backspace:
            self.up_wanted.emit()
        else:
            super().keyPressEvent(event)


class PickerPage(QWidget):
    """Places at the left, the folder at the right.

    Attributes:
        picked: Paths, and whether that is a folder.
        left: Nothing was picked.
    """

    picked = Signal(object, bool)
    left = Signal()

    def __init__(self, folders: FolderLook, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folders, self._theme, self._folder = folders, theme, False
        self._list: FolderList | None = None
        self._drives: list[ElidedButton] = []
        self.setObjectName("picker")
        self._title = ElidedLabel()
        self._title.setProperty("role", "title")
        self._path = ElidedLabel()
        self._path.setObjectName("pickerPath")
        self._path.setProperty("role", "muted")
        self._build_view()
        self._build_buttons()
        self._lay_out()

    def _build_view(self) -> None:
        self._entries = EntriesModel(self._theme, self)
        self._view = Entries()
        self._view.setObjectName("pickerList")
        self._view.setAccessibleName(self.tr("Folders and files"))
        self._view.setModel(self._entries)
        self._view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._view.opened.connect(self._open)
        self._view.up_wanted.connect(self._go_up)
        self._view.doubleClicked.connect(lambda index: self._open(index.data(ENTRY_ROLE)))
        self._view.selectionModel().selectionChanged.connect(lambda *_what: self._enable())

    def _build_buttons(self) -> None:
        self._up = TextButton(self._theme, self.tr("Up"), "arrow-up", role="quiet")
        self._up.setObjectName("pickerUp")
        self._up.clicked.connect(self._go_up)
        self._cancel = TextButton(self._theme, self.tr("Cancel"))
        self._cancel.setObjectName("pickerCancel")
        self._cancel.clicked.connect(self.left)
        self._take = TextButton(self._theme, "", "check", role="primary")
        self._take.setObjectName("pickerTake")
        self._take.clicked.connect(self._pick)

    def _lay_out(self) -> None:
        self._places = QVBoxLayout()
        self._places.setSpacing(SPACE_XS)
        self._places.addStretch()
        side = QWidget()
        side.setFixedWidth(self._theme.px(PLACES_WIDTH))
        side.setLayout(self._places)
        self._places.setContentsMargins(0, 0, SPACE_S, 0)
        line = QFrame()
        line.setProperty("role", "hairline-vertical")
        head = QHBoxLayout()
        head.setSpacing(SPACE_S)
        head.addWidget(self._up)
        head.addWidget(self._path, 1)
        foot = QHBoxLayout()
        foot.setSpacing(SPACE_S)
        foot.addStretch()
        foot.addWidget(self._cancel)
        foot.addWidget(self._take)
        right = QVBoxLayout()
        right.setContentsMargins(SPACE_M, 0, 0, 0)
        right.setSpacing(SPACE_S)
        right.addLayout(head)
        right.addWidget(self._view, 1)
        right.addLayout(foot)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(side)
        row.addWidget(line)
        row.addLayout(right, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_L, SPACE_L, SPACE_L, SPACE_M)
        column.setSpacing(SPACE_M)
        column.addWidget(self._title)
        column.addLayout(row, 1)

    def begin(self, *, folder: bool) -> None:
        """Pick a folder, or files; the folder that was shown last is shown again."""
        self._folder = folder
        self._title.setText(self.tr("Folder with models") if folder else self.tr("Import models"))
        several = QAbstractItemView.SelectionMode.ExtendedSelection
        self._view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection if folder else several)
        self._folders.places(self._show_places)
        self._go(self._list.path if self._list is not None else self._folders.home)
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape picks nothing."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    # ---- showing

    def _show_places(self, places: tuple[Path, ...]) -> None:
        for old in self._drives:
            self._places.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._drives = []
        for number, place in enumerate(places):
            icon = "house-simple" if place == self._folders.home else "hard-drive"
            icon = "download-simple" if place.parent == self._folders.home else icon
            button = ElidedButton(self._theme, icon, role="nav", beside=52, least=80, most=PLACES_WIDTH)
            button.setObjectName(f"pickerPlace{number}")
            button.set_full_text(self.tr("Home") if place == self._folders.home else shown(place.name))
            button.setToolTip(shown(place))
            button.clicked.connect(lambda _checked=False, place=place: self._go(place))
            self._places.insertWidget(number, button)
            self._drives.append(button)

    def _go(self, path: Path) -> None:
        self._folders.look(path, self._show)

    def _show(self, found: FolderList) -> None:
        came_from = self._list.path if self._list is not None else None
        self._list = found
        self._path.setText(found.problem or shown(found.path))
        self._up.setEnabled(found.parent is not None)
        self._entries.show(found.entries, only_folders=self._folder)
        place = self._entries.place_of(came_from)
        if self._entries.rowCount():
            self._view.setCurrentIndex(self._entries.index(place or 0, 0))
        self._enable()

    def _enable(self) -> None:
        files = self._chosen_files()
        if self._folder:
            self._take.setText(self.tr("Use this folder"))
            self._take.setEnabled(self._list is not None and not self._list.problem)
        else:
            many = self.tr("Take {0} files").format(len(files))
            self._take.setText(many if len(files) > 1 else self.tr("Take this file"))
            self._take.setEnabled(bool(files))

    def _chosen_files(self) -> tuple[Path, ...]:
        chosen = [index.data(ENTRY_ROLE) for index in self._view.selectedIndexes()]
        return tuple(entry.path for entry in chosen if not entry.is_folder)

    # ---- doing

    def _open(self, entry: FolderEntry) -> None:
        if entry.is_folder:
            self._go(entry.path)
        elif not self._folder:
            self._pick()

    def _go_up(self) -> None:
        if self._list is not None and self._list.parent is not None:
            self._go(self._list.parent)

    def _pick(self) -> None:
        if self._folder and self._list is not None:
            self.picked.emit((self._list.path,), True)
        elif files := self._chosen_files():
            self.picked.emit(files, False)
