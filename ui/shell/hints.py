"""What the buttons of a pad, or the keys in their place, do now: pure, from where the keyboard is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)


class Press(Enum):
    """Buttons of a pad that mean something, as an Xbox pad and the Deck call them."""

    A = "a"
    B = "b"
    X = "x"
    Y = "y"
    L1 = "l1"
    R1 = "r1"
    MENU = "menu"
    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"


class Held(Enum):
    """What has the keyboard."""

    FIELD = auto()
    NUMBER = auto()
    SLIDER = auto()
    CHOICE = auto()
    SWITCH = auto()
    BUTTON = auto()
    ROWS = auto()
    OTHER = auto()


WRITTEN = (Held.FIELD, Held.NUMBER)
"""What one writes into."""


@dataclass(frozen=True)
class Hint:
    """A button, what it is called on a keyboard ("": there is no key), and what it does."""

    press: Press
    keys: str
    text: str


@dataclass(frozen=True)
class Where:
    """The situation.

    Attributes:
        in_chat: No page covers the chat.
        answering: An answer is being written.
        popup: A menu or list is open.
        scrolls: The chat has messages.
        turns: The page has several parts that can be turned.
        marks: Several rows can be chosen.
    """

    held: Held
    in_chat: bool = True
    answering: bool = False
    popup: bool = False
    scrolls: bool = False
    turns: bool = False
    marks: bool = False


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("Hints", text)


def held_by(widget: QWidget | None) -> Held:
    """What kind of thing ``widget`` is."""
    if isinstance(widget, QLineEdit | QPlainTextEdit | QTextEdit):
        return Held.OTHER if widget.isReadOnly() else Held.FIELD
    if isinstance(widget, QAbstractSpinBox):
        return Held.NUMBER
    if isinstance(widget, QAbstractSlider):
        return Held.SLIDER
    if isinstance(widget, QComboBox):
        return Held.CHOICE
    if isinstance(widget, QAbstractButton):
        one_of_many = widget.autoExclusive() or widget.group() is not None
        return Held.SWITCH if widget.isCheckable() and not one_of_many else Held.BUTTON
    return Held.ROWS if isinstance(widget, QAbstractItemView) else Held.OTHER


def hints_for(where: Where, *, pad: bool) -> tuple[Hint, ...]:
    """What can be pressed, in the order of a pad; without a ``pad`` only what a key does too."""
    found = [*_choose(where), *_back(where)]
    if where.in_chat and not where.popup:
        found.append(Hint(Press.X, "Ctrl+N", tr("New chat")))
        found.append(Hint(Press.Y, "Ctrl+M", tr("Models")))
        if where.scrolls:
            found.append(Hint(Press.L1, "", tr("Scroll up")))
            found.append(Hint(Press.R1, "", tr("Scroll down")))
        found.append(Hint(Press.MENU, "Ctrl+K", tr("Commands")))
    if where.marks and not where.popup:
        found.append(Hint(Press.X, "Space", tr("Mark")))
    if where.turns and not where.popup:
        found.append(Hint(Press.L1, "Ctrl+PgUp", tr("Previous page")))
        found.append(Hint(Press.R1, "Ctrl+PgDn", tr("Next page")))
    return tuple(hint for hint in found if pad or hint.keys)


def _choose(where: Where) -> list[Hint]:
    if where.popup:
        return [Hint(Press.A, "Enter", tr("Choose"))]
    texts = {
        Held.CHOICE: tr("Open the list"),
        Held.SWITCH: tr("Switch"),
        Held.BUTTON: tr("Press"),
        Held.ROWS: tr("Choose"),
    }
    change = Hint(Press.RIGHT, "Left / Right", tr("Change"))
    if where.held is Held.SLIDER:
        return [change]
    if where.held in WRITTEN:
        keyboard = Hint(Press.A, "", tr("Keyboard"))
        return [keyboard, change] if where.held is Held.NUMBER else [keyboard]
    return [Hint(Press.A, "Enter", texts[where.held])] if where.held in texts else []


def _back(where: Where) -> list[Hint]:
    if where.popup:
        return [Hint(Press.B, "Esc", tr("Close"))]
    if not where.in_chat:
        return [Hint(Press.B, "Esc", tr("Back"))]
    return [Hint(Press.B, "Esc", tr("Stop"))] if where.answering else []
