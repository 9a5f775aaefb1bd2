"""The own picker in place of a file dialog that Game Mode cannot show."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDir
from PySide6.QtWidgets import QDialog, QFileDialog

from ui.picker.page import PickerPage
from ui.picker.wish import Kind, Wish, filter_of
from ui.shell.pages import Pages


def wish_of(dialog: QFileDialog, last: Path | None = None) -> Wish:
    """What ``dialog`` would ask for; ``last``: the folder that was shown last."""
    modes = QFileDialog.FileMode
    if dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave:
        kind = Kind.SAVE
    elif dialog.fileMode() is modes.Directory:
        kind = Kind.FOLDER
    else:
        kind = Kind.FILES if dialog.fileMode() is modes.ExistingFiles else Kind.FILE
    chosen = dialog.selectedFiles() if kind is Kind.SAVE else []
    name = Path(chosen[0]).name if chosen else ""
    folder = dialog.directory()
    start = last or (None if folder == QDir.current() else Path(folder.absolutePath()))
    return Wish(
        kind=kind,
        title=dialog.windowTitle(),
        filters=tuple(filter_of(text) for text in dialog.nameFilters()),
        name=name,
        suffix=dialog.defaultSuffix(),
        start=start,
    )


def pick_for(dialog: QFileDialog, pages: Pages) -> None:
    """Let the user pick in a page, then tell it as ``dialog`` would."""
    page = PickerPage(wish_of(dialog, pages.last_folder), pages.folders, pages.theme)

    def picked(paths: tuple[Path, ...]) -> None:
        names = [str(path) for path in paths]
        dialog.filesSelected.emit(names)
        dialog.fileSelected.emit(names[0])
        dialog.done(QDialog.DialogCode.Accepted)

    page.picked.connect(picked)
    page.moved.connect(pages.remember_folder)
    page.left.connect(lambda: dialog.done(QDialog.DialogCode.Rejected))
    pages.show_page(page)
    page.focus()
