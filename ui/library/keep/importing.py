"""Files and folders from elsewhere: dropped on the page or picked, then moved, copied, linked, or used in place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.library.service import ImportMode, LibraryService
from app.notices import Notice, Severity
from engine.errors import VrambleError
from engine.library.names import shown
from engine.library.roots import RootInfo
from ui.library.message_slot import MessageSlot
from ui.library.question_bar import QuestionBar
from ui.shell.dialogs import show_dialog

SUFFIX = ".gguf"


def paths_in(data: QMimeData) -> tuple[Path, ...]:
    """Local files and folders among what is dragged: GGUF files, and whatever has no ending."""
    found = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return tuple(path for path in found if path.suffix.lower() in (SUFFIX, ""))


class Importing(QObject):
    """Asks how in the page's question bar.

    Args:
        page: Parent of the dialog.
    """

    def __init__(self, library: LibraryService, question: QuestionBar, messages: MessageSlot, page: QWidget) -> None:
        super().__init__(page)
        self._library, self._question, self._messages, self._page = library, question, messages, page
        self.target = ""
        """Id of the folder that files go to, "" the own one."""

    def take(self, paths: Sequence[Path]) -> None:
        """Ask what should be done with ``paths``."""
        files = [path for path in paths if path.suffix.lower() == SUFFIX]
        folders = [path for path in paths if path not in files]
        if files:
            self._ask_files(files)
        elif folders:
            self._ask_folder(folders[0])
        elif paths:
            text = self.tr("Only GGUF files and folders can be taken over.")
            self._messages.show_notice(Notice("import", Severity.WARN, text))

    def pick_files(self) -> None:
        """Let the user choose files."""
        dialog = self._dialog(self.tr("Import models"), QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilter(self.tr("Models (*.gguf)"))
        dialog.filesSelected.connect(lambda names: self.take([Path(name) for name in names]))
        show_dialog(dialog)

    def pick_folder(self) -> None:
        """Open the dialog for a folder that is used where it is."""
        dialog = self._dialog(self.tr("Folder with models"), QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.filesSelected.connect(lambda names: self.add_folder(Path(names[0])))
        show_dialog(dialog)

    def add_folder(self, folder: Path) -> None:
        """Use the models in ``folder`` where they are."""
        self._messages.clear()
        self._library.add_root(folder, self._added)

    def _dialog(self, title: str, mode: QFileDialog.FileMode) -> QFileDialog:
        dialog = QFileDialog(self._page, title)
        dialog.setObjectName("fileDialog")
        dialog.setFileMode(mode)
        dialog.finished.connect(dialog.deleteLater)
        return dialog

    def _ask_files(self, files: Sequence[Path]) -> None:
        name = shown(files[0].name)
        text = self.tr("Take {0} over?").format(name)
        if len(files) > 1:
            text = self.tr("Take {0} files over, {1} among them?").format(len(files), name)
        text += " " + self.tr("A link needs no room, but the file has to stay where it is.")
        others = (
            (self.tr("Link"), lambda: self._import(files, ImportMode.LINK)),
            (self.tr("Copy"), lambda: self._import(files, ImportMode.COPY)),
        )
        self._question.ask(
            text,
            self.tr("Move"),
            lambda: self._import(files, ImportMode.MOVE),
            others,
            keep=self.tr("Cancel"),
            dangerous=False,
        )

    def _ask_folder(self, folder: Path) -> None:
        text = self.tr("Use the models in {0} where they are? Nothing is copied or moved.").format(shown(folder))
        self._question.ask(
            text, self.tr("Add folder"), lambda: self.add_folder(folder), keep=self.tr("Cancel"), dangerous=False
        )

    def _import(self, files: Sequence[Path], how: ImportMode) -> None:
        try:
            self._library.import_files(tuple(files), how, self.target)
        except VrambleError as error:
            self._messages.show_error(error)

    def _added(self, outcome: RootInfo | VrambleError) -> None:
        if isinstance(outcome, VrambleError):
            self._messages.show_error(outcome)
