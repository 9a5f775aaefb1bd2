"""The left side: new conversation, search, the list of conversations, the archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QVBoxLayout, QWidget

from app.chat.controller import ChatController
from app.chat.search_rows import SearchRows
from app.chat.side_rows import SideRow
from app.notices import Action, Notice, Notices, Severity
from engine.chat.found import Hit
from engine.chat.records import Conversation
from ui.chat.conversation_view import ConversationView
from ui.chat.results_view import ResultsView
from ui.chat.row_commands import RowCommands
from ui.chat.row_menu import fill_for_conversations, fill_for_folder
from ui.chat.search_field import SearchField
from ui.chat.words import isolated
from ui.theme import SPACE_L, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.icon_button import IconButton
from ui.widgets.text_button import TextButton

WIDTH = 260
UNDO_MS = 12_000
DELETED_NOTICE = "conversation-deleted"


class Sidebar(QWidget):
    """Shows `ChatController.conversations` and calls the controller.

    Attributes:
        composing_wanted: The composer should get the focus, with this text typed into it.
    """

    composing_wanted = Signal(str)

    def __init__(self, chat: ChatController, notices: Notices, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chat, self._notices, self._theme = chat, notices, theme
        self._keeping = chat.keeping
        self._open: str | None = None
        self._deleted: tuple[str, ...] = ()
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._commands = RowCommands(self._keeping, notices, theme, self.delete_all, self)
        self._make_buttons()
        self._make_list()
        self._make_search()
        self._build(theme)
        notices.closed.connect(self._undo_is_over)
        chat.current_changed.connect(self._follow)
        rows = self._keeping.rows
        for signal in (rows.modelReset, rows.rowsInserted, rows.rowsRemoved, chat.conversations.dataChanged):
            signal.connect(self._rows_changed)
        self._keeping.arrangement.folder_made.connect(self._list.edit_folder)
        self._rows_changed()

    @property
    def commands(self) -> RowCommands:
        """Commands on conversations, for other places that offer them."""
        return self._commands

    def new_conversation(self) -> None:
        """Begin one and go on in the composer."""
        self._chat.new_conversation()
        self.composing_wanted.emit("")

    def new_temporary(self) -> None:
        """Begin one that is never written to the disk."""
        self._chat.new_conversation(temporary=True)
        self._temporary.setChecked(True)
        self.composing_wanted.emit("")

    def search(self) -> None:
        """Type a query."""
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()

    def delete_all(self, conversations: Sequence[str]) -> None:
        """Delete several, the lowest first."""
        for conversation in reversed(conversations):
            self.delete(conversation)

    def delete(self, conversation: str) -> None:
        """Delete with a way back; the next row takes the focus."""
        ids = self._list.ids()
        found = self._chat.conversations.find(conversation)
        if found is None:
            return
        at = ids.index(conversation) if conversation in ids else len(ids)
        after = ids[at + 1 : at + 2] or ids[max(at - 1, 0) : at]
        was_open = conversation == self._open
        self._chat.delete(conversation)
        if was_open and after:
            self._chat.open(after[0])
        self._list.setFocus(Qt.FocusReason.OtherFocusReason)
        if not after:
            self.composing_wanted.emit("")
        self._offer_undo(conversation, found.title)

    def _offer_undo(self, conversation: str, title: str) -> None:
        """One notice for all that were deleted since the undo was offered."""
        self._deleted = deleted = (*self._deleted, conversation)
        if len(deleted) == 1:
            text = self.tr("Deleted “{title}”.").format(title=isolated(title))
        else:
            text = self.tr("Deleted {count} conversations.").format(count=len(deleted))
        undo = Action(self.tr("Undo"), lambda: self._undo(deleted))
        self._notices.post(Notice(DELETED_NOTICE, Severity.INFO, text, actions=(undo,), timeout_ms=UNDO_MS))

    def _undo(self, deleted: tuple[str, ...]) -> None:
        """The last one first: in the end the one is open that was open before all."""
        self._deleted = ()
        for conversation in reversed(deleted):
            self._chat.undo_delete(conversation)

    def _undo_is_over(self, notice: str) -> None:
        if notice == DELETED_NOTICE:
            self._deleted = ()

    def _choose(self, conversation: str) -> None:
        if conversation != self._open:
            self._chat.open(conversation)

    def _go_to(self, hit: Hit) -> None:
        if hit.message is not None:
            self._chat.open(hit.conversation, hit.message)
        else:
            self._choose(hit.conversation)

    def _follow(self, conversation: Conversation | None) -> None:
        self._open = conversation.id if conversation is not None else None
        self._list.mark(self._open)
        self._temporary.setChecked(self._chat.temporary)

    def _fill_menu(self, menu: QMenu, rows: list[SideRow], rename: Callable[[], None]) -> QAction | None:
        arrangement = self._keeping.arrangement
        conversations = [row.conversation for row in rows if row.conversation is not None]
        if conversations:
            return fill_for_conversations(menu, self._theme, conversations, arrangement.folders, self._commands, rename)
        folder = rows[0].folder
        inside = self._keeping.rows.inside(folder.id) if folder is not None else []
        return fill_for_folder(menu, self._theme, rows[0], inside, self._commands, rename)

    def _rows_changed(self, *_what: object) -> None:
        rows = self._keeping.rows
        archived = sum(1 for one in self._chat.conversations.rows if one.archived is not None)
        self._archive.setText(
            self.tr("Back to all conversations") if rows.shows_archive else self.tr("Archive ({n})").format(n=archived)
        )
        self._archive.setVisible(archived > 0)
        self._show_part()
        self._list.mark(self._open)

    def _toggle_archive(self) -> None:
        self._field.clear()
        self._keeping.rows.show_archive(not self._keeping.rows.shows_archive)
        self._list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_part(self) -> None:
        """The list, what was found, or a sentence in their place."""
        search = self._keeping.search
        searching = bool(search.query)
        found, listed = bool(search.hits), self._keeping.rows.rowCount() > 0
        self._results.setVisible(searching and found)
        self._list.setVisible(not searching and listed)
        text = self.tr("Your conversations will be listed here.")
        if search.problem is not None:
            text = search.problem.sentence
        elif searching:
            text = self.tr("Searching…") if search.searching else self.tr("Nothing was found.")
            if self._keeping.upkeep.building and not search.searching:
                text = self.tr("Nothing was found so far: older conversations are still being read for the search.")
        self._empty.setText(text)
        self._empty.setVisible(not found if searching else not listed)

    def _make_buttons(self) -> None:
        self._new = TextButton(self._theme, self.tr("New chat"), "plus")
        self._new.setObjectName("newChatButton")
        self._new.setToolTip(self.tr("New chat (Ctrl+N)"))
        self._new.clicked.connect(self.new_conversation)
        self._temporary = IconButton(
            self._theme, "ghost", self.tr("New temporary chat, never saved"), shortcut="Ctrl+Shift+N"
        )
        self._temporary.setObjectName("temporaryChatButton")
        self._temporary.setCheckable(True)
        self._temporary.clicked.connect(self.new_temporary)
        self._archive = TextButton(self._theme, "", "archive", role="nav")
        self._archive.setObjectName("archiveButton")
        self._archive.clicked.connect(self._toggle_archive)

    def _make_list(self) -> None:
        self._list = ConversationView(self._keeping.rows, self._theme)
        self._list.fill_menu = self._fill_menu
        self._list.chosen.connect(self._choose)
        self._list.delete_wanted.connect(self.delete_all)
        self._list.renamed.connect(self._chat.rename)
        self._list.folder_renamed.connect(self._keeping.arrangement.rename_folder)
        self._list.fold_wanted.connect(self._keeping.arrangement.fold)
        self._list.typed.connect(self.composing_wanted)
        self._empty = QLabel()
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._empty.setContentsMargins(SPACE_L, SPACE_L, SPACE_L, SPACE_L)
        set_role(self._empty, "muted")

    def _make_search(self) -> None:
        search = self._keeping.search
        self._field = SearchField(self._theme)
        self._results = ResultsView(SearchRows(search, self), self._theme)
        self._field.asked.connect(search.ask)
        self._field.results_wanted.connect(self._results.take_focus)
        self._field.left.connect(lambda: self.composing_wanted.emit(""))
        self._results.left.connect(self.search)
        self._results.chosen.connect(self._go_to)
        search.changed.connect(self._show_part)
        self._keeping.upkeep.changed.connect(self._show_part)

    def _build(self, theme: Theme) -> None:
        self.setFixedWidth(theme.px(WIDTH))
        theme.changed.connect(lambda: self.setFixedWidth(theme.px(WIDTH)))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, SPACE_S, 0, SPACE_S)
        column.setSpacing(SPACE_S)
        top = QHBoxLayout()
        top.setSpacing(SPACE_XS)
        top.addWidget(self._new, 1)
        top.addWidget(self._temporary)
        head = QVBoxLayout()
        head.setContentsMargins(SPACE_S, 0, SPACE_S, 0)
        head.setSpacing(SPACE_S)
        head.addLayout(top)
        head.addWidget(self._field)
        column.addLayout(head)
        column.addWidget(self._list, 1)
        column.addWidget(self._results, 1)
        column.addWidget(self._empty, 1)
        foot = QVBoxLayout()
        foot.setContentsMargins(SPACE_S, 0, SPACE_S, 0)
        foot.addWidget(self._archive)
        column.addLayout(foot)
