"""The open conversation: its transcript, or what stands in for it while there is no message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QWidget

from app.chat.context_use import context_use
from app.chat.controller import ChatController
from app.chat.settings import ContextPolicy
from app.notices import Action, Notice, Notices, Severity
from app.worker.service import WorkerService
from engine.chat.records import Role
from engine.client.session import WorkerState
from ui.chat.details import details
from ui.chat.summary_block import SummaryBlock
from ui.chat.transcript.commands import Asked, Command, Models
from ui.shell.dialogs import show_dialog
from ui.theme import Theme
from ui.widgets.empty_state import EmptyState
from ui.widgets.popover import Popover
from ui.widgets.text_button import TextButton

if TYPE_CHECKING:
    from ui.chat.transcript.formulas import Source
    from ui.chat.transcript.view import TranscriptView

LINK_NOTICE = "open-link"
COPIED_MS = 8000


class ConversationPage(QStackedWidget):
    """Transcript or empty state.

    Args:
        models: What an answer can be written with again.
        formulas: Draws the formulas of messages.

    Attributes:
        choose_wanted: The user wants to choose a model.
        edit_wanted: A sent message or a summary (id, text, what it is in words) should be edited (`take_edited`).
        save_wanted: A file of this name should hold this text.
        mouse_done: Something was done with a message by the mouse; typing goes on in the composer.
    """

    choose_wanted = Signal()
    edit_wanted = Signal(str, str, str)
    mouse_done = Signal()
    save_wanted = Signal(str, str)

    def __init__(
        self,
        chat: ChatController,
        worker: WorkerService,
        notices: Notices,
        theme: Theme,
        parent: QWidget | None = None,
        models: Models = tuple,
        formulas: Source | None = None,
    ) -> None:
        super().__init__(parent)
        self._chat, self._worker, self._notices, self._theme = chat, worker, notices, theme
        self._formulas = formulas
        self._transcript: TranscriptView | None = None
        self._coming, self._n_ctx = "", 0
        self.models = models
        self._summary = SummaryBlock(chat, self)
        self._summary.edit_wanted.connect(self.edit_wanted)
        self._choose = TextButton(theme, self.tr("Choose a model"), "cpu", role="primary")
        self._choose.setObjectName("chooseModelButton")
        self._choose.clicked.connect(self.choose_wanted)
        self._empty = EmptyState(theme, "chat-teardrop-dots", "", "", (self._choose,))
        self.addWidget(self._empty)
        rows = chat.transcript
        for signal in (rows.modelReset, rows.rowsInserted, rows.rowsRemoved):
            signal.connect(self._follow_rows)
        worker.model_changed.connect(self._follow_model)
        chat.current_changed.connect(lambda _conversation: self._follow_model())
        worker.state_changed.connect(self._follow_model)
        for changes in (
            chat.parameters.changed,
            chat.busy_changed,
            chat.current_changed,
            rows.rowsInserted,
            rows.modelReset,
        ):
            changes.connect(self._grey)
        self._follow_rows()
        self._follow_model()

    def _grey(self, *_what: object) -> None:
        """Grey what is left out of a context that is full, if turns are left out at all."""
        settings, model = self._chat.parameters.present, self._worker.model
        self._n_ctx = self._n_ctx if model is None else model.n_ctx
        if self._transcript is None or not self._n_ctx:
            return
        count = context_use(self._chat.transcript.rows, settings, self._n_ctx).left_out
        self._transcript.set_left_out(0 if settings.overflow is ContextPolicy.STOP else count)
        self._summary.show(count if settings.overflow is ContextPolicy.SUMMARISE else 0)

    @property
    def is_empty(self) -> bool:
        """Whether the open conversation has no message yet."""
        return self._chat.transcript.rowCount() == 0

    @property
    def transcript(self) -> TranscriptView:
        """The view of the messages; made when it is needed, after the window was seen."""
        if self._transcript is None:
            self._transcript = self._make_transcript()
        return self._transcript

    def prepare(self) -> None:
        """Make the view of the messages, so that the first one need not wait for it."""
        if self._transcript is None:
            self._transcript = self._make_transcript()

    def expect_model(self, name: str) -> None:
        """Which model is being loaded, or comes back with the next message; "" none."""
        self._coming = name
        self._follow_model()

    def open_find(self) -> None:
        """Find words in the open conversation."""
        if not self.is_empty:
            self.transcript.finding.open()

    def show_message(self, message: str, words: str = "") -> bool:
        """Bring a message of the open conversation into view. False: it is not there."""
        return not self.is_empty and self.transcript.show_message(message, words)

    def edit_last(self) -> None:
        """Edit the last question."""
        row = next((row for row in reversed(self._chat.transcript.rows) if row.role is Role.USER), None)
        if row is not None:
            self.edit_wanted.emit(row.id, row.text, "")

    def take_edited(self, message: str, text: str) -> bool:
        """What was to be edited is ``text`` now. False: it is not taken and stays in the box."""
        return self._summary.take(message, text)

    def _carry_out(self, asked: Asked) -> None:
        steering, message = self._chat.steering, asked.message
        if self._summary.carry_out(asked):
            return
        if asked.command is Command.EDIT:
            row = self._chat.transcript.row(message)
            self.edit_wanted.emit(message, row.text if row is not None else "", "")
        elif asked.command is Command.CONTINUE:
            steering.go_on(message)
        elif asked.command is Command.REGENERATE:
            steering.regenerate(message, asked.model)
        elif asked.command is Command.BRANCH:
            steering.branch(message)
        elif asked.command is Command.DETAILS:
            self._show_details(message)
        else:
            steering.delete_from(message)

    def _show_details(self, message: str) -> None:
        row = self._chat.transcript.row(message)
        if row is not None:
            sheet = Popover(self._theme, self.tr("Details"), details(row), self)
            sheet.open_at(self.transcript.menu_corner(message))

    def _ask_where_to_save(self, name: str, code: str) -> None:
        dialog = QFileDialog(self, self.tr("Save code"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(name)
        dialog.fileSelected.connect(lambda file: self.save_wanted.emit(file, code))
        dialog.finished.connect(dialog.deleteLater)
        show_dialog(dialog)

    def _make_transcript(self) -> TranscriptView:
        from ui.chat.transcript.view import TranscriptView

        view = TranscriptView(self._summary.rows, self._theme, formulas=self._formulas)
        view.setObjectName("transcript")
        view.save_requested.connect(self._ask_where_to_save)
        view.link_activated.connect(self._ask_for_link)
        view.address_copied.connect(self._tell_copied)
        view.mouse_done.connect(self.mouse_done)
        view.finding.left.connect(self.mouse_done)
        view.regenerate_requested.connect(lambda: self._chat.regenerate())
        view.version_requested.connect(self._chat.show_version)
        view.command_requested.connect(self._carry_out)
        view.models = self.models
        self.addWidget(view)
        return view

    def _follow_rows(self) -> None:
        self.setCurrentWidget(self._empty if self.is_empty else self.transcript)

    def _follow_model(self) -> None:
        model = self._worker.model
        loading = self._worker.state is WorkerState.LOADING
        ready = model is not None or bool(self._coming)
        self._choose.setVisible(not ready and not loading)
        if loading:
            self._empty.set_text(self.tr("Loading the model"), self.tr("You can write your message meanwhile."))
        elif self._chat.temporary and ready:
            self._empty.set_text(
                self.tr("A temporary chat"),
                self.tr("It is not saved: it is gone when the program ends, and no search finds it."),
            )
        elif model is not None:
            self._empty.set_text(
                self.tr("What would you like to ask?"),
                self.tr("{name} is ready. Nothing you write leaves this machine.").format(name=model.name),
            )
        elif ready:
            self._empty.set_text(
                self.tr("What would you like to ask?"),
                self.tr("{name} is loaded again with your next message.").format(name=self._coming),
            )
        else:
            self._empty.set_text(
                self.tr("No model is loaded"), self.tr("Choose one of the installed models to start a conversation.")
            )

    def _ask_for_link(self, address: str) -> None:
        """Addresses come from a model: show the whole address before anything is opened."""
        copy = Action(self.tr("Copy"), lambda: QGuiApplication.clipboard().setText(address))
        text = self.tr("Open {address} in the browser?").format(address=address)
        visit = Action(self.tr("Open"), lambda: _open(address))
        self._notices.post(Notice(LINK_NOTICE, Severity.INFO, text, actions=(visit, copy)))

    def _tell_copied(self, address: str) -> None:
        text = self.tr("This address is not opened from here; it was copied instead: {address}").format(address=address)
        self._notices.post(Notice(LINK_NOTICE, Severity.INFO, text, timeout_ms=COPIED_MS))


def _open(address: str) -> None:
    QDesktopServices.openUrl(QUrl(address))
