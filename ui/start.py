"""Makes the application and its window, and runs them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from app.collector import GuiThreadCollector
from app.crash import CrashReporter
from app.services import Services
from engine.errors import VrambleError
from engine.version import program_version
from ui.main_window import MainWindow
from ui.quit_signals import QuitSignals
from ui.single_instance import SingleInstance, bring_up, meeting_place
from ui.start_trace import trace_start
from ui.theme import Theme
from ui.theming.stylesheet import ASSETS
from ui.window_settings import WindowSettings


def make_application(argv: Sequence[str]) -> QApplication:
    """The one QApplication, named so that desktops find its icon and windows."""
    QCoreApplication.setApplicationName("vramble")
    QCoreApplication.setApplicationVersion(program_version())
    QApplication.setDesktopFileName("vramble")
    QApplication.setApplicationDisplayName("Vramble")
    app = QApplication(["vramble", *argv])
    app.setQuitOnLastWindowClosed(False)
    app.setWindowIcon(QIcon(str(ASSETS / "vramble.svg")))
    return app


def run(argv: Sequence[str], build: Callable[[bool], Services], data: Path | None = None) -> int:
    """Show the window and stay until it is closed.

    Args:
        argv: Arguments for Qt, without the program's name.
        build: Makes the services; called when the application exists, because timers and processes need it. It is
            told whether this process is the only one that has the data folder.
        data: The data folder; a window that another process shows for it is raised instead. None: nobody else is asked.

    Returns:
        The exit code of the process: 2 for an option that is not Qt's.
    """
    app = make_application(argv)
    if unknown := app.arguments()[1:]:
        print(f"vramble: unknown option {unknown[0]}. `vramble --help` lists the commands.", file=sys.stderr)
        return 2
    only = None if data is None else SingleInstance(meeting_place(data, os.environ), os.environ, app)
    if only is not None and not only.claim():
        return 0
    try:
        services = build(only is None or not only.beside_another)
    except VrambleError as error:
        print(f"vramble: {error.sentence}", file=sys.stderr)
        return 1
    code = stay(app, services, only)
    if only is not None:
        only.release()
    return code


def stay(app: QApplication, services: Services, only: SingleInstance | None) -> int:
    """Show the window, run the event loop, and end what the services still do. Returns the exit code."""
    crash = CrashReporter(services.notices, services.paths.logs / "crash.log")
    crash.install()
    window = make_window(app, services)
    signals = connect_ends(app, window)
    if only is not None:
        connect_single(only, window)
    begin(window, services)
    collector = GuiThreadCollector()
    collector.start()
    code = app.exec()
    services.shutdown()
    collector.stop()
    signals.restore()
    crash.remove()
    return code


def make_window(app: QApplication, services: Services) -> MainWindow:
    """The window, in the looks that the settings ask for."""
    settings = services.settings.get(WindowSettings)
    theme = Theme(settings.theme, settings.scale)
    theme.apply(app)
    return MainWindow(services, theme, has_starter=services.library.has_starter)


def connect_ends(app: QApplication, window: MainWindow) -> QuitSignals:
    """Signals of the system close the window, a closed window ends the program; a logout only remembers the window."""
    signals = QuitSignals()
    signals.received.connect(window.close)
    window.closed.connect(app.quit)
    app.commitDataRequest.connect(window.remember)
    return signals


def connect_single(only: SingleInstance, window: MainWindow) -> None:
    """Who starts the program again gets this window, until it closes."""
    only.raise_wanted.connect(lambda: bring_up(window))
    window.closing.connect(only.stop_listening)


def begin(window: MainWindow, services: Services) -> None:
    """Show the window; what can wait begins when the event loop runs."""
    trace_start(window)
    window.begin()
    window.show()
    window.focus()
    QTimer.singleShot(0, window, services.begin)
