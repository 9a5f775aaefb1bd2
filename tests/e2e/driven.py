"""Starts the program as `vramble` does, with a small agent inside that tells where things are.

The agent only looks: positions, texts, rows, screenshots. All input comes from outside, through the X server, as
a user's would. Usage: ``python -P tests/e2e/driven.py SOCKET [vramble arguments]``.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QAbstractItemModel, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QWindow
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu, QWidget

from app.chat import titling
from app.chat.transcript import TranscriptModel
from app.main import main
from app.notices import Notice, Notices

TITLES = "DRIVEN_TITLES"
"""Set: the model may give titles. Else conversations keep those of their first messages, by which tests find them."""

NOTICES_STAY = 10
"""Notices stay so many times as long: a busy machine may need longer than people do."""

TEXT_GETTERS = ("text", "toPlainText", "title", "currentText", "full_text")


def text_of(widget: QWidget) -> str:
    for getter in TEXT_GETTERS:
        method = getattr(widget, getter, None)
        if callable(method):
            value = method()
            if isinstance(value, str):
                return value
    return ""


def rect_of(widget: QWidget, rect: QRect) -> list[int]:
    corner = widget.mapToGlobal(rect.topLeft())
    return [corner.x(), corner.y(), rect.width(), rect.height()]


def is_uncovered(widget: QWidget) -> bool:
    """Whether a click into its middle reaches it."""
    top = QApplication.widgetAt(widget.mapToGlobal(widget.rect().center()))
    return top is not None and (top is widget or widget.isAncestorOf(top))


def describe(widget: QWidget) -> dict[str, Any]:
    return {
        "name": widget.objectName(),
        "class": type(widget).__name__,
        "visible": widget.isVisible(),
        "enabled": widget.isEnabled(),
        "uncovered": widget.isVisible() and is_uncovered(widget),
        "focus": (widget.focusProxy() or widget).hasFocus(),
        "rect": rect_of(widget, widget.rect()),
        "text": text_of(widget),
        "accessible": widget.accessibleName(),
        "description": widget.accessibleDescription(),
        "tooltip": widget.toolTip(),
        "window": int(widget.window().winId()),
        "value": value() if callable(value := getattr(widget, "value", None)) else None,
    }


def rows_of(view: QAbstractItemView, column: int) -> list[dict[str, Any]]:
    model: QAbstractItemModel = view.model()
    rows = []
    for row in range(model.rowCount(view.rootIndex())):
        index = model.index(row, column, view.rootIndex())
        rect = view.visualRect(index)
        rows.append(
            {
                "text": str(index.data() or ""),
                "spoken": str(index.data(Qt.ItemDataRole.AccessibleTextRole) or ""),
                "rect": rect_of(view.viewport(), rect),
                "current": view.currentIndex().row() == row,
            }
        )
    return rows


class Bell(QWindow):
    """A window that is never shown. The X server keeps the order: it is resized after all input before was taken."""

    rung = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setGeometry(0, 0, 8, 8)
        self.create()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.rung.emit()

    def pixels(self) -> int:
        """Its width on the screen."""
        return round(self.width() * self.devicePixelRatio())


class Agent(QObject):
    """Answers one JSON question a line: what is seen when the input before the question has been taken."""

    def __init__(self, path: str, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._bell = Bell()
        self._bell.rung.connect(self._answer_soon)
        self._waiting: deque[tuple[QLocalSocket, int, dict[str, Any]]] = deque()
        self._server = QLocalServer(self)
        QLocalServer.removeServer(path)
        if not self._server.listen(path):
            raise RuntimeError(self._server.errorString())
        self._server.newConnection.connect(self._accept)

    def _accept(self) -> None:
        socket = self._server.nextPendingConnection()
        socket.readyRead.connect(lambda: self._read(socket))

    def _read(self, socket: QLocalSocket) -> None:
        while socket.canReadLine():
            question = json.loads(bytes(socket.readLine().data()))
            self._waiting.append((socket, question.pop("after"), question))
        self._answer_soon()

    def _answer_soon(self) -> None:
        """When what the input has set off, such as new layouts, is done as well."""
        QTimer.singleShot(0, self, self._answer_waiting)

    def _answer_waiting(self) -> None:
        while self._waiting and self._waiting[0][1] <= self._bell.pixels() + 2:
            socket, _after, question = self._waiting.popleft()
            try:
                answer: object = self._answer(question)
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            socket.write(json.dumps(answer).encode() + b"\n")
            socket.flush()

    def _answer(self, question: dict[str, Any]) -> object:
        return getattr(self, "ask_" + question.pop("ask"))(**question)

    def _named(self, name: str) -> list[QWidget]:
        return [w for w in self._app.allWidgets() if w.objectName() == name]

    def ask_bell(self) -> int:
        return int(self._bell.winId())

    def ask_popup(self) -> bool:
        return self._app.activePopupWidget() is not None

    def ask_find(self, name: str) -> list[dict[str, Any]]:
        return [describe(w) for w in self._named(name)]

    def ask_rows(self, name: str, column: int = 0) -> list[dict[str, Any]]:
        views = [w for w in self._named(name) if isinstance(w, QAbstractItemView)]
        shown = [v for v in views if v.isVisible()] or views
        return rows_of(shown[0], column) if shown else []

    def ask_texts(self, name: str) -> list[str]:
        """Texts of all visible widgets below ``name``."""
        return [
            t for top in self._named(name) for w in top.findChildren(QWidget) if w.isVisible() and (t := text_of(w))
        ]

    def ask_messages(self) -> list[dict[str, Any]]:
        """The rows of the open conversation, as the transcript's model has them."""
        model = self._app.findChildren(TranscriptModel)[0]
        rows = [model.index(i, 0).data(Qt.ItemDataRole.UserRole) for i in range(model.rowCount())]
        names = ("role", "text", "status", "error", "version", "versions", "progress", "author")
        return [{name: getattr(row, name) for name in names} for row in rows]

    def ask_shown(self) -> list[dict[str, Any]]:
        """All rows of the transcript as they are shown: what stands for messages is among them."""
        view = self._named("transcript")[0]
        rows = view.content.rows  # type: ignore[attr-defined]
        return [{"author": row.author, "text": row.text, "stands_for": row.stands_for} for row in rows]

    def ask_menu(self) -> list[dict[str, Any]]:
        popup = self._app.activePopupWidget()
        if isinstance(popup, QMenu):
            return [
                {"text": a.text(), "rect": rect_of(popup, popup.actionGeometry(a)), "enabled": a.isEnabled()}
                for a in popup.actions()
            ]
        return []

    def ask_buttons(self, window: str = "") -> list[dict[str, Any]]:
        """Every visible enabled button, to be clicked by its text."""
        from PySide6.QtWidgets import QAbstractButton

        found = [
            w for w in self._app.allWidgets() if isinstance(w, QAbstractButton) and w.isVisible() and w.isEnabled()
        ]
        return [describe(w) for w in found if not window or w.window().objectName() == window]

    def ask_focus(self) -> dict[str, Any] | None:
        widget = self._app.focusWidget()
        return describe(widget) if widget else None

    def ask_child_at(self, x: int, y: int) -> str:
        widget = self._app.widgetAt(QPoint(x, y))
        return widget.objectName() if widget else ""

    def ask_shot(self, path: str, window: str = "") -> bool:
        """The whole screen, or one window alone."""
        if window:
            return self._named(window)[0].grab().save(path)
        return self._app.primaryScreen().grabWindow(0).save(path)


def run() -> int:
    socket_path, arguments = sys.argv[1], sys.argv[2:]
    if not os.environ.get(TITLES):
        titling.ATTEMPTS = 0  # type: ignore[misc]
    original, post = QApplication.exec, Notices.post

    def post_longer(notices: Notices, notice: Notice) -> None:
        post(notices, replace(notice, timeout_ms=notice.timeout_ms * NOTICES_STAY))

    def exec_with_agent(*_args: Any) -> int:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.setProperty("agent", Agent(socket_path, app))
        return original()

    QApplication.exec = exec_with_agent  # type: ignore[method-assign]
    Notices.post = post_longer  # type: ignore[method-assign, assignment]
    return main(arguments)


if __name__ == "__main__":
    sys.exit(run())
