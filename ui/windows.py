"""The other windows: each is made when it is first wanted, and knows the main window only by what it asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.notices import Notice, Severity
from app.services import Services
from engine.library.names import shown
from engine.protocol.types import LoadOptions
from ui.chat.model_actions import ModelActions
from ui.chat.words import safer_text
from ui.library.outside import open_folder
from ui.notify import DownloadTeller
from ui.shell.dialogs import show_dialog
from ui.shell.pages import Pages
from ui.theme import Theme

if TYPE_CHECKING:
    from ui.bench.window import BenchWindow
    from ui.library.window import ModelManagerWindow
    from ui.memory.window import MemoryWindow
    from ui.settings.window import SettingsWindow


FOLDER_NOTICE = "outside-folder"
SHOWN_MS = 12_000


class Windows(QObject):
    """Opens the windows of models, settings, memory and benchmarks, and the load dialog.

    Args:
        window: The main window: parent of dialogs, raised when another window hands something over to it.
        pages: Where windows are shown as pages, because there is only one window; None: as windows.

    Attributes:
        memory_looked_at: The memory page is seen, or is not any more.
    """

    memory_looked_at = Signal()

    def __init__(
        self, services: Services, theme: Theme, actions: ModelActions, window: QWidget, pages: Pages | None = None
    ) -> None:
        super().__init__(window)
        self._pages = pages
        self._services, self._theme, self._actions, self._window = services, theme, actions, window
        self._manager: ModelManagerWindow | None = None
        self._settings: SettingsWindow | None = None
        self._bench: BenchWindow | None = None
        self._memory: MemoryWindow | None = None
        self._teller = DownloadTeller(
            services.downloads,
            services.desktop,
            services.notices,
            self.open_downloads,
            self.load,
            self.shows_downloads,
            self,
        )

    def open_manager(self, *, get: bool = False) -> None:
        """Show the models window; ``get``: where models are found."""
        models = self._models()
        self._show(models)
        models.present(get=get)

    def open_downloads(self) -> None:
        """Show the models window with the downloads."""
        models = self._models()
        self._show(models)
        models.present()
        models.show_downloads()

    def shows_downloads(self) -> bool:
        """Whether the downloads are on the screen."""
        return self._manager is not None and self._manager.shows_downloads

    def _models(self) -> ModelManagerWindow:
        if self._manager is None:
            from ui.library.presenting import make_manager

            self._manager = make_manager(self._services, self._theme, self._folder_shower())
            self._manager.load_requested.connect(self.load)
            self._manager.options_requested.connect(self._choose_options)
            self._manager.plan_requested.connect(self._choose_options)
        return self._manager

    def open_load_options(self, path: Path, options: LoadOptions | None) -> None:
        """Show the load options of the model at ``path``, beginning with ``options`` or with how it would be loaded."""
        from ui.load.dialog import LoadDialog

        loaded = self._services.worker.model
        again = loaded is not None and loaded.path == str(path)
        safe_mode = self._services.worker.safe_mode
        safer = safe_mode.in_use if again and safe_mode is not None else ()
        draft = self._services.load.draft(path, options)
        note = safer_text(safer) if safer else ""
        dialog = LoadDialog(draft, self._theme, again=again, note=note, parent=self._window)
        dialog.load_wanted.connect(self._actions.load_as_chosen)
        show_dialog(dialog, fill=True)

    def open_settings(self, page: str = "") -> None:
        """Show the settings window, on ``page`` when given."""
        from ui.settings.window import SettingsWindow

        if self._settings is None:
            self._settings = SettingsWindow(self._services, self._theme, opener=self._folder_shower())
            self._services.changes.reload_wanted.connect(self._actions.load)
        self._show(self._settings)
        self._settings.present(page)

    def open_memory(self) -> None:
        """Show the memory page."""
        from ui.memory.window import MemoryWindow

        if self._memory is None:
            services = self._services
            self._memory = MemoryWindow(services.memory, services.worker, services.settings, self._theme)
            self._memory.looked_at.connect(lambda _looked: self.memory_looked_at.emit())
        self._show(self._memory)
        self._memory.present()

    def open_bench(self) -> None:
        """Show the benchmark window."""
        from ui.bench.window import BenchWindow

        if self._bench is None:
            services = self._services
            self._bench = BenchWindow(services.bench, services.library, services.worker, self._theme)
            self._bench.manager_wanted.connect(lambda: self.open_manager(get=True))
            self._bench.answer_unwanted.connect(services.chat.stop_any)
        self._show(self._bench)
        self._bench.present()

    def shows_memory(self) -> bool:
        """Whether the memory page is seen."""
        return self._memory is not None and self._memory.isVisible() and not self._memory.isMinimized()

    def hide(self) -> None:
        """The program closes: none is seen any more."""
        for window in (self._manager, self._settings, self._memory, self._bench):
            if window is not None and window.isWindow():
                window.hide()

    def load(self, path: Path) -> None:
        """Load the model at ``path`` and go to the chat."""
        self._actions.load(path)
        self._come_forward()

    def _choose_options(self, path: Path, options: LoadOptions | None = None) -> None:
        self._come_forward()
        self._actions.choose_options(path, options)

    def _show(self, window: QWidget) -> None:
        if self._pages is not None:
            self._pages.show_page(window)

    def _folder_shower(self) -> Callable[[Path], None]:
        return open_folder if self._pages is None else self._tell_folder

    def _tell_folder(self, folder: Path) -> None:
        """Where no file manager can be shown."""
        text = self.tr("Game Mode shows no file manager. In Desktop Mode the folder is {0}.").format(shown(folder))
        self._services.notices.post(Notice(FOLDER_NOTICE, Severity.INFO, text, timeout_ms=SHOWN_MS))

    def _come_forward(self) -> None:
        if self._pages is not None:
            self._pages.to_chat()
        self._window.raise_()
        self._window.activateWindow()
