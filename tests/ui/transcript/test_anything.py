"""Whatever the user and the model do, in any order: what is placed stays whole and the bar tells the truth."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.chat.transcript import TranscriptModel
from engine.chat.records import Role, Status
from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.samples import answer, buttons, dialogue, model_of, question
from tests.ui.transcript.test_parse import PIECES
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme, ThemeMode

TABLE = "|a" * 30 + "|\n" + "|-" * 30 + "|\n" + ("|b" * 30 + "|\n") * 9
LONGER = ["word " * 30, "x" * 700, TABLE, "```py\n" + "x = 'a'\n\n" * 40]
KEYS = [
    Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_Left,
    Qt.Key.Key_Right,
]  # fmt: skip
BUTTONS = ["copyCodeButton", "wrapCodeButton", "copyMessageButton", "regenerateButton"]


class Hand:
    """Does something at random."""

    def __init__(self, seed: int, view: TranscriptView, model: TranscriptModel, theme: Theme) -> None:
        self.random, self.view, self.model, self.theme = random.Random(seed), view, model, theme
        self.count = 0
        self.deeds: list[Callable[[], object]] = [
            self.add, self.cut, self.grow, self.grow, self.grow, self.scroll, self.resize, self.dress, self.press_key,
            self.press_key, self.drag, self.drag_bar, self.click_button,
        ]  # fmt: skip

    def text(self, pieces: int) -> str:
        return "".join(self.random.choice(PIECES + LONGER) for _ in range(self.random.randint(0, pieces)))

    def point(self) -> QPoint:
        port = self.view.viewport()
        return QPoint(self.random.randint(-9, port.width() + 9), self.random.randint(-9, port.height() + 9))

    def add(self) -> None:
        self.count += 1
        rows = self.model.rows
        new = question(self.text(3), f"n{self.count}")
        if len(rows) % 2:
            new = answer(self.text(12), f"n{self.count}", status=self.random.choice(list(Status)))
        self.model.show([*rows, new])

    def cut(self) -> None:
        if self.random.random() < 0.2:
            self.model.show(self.model.rows[: self.random.randint(0, len(self.model.rows))])

    def grow(self) -> None:
        rows = self.model.rows
        if rows and rows[-1].role is Role.ASSISTANT:
            status = self.random.choice([Status.STREAMING] * 5 + [Status.DONE])
            self.model.update(answer(rows[-1].text + self.text(2)[:80], rows[-1].id, status=status))

    def scroll(self) -> None:
        self.view.scroll_by(self.random.choice([-1, 1]) * self.random.choice([3, 60, 500, 5000]))

    def resize(self) -> None:
        self.view.resize(self.random.randint(200, 1300), self.random.randint(100, 900))

    def dress(self) -> None:
        self.theme.set_scale(self.random.choice([0.8, 1.0, 1.4]))
        self.theme.set_mode(self.random.choice([ThemeMode.DARK, ThemeMode.LIGHT]))

    def press_key(self) -> None:
        modifiers = [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier]
        QTest.keyClick(self.view, self.random.choice(KEYS), self.random.choice(modifiers))

    def drag(self) -> None:
        port = self.view.viewport()
        QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=self.point())
        QTest.mouseMove(port, self.point())
        QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=self.point())
        self.view.selected_text()

    def drag_bar(self) -> None:
        bar = self.view.verticalScrollBar()
        bar.setValue(self.random.randint(0, max(1, bar.maximum())))

    def click_button(self) -> None:
        for button in buttons(self.view, self.random.choice(BUTTONS))[:1]:
            button.click()


def check(view: TranscriptView, model: TranscriptModel) -> None:
    view.refresh()
    content, bar = view.content, view.verticalScrollBar()
    assert [row.id for row in content.rows] == [row.id for row in model.rows]
    assert abs(bar.maximum() - max(0.0, content.total - view.viewport().height())) <= 1
    assert not content.follow or bar.value() == bar.maximum()
    for above, below in zip(content.placed, content.placed[1:], strict=False):
        assert above.y + above.height == pytest.approx(below.y)
    for placed in content.placed:
        assert content.message(placed.row).heights[placed.section] == placed.height
    if content.placed:
        first, last = content.placed[0], content.placed[-1]
        assert first.y <= content.padding
        filled = last.y + last.height >= view.viewport().height() - content.padding - 1
        assert filled or bar.maximum() == 0


@pytest.mark.parametrize("seed", range(4))
def test_anything(make_view: MakeView, theme: Theme, seed: int) -> None:
    model = model_of(dialogue(6))
    view = make_view(model)
    hand = Hand(seed, view, model, theme)
    for number in range(150):
        hand.random.choice(hand.deeds)()
        if number % 3 == 0:
            check(view, model)
        if number % 25 == 0:
            view.grab()
    check(view, model)
