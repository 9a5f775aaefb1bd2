"""What the menus and keys of the list do, with the notices that lead back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget

from app.chat.keeping import Keeping
from app.notices import Action, Notice, Notices, Severity
from ui.chat.exporting import Exporting
from ui.theme import Theme

ARCHIVED_NOTICE = "conversation-archived"
UNDO_MS = 12_000


class RowCommands(QObject):
    """Commands on rows of the list.

    Args:
        delete: Deletes conversations, with a way back.
    """

    def __init__(
        self, keeping: Keeping, notices: Notices, theme: Theme, delete: Callable[[Sequence[str]], None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._keeping, self._notices, self.delete = keeping, notices, delete
        self._exporting = Exporting(keeping.exchange, notices, theme, parent)

    def pin(self, conversations: Sequence[str], pinned: bool) -> None:
        """To the top, or back."""
        self._keeping.arrangement.pin(conversations, pinned)

    def archive(self, conversations: Sequence[str], archived: bool) -> None:
        """Out of the way with an undo, or back."""
        self._keeping.arrangement.archive(conversations, archived)
        if not archived:
            self._notices.withdraw(ARCHIVED_NOTICE)
            return
        ids = tuple(conversations)
        text = self.tr("Archived. It can still be searched.")
        if len(ids) > 1:
            text = self.tr("Archived {count} conversations. They can still be searched.").format(count=len(ids))
        undo = Action(self.tr("Undo"), lambda: self._keeping.arrangement.archive(ids, False))
        self._notices.post(Notice(ARCHIVED_NOTICE, Severity.INFO, text, actions=(undo,), timeout_ms=UNDO_MS))

    def file(self, conversations: Sequence[str], folder: str | None) -> None:
        """Into a folder, None: in none."""
        self._keeping.arrangement.file(conversations, folder)

    def new_folder(self, conversations: Sequence[str]) -> None:
        """Make a folder with these in it; its title can be typed then."""
        titles = {folder.title for folder in self._keeping.arrangement.folders}
        first = self.tr("New folder")
        numbered = (f"{first} {number}" for number in range(2, len(titles) + 3))
        free = first if first not in titles else next(title for title in numbered if title not in titles)
        self._keeping.arrangement.make_folder(free, conversations)

    def remove_folder(self, folder: str, inside: Sequence[str]) -> None:
        """Take a folder away; its conversations stay."""
        self._keeping.arrangement.remove_folder(folder, inside)

    def fill_export(self, menu: QMenu, conversations: Sequence[str]) -> None:
        """The kinds of files that conversations can become."""
        self._exporting.fill(menu, conversations)

    def export_all(self, menu: QMenu) -> None:
        """The same for all conversations."""
        self._exporting.fill(menu, ())
