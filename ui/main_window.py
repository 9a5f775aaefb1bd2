"""The main window: puts the parts side by side and remembers how they were."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QHideEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from app.wiring import Services
from engine.chat.records import Conversation
from engine.protocol.types import LoadOptions
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
from ui.chat.words import isolated, safer_text
from ui.memory.strip import MemoryStrip
from ui.start_trace import FirstPaint
from ui.theme import SCROLL_BAR, SPACE_L, SPACE_S, Theme, ThemeMode
from ui.widgets.column import Column
from ui.widgets.first_size import fit_screen
from ui.widgets.notice_bar import NoticeBar
from ui.window_settings import WindowSettings, pack_geometry, unpack_geometry

if TYPE_CHECKING:
    from ui.bench.window import BenchWindow
    from ui.library.window import ModelManagerWindow
    from ui.memory.window import MemoryWindow
    from ui.settings.window import SettingsWindow

NARROW = 1100
"""Below this width (at text size 1) the list of conversations starts folded away."""

CLOSE_LIMIT_MS = 2800
"""Services that have not closed by then do not keep the program."""


class MainWindow(QMainWindow):
    """Sidebar, header, page, notices, composer, memory strip.

    Attributes:
        closed: Everything is closed; the program can end.
    """

    closed = Signal()

    def __init__(self, services: Services, theme: Theme, *, has_starter: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services, self._theme = services, theme
        self._settings = services.settings.get(WindowSettings)
        self._narrow = self._narrow_open = False
        self._closing = self._done = False
        self._manager: ModelManagerWindow | None = None
        self._settings_window: SettingsWindow | None = None
        self._bench_window: BenchWindow | None = None
        self._memory_window: MemoryWindow | None = None
        self.setObjectName("mainWindow")
        self.setWindowTitle("Vramble")
        self.setMinimumSize(900, 600)
        fit_screen(self, 1280, 800)
        self._build(has_starter)
        self._lay_out()
        self._connect()
        self._add_shortcuts()
        if self._settings.geometry:
            self.restoreGeometry(unpack_geometry(self._settings.geometry))
        self._arrange_sidebar()
        self._choose_page()
        FirstPaint(self, self._page.prepare)

    @property
    def shows_first_run(self) -> bool:
        """Whether the page for a machine without a model is shown."""
        return self._pages.currentWidget() is self._first_run

    def focus(self) -> None:
        """Give the keyboard to where one would type next."""
        if self.shows_first_run:
            self._first_run.focus()
        else:
            self._composer.focus()

    def begin(self) -> None:
        """Go back to the conversation that was open."""
        if self._settings.conversation is not None:
            self._composer.switch_to(self._settings.conversation)
            self._services.chat.open(self._settings.conversation)

    def open_manager(self, *, get: bool = False) -> None:
        """Show the model manager window; ``get``: where models are fetched."""
        from ui.library.window import ModelManagerWindow

        if self._manager is None:
            services = self._services
            self._manager = ModelManagerWindow(
                services.library, services.downloads, services.worker, self._theme, badges=services.badges
            )
            self._manager.load_requested.connect(self._load_from_manager)
            self._manager.options_requested.connect(self._choose_options_from_manager)
            self._manager.plan_requested.connect(self._choose_options_from_manager)
        if get:
            self._manager.show_get()
        self._manager.show()
        self._manager.raise_()
        self._manager.activateWindow()

    def open_load_options(self, path: Path, options: LoadOptions | None) -> None:
        """Show the load options of the model at ``path``, beginning with ``options`` or with how it would be loaded."""
        from ui.load.dialog import LoadDialog

        loaded = self._services.worker.model
        again = loaded is not None and loaded.path == str(path)
        safe_mode = self._services.worker.safe_mode
        safer = safe_mode.in_use if again and safe_mode is not None else ()
        draft = self._services.load.draft(path, options)
        note = safer_text(safer) if safer else ""
        dialog = LoadDialog(draft, self._theme, again=again, note=note, parent=self)
        dialog.load_wanted.connect(self._model_actions.load_as_chosen)
        dialog.open()

    def open_settings(self, page: str = "") -> None:
        """Show the settings window, on ``page`` when given."""
        from ui.settings.window import SettingsWindow

        if self._settings_window is None:
            self._settings_window = SettingsWindow(self._services, self._theme)
            self._services.changes.reload_wanted.connect(self._model_actions.load)
        self._settings_window.present(page)

    def open_memory(self) -> None:
        """Show the memory page."""
        from ui.memory.window import MemoryWindow

        if self._memory_window is None:
            services = self._services
            self._memory_window = MemoryWindow(services.memory, services.worker, services.settings, self._theme)
            self._memory_window.looked_at.connect(lambda _looked: self._look_at_hiding())
        self._memory_window.present()

    def open_bench(self) -> None:
        """Show the benchmark window."""
        from ui.bench.window import BenchWindow

        if self._bench_window is None:
            services = self._services
            self._bench_window = BenchWindow(services.bench, services.library, services.worker, self._theme)
            self._bench_window.manager_wanted.connect(lambda: self.open_manager(get=True))
            self._bench_window.answer_unwanted.connect(services.chat.stop_any)
        self._bench_window.present()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Vanish at once, close the services without blocking, then say `closed`."""
        if self._done:
            event.accept()
            return
        event.ignore()
        if not self._closing:
            self._closing = True
            self.remember()
            for window in (self._manager, self._settings_window, self._memory_window, self):
                if window is not None:
                    window.hide()
            QTimer.singleShot(CLOSE_LIMIT_MS, self, self._finish)
            self._services.close(self._finish)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold or unfold the list of conversations when the width crosses the limit."""
        super().resizeEvent(event)
        self._look_at_width()

    def showEvent(self, event: QShowEvent) -> None:
        """Somebody looks at the memory now."""
        super().showEvent(event)
        self._services.memory.set_watched(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks."""
        super().hideEvent(event)
        self._services.memory.set_watched(False)

    def changeEvent(self, event: QEvent) -> None:
        """A minimised window samples memory less often."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.WindowStateChange:
            self._look_at_hiding()

    def _look_at_hiding(self) -> None:
        page = self._memory_window
        looked = page is not None and page.isVisible() and not page.isMinimized()
        self._services.memory.set_hidden(self.isMinimized() and not looked)

    def remember(self) -> None:
        """Keep what the window looks like for the next start."""
        self._change(geometry=pack_geometry(self.saveGeometry()))

    def _build(self, has_starter: bool) -> None:
        services, theme = self._services, self._theme
        self._model_actions = ModelActions(
            services.worker, services.library, services.settings, services.notices, services.load, self
        )
        self._sidebar = Sidebar(services.chat, services.notices, theme)
        self._header = Header(services.worker, services.library, self._model_actions, theme)
        self._first_run = FirstRunPage(theme, has_starter=has_starter)
        self._page = ConversationPage(
            services.chat, services.worker, services.notices, theme, models=self._models_to_answer
        )
        self._notice_bar = NoticeBar(services.notices, theme)
        self._composer = Composer(services.chat.send, theme, edit=services.chat.steering.edit)
        self._hint = HintLine(services.chat, services.worker, self._composer.set_hint, self)
        self._panel = PanelSlot(services.chat, services.notices, services.settings, theme, self.focus)
        self._composer.queue_bar.attach(services.chat, self._composer.restore)
        self._composer.add_below(ContextMeter(services.chat, services.worker, theme))
        self._composer.add_below(self._panel.button)
        self._strip = MemoryStrip(services.memory, services.worker, theme)
        self._strip.setObjectName("memoryStrip")

    def _lay_out(self) -> None:
        self._pages = QStackedWidget()
        self._pages.addWidget(self._page)
        self._pages.addWidget(self._first_run)
        self._composer_column = Column(self._composer, self._theme, SPACE_L, SCROLL_BAR)
        content = QVBoxLayout()
        content.setContentsMargins(0, 0, 0, SPACE_S)
        content.setSpacing(0)
        content.addWidget(self._header)
        content.addWidget(_line("hairline"))
        content.addWidget(self._pages, 1)
        content.addWidget(Column(self._notice_bar, self._theme, SPACE_L, SCROLL_BAR))
        content.addSpacing(SPACE_S)
        content.addWidget(self._composer_column)
        self._sidebar_edge = _line("hairline-vertical")
        upper = QHBoxLayout()
        upper.setSpacing(0)
        upper.addWidget(self._sidebar)
        upper.addWidget(self._sidebar_edge)
        upper.addLayout(content, 1)
        upper.addWidget(self._panel)
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(upper, 1)
        column.addWidget(_line("hairline"))
        column.addWidget(self._strip)
        self.setCentralWidget(centre)

    def _connect(self) -> None:
        services, chat = self._services, self._services.chat
        self._theme.changed.connect(self._look_at_width)
        self._header.sidebar_toggled.connect(self.toggle_sidebar)
        self._header.manager_wanted.connect(self.open_manager)
        self._header.settings_wanted.connect(self.open_settings)
        self._header.bench_wanted.connect(self.open_bench)
        self._strip.clicked.connect(self.open_memory)
        services.settings.changed.connect(self._settings_changed)
        self._header.cancel_wanted.connect(chat.stop)
        self._header.mode_chosen.connect(self._set_mode)
        self._header.scale_chosen.connect(self._set_scale)
        self._model_actions.manager_wanted.connect(self.open_manager)
        self._model_actions.loaded.connect(self.focus)
        self._model_actions.options_wanted.connect(self.open_load_options)
        for expect in (self._page.expect_model, chat.expect_model):
            self._model_actions.coming_changed.connect(expect)
            expect(self._model_actions.coming)
        self._model_actions.starter_busy.connect(self._first_run.set_busy)
        self._first_run.starter_wanted.connect(self._model_actions.add_starter)
        self._first_run.find_wanted.connect(lambda: self.open_manager(get=True))
        self._page.choose_wanted.connect(self._header.open_picker)
        self._page.mouse_done.connect(self.focus)
        self._page.edit_wanted.connect(self._composer.edit_message)
        self._composer.edit_last_wanted.connect(self._page.edit_last)
        self._sidebar.composing_wanted.connect(self._composer.append)
        self._notice_bar.left.connect(self.focus)
        self._composer.stop_requested.connect(chat.stop)
        self._composer.sent_too_early.connect(self._hint.tell_busy)
        chat.busy_changed.connect(self._composer.set_busy)
        self._composer.draft_changed.connect(chat.keep_draft)
        chat.drafts_loaded.connect(self._composer.take_drafts)
        chat.draft_restored.connect(self._composer.restore)
        chat.model_wanted.connect(self._header.open_picker)
        chat.current_changed.connect(self._conversation_changed)
        services.worker.model_changed.connect(self._choose_page)
        services.library.models_changed.connect(self._choose_page)
        for signal in (chat.transcript.modelReset, chat.transcript.rowsInserted):
            signal.connect(self._choose_page)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.applicationStateChanged.connect(self._application_changed)

    def _application_changed(self, state: Qt.ApplicationState) -> None:
        """The user comes back from another program, where models may have been fetched or deleted."""
        if state is Qt.ApplicationState.ApplicationActive and not (self._closing or self._services.library.scanning):
            self._services.library.rescan()

    def _add_shortcuts(self) -> None:
        for keys, action in (
            ("Ctrl+N", self._sidebar.new_conversation),
            ("Ctrl+B", self.toggle_sidebar),
            ("Ctrl+I", self._panel.toggle),
            ("Ctrl+M", self.open_manager),
            ("Ctrl+Shift+M", self.open_memory),
            ("Ctrl+L", self.focus),
            ("Ctrl+,", self.open_settings),
            ("Ctrl+Shift+B", self.open_bench),
            ("Ctrl+O", self._header.open_picker),
            ("Ctrl+Shift+O", self._model_actions.change_options),
            ("Ctrl+Q", self.close),
        ):
            QShortcut(QKeySequence(keys), self, action)
        self._escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self._composer.stop)
        self._escape.setEnabled(False)
        self._services.chat.busy_changed.connect(self._escape.setEnabled)

    def toggle_sidebar(self) -> None:
        """Show or hide the list of conversations. In a narrow window that is not remembered."""
        if self._narrow:
            self._narrow_open = not self._narrow_open
        else:
            self._change(sidebar=not self._settings.sidebar)
        self._arrange_sidebar()

    def _look_at_width(self) -> None:
        narrow = self.width() < self._theme.px(NARROW)
        if narrow is not self._narrow:
            self._narrow = narrow
            self._narrow_open = False
            self._arrange_sidebar()

    def _arrange_sidebar(self) -> None:
        opened = self._narrow_open if self._narrow else self._settings.sidebar
        focused: QWidget | None = self.focusWidget()
        had_focus = not opened and focused is not None and self._sidebar.isAncestorOf(focused)
        self._sidebar.setVisible(opened)
        self._sidebar_edge.setVisible(opened)
        self._header.set_sidebar_open(opened)
        if had_focus:
            self.focus()

    def _choose_page(self) -> None:
        """The first-run page is for those who have neither a model nor a conversation open."""
        library, worker = self._services.library, self._services.worker
        if not library.scanning:
            self._change(had_model=bool(library.models))
        has_model = bool(library.models) or worker.model is not None or self._settings.had_model
        first_run = not has_model and self._page.is_empty
        changed = first_run is not self.shows_first_run
        self._pages.setCurrentWidget(self._first_run if first_run else self._page)
        self._composer_column.setVisible(not first_run)
        if changed and self.isVisible():
            self.focus()

    def _models_to_answer(self) -> list[NamedModel]:
        return [NamedModel(model.label, model.path) for model in self._services.library.models if model.can_chat]

    def _load_from_manager(self, path: Path) -> None:
        self._model_actions.load(path)
        self.raise_()
        self.activateWindow()

    def _choose_options_from_manager(self, path: Path, options: LoadOptions | None = None) -> None:
        self.raise_()
        self.activateWindow()
        self._model_actions.choose_options(path, options)

    def _conversation_changed(self, conversation: Conversation | None) -> None:
        place = conversation.id if conversation is not None else None
        self._composer.switch_to(place)
        self._change(conversation=place)
        self.setWindowTitle(f"{isolated(conversation.title)} – Vramble" if conversation is not None else "Vramble")
        self._choose_page()

    def _set_mode(self, mode: ThemeMode) -> None:
        self._change(theme=mode)

    def _set_scale(self, scale: float) -> None:
        self._change(scale=scale)

    def _settings_changed(self, feature: str) -> None:
        """Here or in the settings window: the looks follow."""
        if feature != "window":
            return
        before, self._settings = self._settings, self._services.settings.get(WindowSettings)
        if self._settings.theme is not before.theme:
            self._theme.set_mode(self._settings.theme)
        if self._settings.scale != before.scale:
            self._theme.set_scale(self._settings.scale)

    def _change(self, **values: object) -> None:
        changed = msgspec.structs.replace(self._settings, **values)
        if changed != self._settings:
            self._services.settings.put(changed)

    def _finish(self) -> None:
        if not self._done:
            self._done = True
            self.close()
            self.closed.emit()


def _line(role: str) -> QFrame:
    line = QFrame()
    line.setProperty("role", role)
    return line
