"""The left side: new conversation, the list of conversations."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.chat.controller import ChatController
from app.notices import Action, Notice, Notices, Severity
from engine.chat.records import Conversation
from ui.chat.conversation_view import ConversationView
from ui.chat.words import isolated
from ui.theme import SPACE_L, SPACE_S, Theme, set_role
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
        self._chat, self._notices = chat, notices
        self._open: str | None = None
        self._deleted: tuple[str, ...] = ()
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._new = TextButton(theme, self.tr("New chat"), "plus")
        self._new.setObjectName("newChatButton")
        self._new.setToolTip(self.tr("New chat (Ctrl+N)"))
        self._new.clicked.connect(self.new_conversation)
        self._list = ConversationView(chat.conversations, theme)
        self._list.chosen.connect(self._choose)
        self._list.delete_wanted.connect(self.delete)
        self._list.renamed.connect(chat.rename)
        self._list.typed.connect(self.composing_wanted)
        self._empty = QLabel(self.tr("Your conversations will be listed here."))
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._empty.setContentsMargins(SPACE_L, SPACE_L, SPACE_L, SPACE_L)
        set_role(self._empty, "muted")
        self._build(theme)
        notices.closed.connect(self._undo_is_over)
        chat.current_changed.connect(self._follow)
        for signal in (chat.conversations.modelReset, chat.conversations.rowsInserted, chat.conversations.rowsRemoved):
            signal.connect(self._rows_changed)
        self._rows_changed()

    def new_conversation(self) -> None:
        """Begin one and go on in the composer."""
        self._chat.new_conversation()
        self.composing_wanted.emit("")

    def delete(self, conversation: str) -> None:
        """Delete with a way back; the next row takes the focus."""
        ids = self._list.ids()
        found = self._chat.conversations.find(conversation)
        if found is None:
            return
        at = ids.index(conversation)
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

    def _follow(self, conversation: Conversation | None) -> None:
        self._open = conversation.id if conversation is not None else None
        self._list.mark(self._open)

    def _rows_changed(self) -> None:
        has_rows = self._chat.conversations.rowCount() > 0
        self._list.setVisible(has_rows)
        self._empty.setVisible(not has_rows)
        self._list.mark(self._open)

    def _build(self, theme: Theme) -> None:
        self.setFixedWidth(theme.px(WIDTH))
        theme.changed.connect(lambda: self.setFixedWidth(theme.px(WIDTH)))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, SPACE_S, 0, SPACE_S)
        column.setSpacing(SPACE_S)
        top = QVBoxLayout()
        top.setContentsMargins(SPACE_S, 0, SPACE_S, 0)
        top.addWidget(self._new)
        column.addLayout(top)
        column.addWidget(self._list, 1)
        column.addWidget(self._empty, 1)
