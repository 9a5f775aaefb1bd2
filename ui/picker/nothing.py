"""What a folder says in which there is nothing to pick."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.folders.look import FolderList
from ui.picker.wish import ALL, Kind, Wish


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("PickerNothing", text)


def why_nothing(found: FolderList, wish: Wish, chosen: int) -> tuple[str, str]:
    """A heading and a sentence ("": none), while the filter number ``chosen`` holds."""
    if found.problem:
        return found.problem, ""
    if wish.kind is Kind.FOLDER:
        return tr("There is no folder in here."), tr("This folder itself can be used.")
    if wish.kind is Kind.SAVE:
        return tr("No file of this kind is in here yet."), ""
    suffixes = wish.filters[max(0, chosen)].suffixes if wish.filters else (ALL,)
    if ALL in suffixes:
        return tr("This folder is empty."), ""
    return tr("Nothing to choose in here."), tr("Only files that end in {0} are shown.").format(", ".join(suffixes))
