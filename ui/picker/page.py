"""Picks files or a folder, or a name to save under, inside the window: where a desktop's dialog is not offered."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget
from shiboken6 import isValid

from app.folders.look import FolderEntry, FolderList, FolderLook, StartPlace
from engine.library.names import shown
from ui.library.question_bar import QuestionBar
from ui.picker.entries import Entries
from ui.picker.model import ENTRY_ROLE, EntriesModel
from ui.picker.nothing import why_nothing
from ui.picker.places import Places
from ui.picker.wish import ALL, Kind, Wish, file_name
from ui.theme import SPACE_L, SPACE_M, SPACE_S, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import EmptyState
from ui.widgets.text_button import TextButton


class PickerPage(QWidget):
    """Places at the left, the folder at the right. Closing it picks nothing.

    Attributes:
        picked: A tuple of paths: files, or one folder, or one file to write.
        left: It is closed, and nothing was picked.
        moved: Path of the folder that is shown now.
    """

    picked = Signal(object)
    left = Signal()
    moved = Signal(object)

    def __init__(self, wish: Wish, folders: FolderLook, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._wish, self._folders, self._theme = wish, folders, theme
        self._list: FolderList | None = None
        self._done = False
        self.setObjectName("picker")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(wish.title)
        self._build_list()
        self._build_buttons()
        self._lay_out()
        folders.places(self._show_places)
        self._go(wish.start or folders.home)

    def focus(self) -> None:
        """Give the keyboard to where one begins."""
        field = self._name if self._wish.kind is Kind.SAVE else self._view
        field.setFocus(Qt.FocusReason.OtherFocusReason)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell it when nothing was picked."""
        super().closeEvent(event)
        if not self._done:
            self.left.emit()

    # ---- building

    def _build_list(self) -> None:
        self._path = ElidedLabel()
        self._path.setObjectName("pickerPath")
        self._path.setProperty("role", "muted")
        self._places = Places(self._folders.home, self._theme)
        self._places.chosen.connect(self._go)
        self._entries = EntriesModel(self._theme, self)
        self._view = Entries(self._entries, self._theme)
        self._view.choose_mode(several=self._wish.kind is Kind.FILES)
        self._view.opened.connect(self._open)
        self._view.up_wanted.connect(self._go_up)
        self._view.selectionModel().selectionChanged.connect(lambda *_what: self._chosen_changed())
        self._nothing = EmptyState(self._theme, "folder-simple", "", "")
        self._nothing.setObjectName("pickerNothing")
        self._room = QStackedWidget()
        self._room.addWidget(self._view)
        self._room.addWidget(self._nothing)
        self._question = QuestionBar(self._theme)

    def _build_buttons(self) -> None:
        self._up = TextButton(self._theme, self.tr("Up"), "arrow-up", role="quiet")
        self._up.setObjectName("pickerUp")
        self._up.clicked.connect(self._go_up)
        self._cancel = TextButton(self._theme, self.tr("Cancel"))
        self._cancel.setObjectName("pickerCancel")
        self._cancel.clicked.connect(self.close)
        self._take = TextButton(self._theme, "", "check", role="primary")
        self._take.setObjectName("pickerTake")
        self._take.clicked.connect(self._pick)
        self._name = QLineEdit(self._wish.name)
        self._name.setObjectName("pickerName")
        self._name.setAccessibleName(self.tr("Name of the file"))
        if self._wish.kind is not Kind.SAVE:
            self._name.hide()
        self._name.textChanged.connect(self._enable)
        self._name.returnPressed.connect(self._pick)
        self._filter = QComboBox()
        self._filter.setObjectName("pickerFilter")
        self._filter.setAccessibleName(self.tr("Which files are shown"))
        self._filter.addItems([one.name for one in self._wish.filters])
        if len(self._wish.filters) < 2 or self._wish.kind is Kind.FOLDER:
            self._filter.hide()
        self._filter.currentIndexChanged.connect(self._look_again)

    def _lay_out(self) -> None:
        line = QFrame()
        line.setProperty("role", "hairline-vertical")
        head, foot = QHBoxLayout(), QHBoxLayout()
        for row in (head, foot):
            row.setSpacing(SPACE_S)
        head.addWidget(self._up)
        head.addWidget(self._path, 1)
        foot.addWidget(self._name, 1)
        foot.addWidget(self._filter)
        if self._wish.kind is not Kind.SAVE:
            foot.addStretch(1)
        foot.addWidget(self._cancel)
        foot.addWidget(self._take)
        right = QVBoxLayout()
        right.setContentsMargins(SPACE_M, 0, 0, 0)
        right.setSpacing(SPACE_S)
        right.addLayout(head)
        right.addWidget(self._room, 1)
        right.addWidget(self._question)
        right.addLayout(foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_L, SPACE_M, SPACE_L, SPACE_M)
        row.setSpacing(0)
        row.addWidget(self._places)
        row.addWidget(line)
        row.addLayout(right, 1)

    # ---- showing

    def _show_places(self, places: tuple[StartPlace, ...]) -> None:
        if not isValid(self):
            return
        self._places.show_places(places)
        if self._list is not None:
            self._places.mark(self._list.path)

    def _go(self, path: Path) -> None:
        chosen = self._filter.currentIndex()
        suffixes = self._wish.filters[chosen].suffixes if 0 <= chosen < len(self._wish.filters) else (ALL,)
        self._folders.look(path, self._show, suffixes)

    def _look_again(self) -> None:
        if self._list is not None:
            self._go(self._list.path)

    def _show(self, found: FolderList) -> None:
        if not isValid(self):
            return
        came_from = self._list.path if self._list is not None else None
        had_focus = self._view.hasFocus()
        self._list = found
        self._question.close_question()
        self._path.setText(shown(found.path))
        self._up.setEnabled(found.parent is not None)
        self._places.mark(found.path)
        self._entries.show(found.entries, only_folders=self._wish.kind is Kind.FOLDER)
        self._nothing.set_text(*why_nothing(found, self._wish, self._filter.currentIndex()))
        empty = not self._entries.rowCount()
        self._room.setCurrentWidget(self._nothing if empty else self._view)
        if not empty:
            self._view.point_at(self._entries.place_of(came_from) or 0)
        if had_focus or self._view.hasFocus():
            self._keep_focus(empty=empty)
        self.moved.emit(found.path)
        self._enable()

    def _keep_focus(self, *, empty: bool) -> None:
        """A folder without rows cannot have the keyboard: the way out of it gets it."""
        target = self._up if empty and self._up.isEnabled() else self._view
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _chosen_changed(self) -> None:
        files = self._chosen_files()
        if self._wish.kind is Kind.SAVE and files:
            self._name.setText(files[0].name)
        self._enable()

    def _enable(self) -> None:
        kind, readable = self._wish.kind, self._list is not None and not self._list.problem
        files = self._chosen_files()
        if kind is Kind.FOLDER:
            self._take.setText(self.tr("Use this folder"))
        elif kind is Kind.SAVE:
            self._take.setText(self.tr("Save"))
            readable = readable and bool(self._file_name())
        else:
            many = self.tr("Take {0} files").format(len(files))
            self._take.setText(many if len(files) > 1 else self.tr("Take this file"))
            readable = readable and bool(files)
        self._take.setEnabled(readable)

    def _file_name(self) -> str:
        return file_name(self._name.text(), self._wish, self._filter.currentIndex())

    def _chosen_files(self) -> tuple[Path, ...]:
        chosen = [index.data(ENTRY_ROLE) for index in self._view.selectedIndexes()]
        return tuple(entry.path for entry in chosen if entry is not None and not entry.is_folder)

    # ---- doing

    def _open(self, entry: FolderEntry) -> None:
        if entry.is_folder:
            self._go(entry.path)
        elif self._wish.kind is Kind.SAVE:
            self._name.setText(entry.path.name)
            self._name.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self._finish(tuple(dict.fromkeys((*self._chosen_files(), entry.path))))

    def _go_up(self) -> None:
        if self._list is not None and self._list.parent is not None:
            self._go(self._list.parent)

    def _pick(self) -> None:
        if self._list is None or not self._take.isEnabled():
            return
        if self._wish.kind is Kind.FOLDER:
            self._finish((self._list.path,))
        elif self._wish.kind is Kind.SAVE:
            self._save(self._list.path, self._file_name())
        else:
            self._finish(self._chosen_files())

    def _save(self, folder: Path, name: str) -> None:
        if not self._entries.has_file(name):
            self._finish((folder / name,))
            return
        text = self.tr("{0} is there already.").format(shown(name))
        self._question.ask(text, self.tr("Replace it"), lambda: self._finish((folder / name,)))

    def _finish(self, paths: tuple[Path, ...]) -> None:
        self._done = True
        self.close()  # first: what is asked next gets the keyboard
        self.picked.emit(paths)
