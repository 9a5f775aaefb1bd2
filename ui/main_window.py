"""The main window: puts the parts side by side and remembers how they were."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QWidget

from app.saving import save_text
from app.services import Services
from engine.chat.records import Conversation
from ui.answer_teller import AnswerTeller
from ui.chat.composer import Composer
from ui.chat.context_meter import ContextMeter
from ui.chat.first_run import FirstRunPage
from ui.chat.header import Header
from ui.chat.hint import HintLine
from ui.chat.model_actions import ModelActions
from ui.chat.page import ConversationPage
from ui.chat.panel.slot import PanelSlot
from ui.chat.sidebar import Sidebar
from ui.chat.transcript.commands import NamedModel
from ui.chat.words import isolated
from ui.game_mode import in_game_mode
from ui.main_connections import Parts, begin_game, connect_chat, connect_models, connect_windows
from ui.main_layout import hairline, middle, whole
from ui.memory.strip import MemoryStrip
from ui.notify import Notifier
from ui.shell.game_shell import GameShell
from ui.sidebar_folding import SidebarFolding
from ui.start_trace import FirstPaint
from ui.theme import SCROLL_BAR, SPACE_L, SPACE_S, Theme
from ui.watching import Watching
from ui.widgets.column import Column
from ui.widgets.first_size import fit_screen
from ui.widgets.notice_bar import NoticeBar
from ui.window_acts import Doings, PaletteActs, acts_of, bind, open_palette, open_sheet
from ui.window_settings import KeptWindow, pack_geometry, unpack_geometry
from ui.windows import Windows

CLOSE_LIMIT_MS = 2800
"""Services that have not closed by then do not keep the program."""


class MainWindow(QMainWindow):
    """Sidebar, header, page, notices, composer, memory strip.

    Attributes:
        closed: Everything is closed; the program can end.
        closing: The window vanishes; `closed` follows.
    """

    closed = Signal()
    closing = Signal()

    def __init__(
        self,
        services: Services,
        theme: Theme,
        *,
        has_starter: bool,
        game_mode: bool | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """``game_mode``: there is this window only; None: as the environment says."""
        super().__init__(parent)
        game_mode = in_game_mode() if game_mode is None else game_mode
        theme.set_touch(game_mode)
        self._game = GameShell(theme, services.folders, services.pad, services.keyboard, self) if game_mode else None
        self._services, self._theme = services, theme
        self._kept = KeptWindow(services.settings, theme, self)
        self._closing = self._done = False
        self.setObjectName("mainWindow")
        self.setWindowTitle("Vramble")
        self.setMinimumSize(900, 600)
        fit_screen(self, 1280, 800)
        self._build(has_starter)
        self._lay_out()
        self._connect()
        self._add_shortcuts()
        if self._game is not None:
            self.setGeometry(self.screen().geometry())
        elif self._kept.settings.geometry:
            self.restoreGeometry(unpack_geometry(self._kept.settings.geometry))
        self._folding.arrange()
        self._choose_page()
        if self._game is not None:
            begin_game(self._game, self._parts, services.chat, self._windows, self._open_palette)
        FirstPaint(self, self._page.prepare)

    @property
    def shows_first_run(self) -> bool:
        """Whether the page for a machine without a model is shown."""
        return self._pages.currentWidget() is self._first_run

    def focus(self) -> None:
        """Give the keyboard to where one would type next; while a page covers the chat, to that."""
        if self._game is not None and self._game.pages.top is not None:
            self._game.pages.focus()
        elif self.shows_first_run:
            self._first_run.focus()
        else:
            self._composer.focus()

    def begin(self) -> None:
        """Go back to the conversation that was open."""
        place = self._kept.settings.conversation
        if place is not None:
            self._composer.switch_to(place)
            self._services.chat.open(place)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Vanish at once, close the services without blocking, then say `closed`."""
        if self._done:
            event.accept()
            return
        event.ignore()
        if not self._closing:
            self._closing = True
            self.closing.emit()
            self.remember()
            self._watching.end()
            self._windows.hide()
            self.hide()
            QTimer.singleShot(CLOSE_LIMIT_MS, self, self._finish)
            self._services.close(self._finish)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold or unfold the list of conversations when the width crosses the limit."""
        super().resizeEvent(event)
        self._folding.look_at_width()

    def remember(self) -> None:
        """Keep what the window looks like for the next start."""
        if self._game is None:
            self._kept.change(geometry=pack_geometry(self.saveGeometry()))

    def _build(self, has_starter: bool) -> None:
        services, theme = self._services, self._theme
        self._model_actions = ModelActions(
            services.worker, services.library, services.settings, services.notices, services.load, self
        )
        pages = self._game.pages if self._game is not None else None
        self._windows = Windows(services, theme, self._model_actions, self, pages)
        self._watching = Watching(self, services.memory, services.library, self._windows.shows_memory)
        self._sidebar = Sidebar(services.chat, services.notices, theme)
        self._header = Header(services.worker, services.library, self._model_actions, theme)
        self._first_run = FirstRunPage(theme, has_starter=has_starter)
        self._page = ConversationPage(
            services.chat,
            services.worker,
            services.notices,
            theme,
            models=self._models_to_answer,
            formulas=services.formulas,
        )
        self._notice_bar = NoticeBar(services.notices, theme)
        self._composer = Composer(services.chat.send, theme, edit=self._page.take_edited)
        self._hint = HintLine(services.chat, services.worker, self._composer.set_hint, self)
        self._panel = PanelSlot(services.chat, services.notices, services.settings, theme, self.focus)
        self._composer.queue_bar.attach(services.chat, self._composer.restore)
        self._composer.add_below(ContextMeter(services.chat, services.worker, theme))
        self._composer.add_below(self._panel.button)
        self._strip = MemoryStrip(services.memory, services.worker, theme)
        self._strip.setObjectName("memoryStrip")
        self._parts = Parts(
            self._sidebar,
            self._header,
            self._first_run,
            self._page,
            self._notice_bar,
            self._composer,
            self._hint,
            self._strip,
        )

    def _lay_out(self) -> None:
        self._pages = QStackedWidget()
        self._pages.addWidget(self._page)
        self._pages.addWidget(self._first_run)
        self._composer_column = Column(self._composer, self._theme, SPACE_L, SCROLL_BAR)
        notices = Column(self._notice_bar, self._theme, SPACE_L, SCROLL_BAR)
        side = (self._sidebar, hairline("hairline-vertical"))
        below = (notices, self._composer_column) if self._game is None else (self._composer_column,)
        content = middle(self._header, self._pages, below)
        self._chat_side = whole(side, content, self._panel, self._strip)
        if self._game is not None:
            self._game.take(self._chat_side, notices)
            self._notice_bar.setContentsMargins(0, SPACE_S, 0, SPACE_S)
        self.setCentralWidget(self._game or self._chat_side)
        self._folding = SidebarFolding(self, side, self._header, self._theme, self._kept, self.focus)

    def _connect(self) -> None:
        services, parts, actions = self._services, self._parts, self._model_actions
        connect_windows(parts, self._windows, actions, self._kept)
        connect_models(parts, services.chat, actions, self.focus)
        connect_chat(parts, services.chat, self.focus)
        self._windows.memory_looked_at.connect(self._watching.look)
        self._page.save_wanted.connect(self._save_text)
        services.chat.current_changed.connect(self._conversation_changed)
        AnswerTeller(services.worker, services.chat, Notifier(services.desktop, parent=self), self)
        services.worker.model_changed.connect(self._choose_page)
        services.library.models_changed.connect(self._choose_page)
        for signal in (services.chat.transcript.modelReset, services.chat.transcript.rowsInserted):
            signal.connect(self._choose_page)

    def _add_shortcuts(self) -> None:
        windows = self._windows
        acts = acts_of(
            Doings(
                new_chat=self._sidebar.new_conversation,
                new_temporary_chat=self._sidebar.new_temporary,
                search=self._search,
                find=self._page.open_find,
                write=self.focus,
                stop=self._composer.stop,
                toggle_sidebar=self._folding.toggle,
                toggle_parameters=self._panel.toggle,
                scale=self._kept.step_scale,
                choose_model=self._header.open_picker,
                load_options=self._model_actions.change_options,
                models=windows.open_manager,
                memory=windows.open_memory,
                benchmark=windows.open_bench,
                settings=windows.open_settings,
                palette=self._open_palette,
                shortcuts=lambda: open_sheet(self._theme, acts, self),
                quit=self.close,
            )
        )
        self._palette = PaletteActs(acts, self._services.chat, self._models_to_answer, self._model_actions.load)
        bind(acts, self, self._chat_side)
        self._header.palette_wanted.connect(self._open_palette)
        self._header.shortcuts_wanted.connect(lambda: open_sheet(self._theme, acts, self))
        self._escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self._chat_side, self._composer.stop)
        self._escape.setEnabled(False)
        self._services.chat.busy_changed.connect(self._escape.setEnabled)

    def _open_palette(self) -> None:
        open_palette(self._theme, self._palette, self)

    def _search(self) -> None:
        if not self._sidebar.isVisible():
            self._folding.toggle()
        self._sidebar.search()

    def _save_text(self, file: str, text: str) -> None:
        saved = self.tr("Saved as {}").format(file)
        save_text(self._services.files, self._services.notices, Path(file), text, lambda: saved)

    def _choose_page(self) -> None:
        """The first-run page is for those who have neither a model nor a conversation open."""
        library, worker = self._services.library, self._services.worker
        if not library.scanning:
            self._kept.change(had_model=bool(library.models))
        has_model = bool(library.models) or worker.model is not None or self._kept.settings.had_model
        first_run = not has_model and self._page.is_empty
        changed = first_run is not self.shows_first_run
        self._pages.setCurrentWidget(self._first_run if first_run else self._page)
        self._composer_column.setVisible(not first_run)
        if changed and self.isVisible():
            self.focus()

    def _models_to_answer(self) -> list[NamedModel]:
        return [NamedModel(model.label, model.path) for model in self._services.library.models if model.can_chat]

    def _conversation_changed(self, conversation: Conversation | None) -> None:
        place = conversation.id if conversation is not None else None
        self._composer.switch_to(place)
        self._kept.change(conversation=None if self._services.chat.temporary else place)
        self.setWindowTitle(f"{isolated(conversation.title)} – Vramble" if conversation is not None else "Vramble")
        self._choose_page()

    def _finish(self) -> None:
        if not self._done:
            self._done = True
            self.close()
            self.closed.emit()
