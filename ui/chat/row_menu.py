"""The menus of the list of conversations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.chat.side_rows import SideRow
from engine.chat.records import Conversation, Folder
from ui.chat.row_commands import RowCommands
from ui.theme import Theme


def tr(text: str, count: int = -1) -> str:
    """A text of these menus."""
    return QCoreApplication.translate("RowMenu", text, None, count)


def fill_for_conversations(
    menu: QMenu,
    theme: Theme,
    rows: Sequence[Conversation],
    folders: Sequence[Folder],
    commands: RowCommands,
    rename: Callable[[], None],
) -> QAction:
    """Everything that can be done with conversations; the first action."""
    ids = [row.id for row in rows]
    lasting = not any(row.temporary for row in rows)
    first = menu.addAction(theme.icon("pencil-simple"), tr("Rename\tF2"))
    first.triggered.connect(lambda: rename())
    first.setEnabled(len(rows) == 1)
    if lasting:
        _add_places(menu, theme, rows, folders, commands)
        export = menu.addMenu(theme.icon("export"), tr("Export"))
        commands.fill_export(export, ids)
    menu.addSeparator()
    delete = menu.addAction(theme.icon("trash"), tr("Delete\tDel"))
    delete.triggered.connect(lambda: commands.delete(ids))
    return first if first.isEnabled() else delete


def _add_places(
    menu: QMenu, theme: Theme, rows: Sequence[Conversation], folders: Sequence[Folder], commands: RowCommands
) -> None:
    ids = [row.id for row in rows]
    archived = all(row.archived is not None for row in rows)
    if not archived:
        pinned = all(row.pinned is not None for row in rows)
        pin = menu.addAction(
            theme.icon("push-pin-slash" if pinned else "push-pin"), tr("Unpin") if pinned else tr("Pin to the top")
        )
        pin.triggered.connect(lambda: commands.pin(ids, not pinned))
        _add_folders(menu, theme, rows, folders, commands)
    archive = menu.addAction(theme.icon("archive"), tr("Take out of the archive") if archived else tr("Archive"))
    archive.triggered.connect(lambda: commands.archive(ids, not archived))


def _add_folders(
    menu: QMenu, theme: Theme, rows: Sequence[Conversation], folders: Sequence[Folder], commands: RowCommands
) -> None:
    ids = [row.id for row in rows]
    move = menu.addMenu(theme.icon("folder"), tr("Move to folder"))
    for folder in folders:
        action = move.addAction(theme.icon("folder"), folder.title.replace("&", "&&"))
        action.setEnabled(any(row.folder != folder.id or row.pinned is not None for row in rows))
        action.triggered.connect(lambda _checked=False, id_=folder.id: commands.file(ids, id_))
    if folders:
        move.addSeparator()
    new = move.addAction(theme.icon("folder-plus"), tr("New folder"))
    new.triggered.connect(lambda: commands.new_folder(ids))
    if any(row.folder is not None for row in rows):
        out = move.addAction(theme.icon("folder-minus"), tr("Out of the folder"))
        out.triggered.connect(lambda: commands.file(ids, None))


def fill_for_folder(
    menu: QMenu, theme: Theme, row: SideRow, inside: Sequence[str], commands: RowCommands, rename: Callable[[], None]
) -> QAction:
    """Everything that can be done with a folder; the first action."""
    folder = row.folder
    first = menu.addAction(theme.icon("pencil-simple"), tr("Rename\tF2"))
    first.triggered.connect(lambda: rename())
    if folder is None:
        return first
    if inside:
        export = menu.addMenu(theme.icon("export"), tr("Export its conversations"))
        commands.fill_export(export, inside)
    menu.addSeparator()
    remove = menu.addAction(theme.icon("folder-minus"), tr("Remove the folder"))
    remove.setToolTip(tr("Its conversations stay."))
    remove.triggered.connect(lambda: commands.remove_folder(folder.id, inside))
    return first
