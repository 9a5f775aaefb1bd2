"""Makes the models window of the running program: a window, or in Game Mode a page of the main window."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.downloads.settings import DownloadSettings
from app.services import Services
from ui.game_mode import in_game_mode
from ui.library.outside import Outside, site_of
from ui.library.parts import Parts
from ui.library.window import ModelManagerWindow
from ui.main_layout import LAYERS
from ui.theme import Theme


def make_manager(services: Services, theme: Theme, main: QWidget) -> ModelManagerWindow:
    """The window, in ``main`` where only one window is shown."""
    layers = main.findChild(QStackedWidget, LAYERS)
    in_one_window = in_game_mode() and layers is not None
    parts = Parts(
        theme=theme,
        hub=services.hub,
        downloads=services.downloads,
        library=services.library,
        worker=services.worker,
        settings=services.settings,
        badges=services.badges,
        account=services.account,
        outside=Outside(site=lambda: site_of(services.settings.get(DownloadSettings))),
        in_one_window=in_one_window,
        folders=services.folders,
    )
    manager = ModelManagerWindow(parts)
    if in_one_window and layers is not None:
        _put_into(layers, manager)
    return manager


def _put_into(layers: QStackedWidget, manager: ModelManagerWindow) -> None:
    layers.addWidget(manager)

    def back() -> None:
        chat = layers.widget(0)
        if layers.currentWidget() is manager and chat is not None:
            layers.setCurrentWidget(chat)
            focused: QWidget | None = chat.focusWidget()
            if focused is not None:
                focused.setFocus()

    manager.entered.connect(lambda: layers.setCurrentWidget(manager))
    manager.left.connect(back)
