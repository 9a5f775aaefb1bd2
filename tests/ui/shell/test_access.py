"""Keyboard, screen reader, targets, and nothing cut, in every state of the window."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.notices import Action, Notice, Severity
from engine.client.session import WorkerState
from tests.ui.shell.conftest import MakeWindow, Window
from tests.ui.shell.standins import HELLO_CPU, PROCESSOR, model_info
from ui.theme import TARGET_SIZE, Theme, ThemeMode
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.text_button import ElidedButton


def first_run(window: Window) -> None:
    window.library.put()


def empty(window: Window) -> None:
    window.worker.set_hello(HELLO_CPU)


def conversation(window: Window) -> None:
    window.converse()


def streaming(window: Window) -> None:
    window.converse()
    window.worker.set_state(WorkerState.GENERATING)
    window.chat.busy_changed.emit(True)


def loading(window: Window) -> None:
    window.window._model_actions.load(window.library.models[0].path)
    window.window._header._late._appear()
    window.worker.load_progress.emit(0.5)


def on_cpu(window: Window) -> None:
    window.converse()
    window.worker.set_hello(HELLO_CPU)
    window.worker.set_model(model_info(device=PROCESSOR))
    window.worker.speed_changed.emit(12.5)


def notices(window: Window) -> None:
    window.converse()
    undo = (Action("Undo", lambda: None),)
    window.services.notices.post(Notice("a", Severity.INFO, "Deleted “Holiday plan”.", actions=undo))
    text = "The model could not be loaded because memory ran out. Choose a smaller one, or close other programs."
    both = (Action("Try again", lambda: None), Action("Models", lambda: None))
    window.services.notices.post(Notice("b", Severity.ERROR, text, "line 1\nline 2", both))


def drafted(window: Window) -> None:
    window.converse()
    window.window._composer.append("A message of several lines.\n" * 6)
    window.window._composer.append("x" * 30_000)


STATES = [first_run, empty, conversation, streaming, loading, on_cpu, notices, drafted]
BY_NAME = pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
State = Callable[[Window], None]


def visible(window: Window, kind: type[QWidget]) -> list[QWidget]:
    found: list[QWidget] = [w for w in window.window.findChildren(kind) if w.isVisible()]
    return found


def tab_targets(window: Window) -> list[QWidget]:
    return [
        w
        for w in visible(window, QWidget)
        if w.isEnabled() and w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.focusProxy() is None
    ]


def walk(qtbot: QtBot, key: Qt.Key, steps: int) -> list[QWidget]:
    seen: list[QWidget] = []
    for _ in range(steps):
        widget = QApplication.focusWidget()
        assert widget is not None, f"the focus is lost after {[describe(w) for w in seen]}"
        seen.append(widget)
        qtbot.keyClick(widget, key)
    return seen


def describe(widget: QWidget) -> str:
    return f"{type(widget).__name__} {widget.objectName() or widget.accessibleName()}"


@BY_NAME
def test_tab_visits_every_control_once_and_comes_back(make_window: MakeWindow, qtbot: QtBot, state: State) -> None:
    window = make_window("Alpha", "Beta")
    state(window)
    qtbot.wait(20)
    window.window.focus()
    start = QApplication.focusWidget()
    targets = tab_targets(window)
    forward = walk(qtbot, Qt.Key.Key_Tab, len(targets))
    assert QApplication.focusWidget() is start
    assert sorted(map(describe, forward)) == sorted(map(describe, targets))
    backward = walk(qtbot, Qt.Key.Key_Backtab, len(targets))
    assert QApplication.focusWidget() is start
    assert backward == [forward[0], *reversed(forward[1:])]


@BY_NAME
def test_everything_that_takes_the_focus_has_a_name_and_a_role(
    make_window: MakeWindow, qtbot: QtBot, state: State
) -> None:
    window = make_window("Alpha", "Beta")
    state(window)
    nameless = []
    for widget in tab_targets(window):
        face = QAccessible.queryAccessibleInterface(widget)
        if not face.text(QAccessible.Text.Name).strip() or face.role() == QAccessible.Role.NoRole:
            nameless.append(describe(widget))
    assert nameless == []


@BY_NAME
@pytest.mark.parametrize("scale", [0.85])
def test_targets_are_large_enough(
    make_window: MakeWindow, qtbot: QtBot, theme: Theme, state: State, scale: float
) -> None:
    theme.set_scale(scale)
    window = make_window("Alpha", "Beta")
    state(window)
    qtbot.wait(20)
    small = [
        (describe(w), w.width(), w.height())
        for w in visible(window, QAbstractButton)
        if min(w.width(), w.height()) < TARGET_SIZE
    ]
    assert small == []


def overlaps(parent: QWidget) -> list[str]:
    found = []
    children = [c for c in parent.children() if isinstance(c, QWidget) and c.isVisible() and not c.isWindow()]
    for at, one in enumerate(children):
        over = [other for other in children[at + 1 :] if one.geometry().intersects(other.geometry())]
        found += [f"{describe(one)} over {describe(other)}" for other in over]
    return found


def cut(window: Window) -> list[str]:
    found = []
    for widget in [*visible(window, QAbstractButton), *visible(window, QLabel)]:
        if isinstance(widget, ElidedLabel | ElidedButton) or not getattr(widget, "text", str)():
            continue
        wrapped = isinstance(widget, QLabel) and widget.wordWrap()
        wide = widget.sizeHint().width() if not wrapped else 0
        high = widget.heightForWidth(widget.width()) if wrapped else widget.sizeHint().height()
        if widget.width() < wide or widget.height() < high:
            found.append(f"{describe(widget)} {widget.size().toTuple()} needs {(wide, high)}")
    return found


def outside(window: Window) -> list[str]:
    room = QRect(0, 0, window.window.width(), window.window.height())
    return [
        describe(w)
        for w in visible(window, QAbstractButton)
        if not room.contains(QRect(w.mapTo(window.window, w.rect().topLeft()), w.size()))
    ]


LONG_NAME = "A model with a name that is far too long for any header bar 70B"
SIZES = [(900, 600, 1.0), (1024, 640, 1.15), (1280, 800, 0.85), (1280, 800, 1.4)]


@BY_NAME
@pytest.mark.parametrize(("width", "height", "scale"), SIZES)
def test_nothing_is_cut_or_overlaps(
    make_window: MakeWindow, qtbot: QtBot, theme: Theme, state: State, width: int, height: int, scale: float
) -> None:
    theme.set_scale(scale)
    window = make_window(
        "Alpha", "A model with a name that is far too long for any header bar 70B", width=width, height=height
    )
    state(window)
    qtbot.wait(30)
    assert (window.window.width(), window.window.height()) == (width, height)
    assert cut(window) == []
    assert outside(window) == []
    view = window.find("transcript")
    parents = [w for w in visible(window, QWidget) if w is not view and not view.isAncestorOf(w)]
    assert [text for parent in parents for text in overlaps(parent)] == []


@BY_NAME
def test_every_state_can_be_painted_in_both_schemes(
    make_window: MakeWindow, qtbot: QtBot, theme: Theme, state: State
) -> None:
    window = make_window("Alpha", "Beta")
    state(window)
    light = window.window.grab().toImage()
    theme.set_mode(ThemeMode.DARK)
    dark = window.window.grab().toImage()
    corner = light.pixelColor(light.width() - 60, light.height() // 2).lightnessF()
    assert corner > 0.8
    assert dark.pixelColor(dark.width() - 60, dark.height() // 2).lightnessF() < 0.2
