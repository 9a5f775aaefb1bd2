"""The keyboard in the transcript: scrolling, walking through messages, selecting."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from ui.chat.transcript import hit
from ui.chat.transcript.caret import CaretMover
from ui.chat.transcript.host import Host
from ui.chat.transcript.selection import Spot

_BY_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class Keys:
    """Handles the key presses that the view hands over.

    Attributes:
        ring: The message that the keyboard is at, None when the keyboard is not used here.
    """

    def __init__(self, view: Host) -> None:
        self._view = view
        self._caret = CaretMover(view.content)
        self.ring: int | None = None

    def focus_in(self, reason: Qt.FocusReason) -> None:
        """The view got the focus."""
        if reason in _BY_KEYBOARD:
            self._set_ring(self.ring if self._is_seen(self.ring) else self._last_seen())

    def focus_out(self, reason: Qt.FocusReason) -> None:
        """The view lost the focus."""
        kept = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason, *_BY_KEYBOARD[:2])
        if reason not in kept:
            self._set_ring(None)

    def _is_seen(self, row: int | None) -> bool:
        return row is not None and any(placed.row == row for placed in self._view.content.placed)

    def _last_seen(self) -> int | None:
        placed = self._view.content.placed
        return placed[-1].row if placed else None

    def _set_ring(self, row: int | None) -> None:
        if row != self.ring:
            self.ring = self._view.scene.ring = row
            self._view.refresh()
            if row is not None:
                self._view.say_row(row)

    def menu_place(self) -> QPoint:
        """Where the menu opens when a key asked for it."""
        row = self.ring if self._is_seen(self.ring) else self._last_seen()
        box = self._view.visible_rect(row) if row is not None else self._view.viewport().rect()
        return box.topLeft() + QPoint(24, 24)

    def press(self, event: QKeyEvent) -> bool:
        """Whether the key was of use."""
        if not self._view.content.rows:
            return False
        if event.matches(QKeySequence.StandardKey.Copy):
            self._view.copy_selection()
            return self._view.selection.ends is not None
        if event.matches(QKeySequence.StandardKey.SelectAll):
            last = len(self._view.content.rows) - 1
            self._set_selection((0, 0, 0), (last, self._view.content.message(last).foot, 0))
            return True
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return self._extend(event)
        return self._move(event)

    def _move(self, event: QKeyEvent) -> bool:
        page = 0.9 * self._view.viewport().height()
        if event.modifiers() & Qt.KeyboardModifier.AltModifier:
            return False
        actions: dict[int, Callable[[], None]] = {
            Qt.Key.Key_PageUp: lambda: self._view.scroll_by(-page),
            Qt.Key.Key_PageDown: lambda: self._view.scroll_by(page),
            Qt.Key.Key_Home: self._view.scroll_to_start,
            Qt.Key.Key_End: self._view.scroll_to_end,
            Qt.Key.Key_Up: lambda: self._walk(-1),
            Qt.Key.Key_Down: lambda: self._walk(1),
        }
        if event.key() == Qt.Key.Key_Escape:
            return self._drop_selection()
        action = actions.get(event.key())
        if action is not None:
            action()
        return action is not None

    def _drop_selection(self) -> bool:
        had = self._view.selection.ends is not None
        self._view.selection.clear()
        if had:
            self._view.viewport().update()
        return had

    def _set_selection(self, anchor: Spot, cursor: Spot) -> None:
        self._view.selection.anchor, self._view.selection.cursor = anchor, cursor
        self._view.viewport().update()

    # From message to message.

    def _walk(self, step: int) -> None:
        """To the next message; one that is higher than the view is scrolled through first."""
        rows = self._view.content.rows
        if not self._is_seen(self.ring):
            seen = [placed.row for placed in self._view.content.placed]
            self._set_ring(seen[0] if step > 0 else seen[-1])
            return
        assert self.ring is not None
        hidden = self._hidden(self.ring, step)
        if hidden > 0:
            self._view.scroll_by(step * min(hidden, 4.0 * self._view.content.look.line))
        elif 0 <= self.ring + step < len(rows):
            self._set_ring(self.ring + step)
            self._reveal(self.ring, step)

    def _hidden(self, row: int, step: int) -> float:
        """How much of a message is out of sight above (-1) or below (1), pixels."""
        message = self._view.content.message(row)
        placed = next((one for one in self._view.content.placed if one.row == row), None)
        if placed is None:
            return 0.0
        top = placed.y - message.heights.top(placed.section)
        return -top if step < 0 else top + message.heights.total - self._view.viewport().height()

    def _reveal(self, row: int, step: int) -> None:
        """Scroll as little as brings the message into view; its start wins over its end."""
        content, height = self._view.content, self._view.viewport().height()
        placed = next((one for one in content.placed if one.row == row), None)
        if placed is None:
            self._view.scroll_by(step * 3.0 * content.look.line)
            placed = next((one for one in content.placed if one.row == row), None)
        if placed is None:
            return
        message = content.message(row)
        for section in range(message.sections if message.heights.total < 2 * height else 0):
            message.measure(section)
        top = placed.y - message.heights.top(placed.section)
        bottom = top + message.heights.total
        if step > 0 and bottom > height:
            self._view.scroll_by(min(bottom - height, max(0.0, top)))
        elif step < 0 and top < 0:
            self._view.scroll_by(max(top, min(0.0, bottom - height)))

    # Selecting.

    def _extend(self, event: QKeyEvent) -> bool:
        word = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        spot = self._view.selection.cursor or self._first_spot()
        if spot is None:
            return False
        target = self._target(event.key(), spot, word=word)
        if target is None:
            return False
        if self._view.selection.anchor is None:
            self._view.selection.start(spot)
        self._view.selection.extend(target)
        self._keep_in_view(target)
        return True

    def _target(self, key: int, spot: Spot, *, word: bool) -> Spot | None:
        across = self._caret.by_word if word else self._caret.by_character
        line_start, line_end = self._caret.part_around(spot)
        last = len(self._view.content.rows) - 1
        moves: dict[int, Callable[[], Spot]] = {
            Qt.Key.Key_Left: lambda: across(spot, -1),
            Qt.Key.Key_Right: lambda: across(spot, 1),
            Qt.Key.Key_Up: lambda: self._caret.by_line(spot, -1),
            Qt.Key.Key_Down: lambda: self._caret.by_line(spot, 1),
            Qt.Key.Key_Home: lambda: (0, 0, 0) if word else line_start,
            Qt.Key.Key_End: lambda: (last, self._view.content.message(last).foot, 0) if word else line_end,
        }
        move = moves.get(key)
        return move() if move else None

    def _first_spot(self) -> Spot | None:
        if self.ring is not None and self._is_seen(self.ring):
            return self.ring, 1, 0
        return hit.spot_at(self._view.scene, QPointF(0, 0))

    def _keep_in_view(self, spot: Spot) -> None:
        self._view.refresh()
        place = hit.caret_rect(self._view.scene, spot)
        height = self._view.viewport().height()
        if place is None:
            seen = self._view.content.placed
            self._view.scroll_by(-height / 2 if seen and spot[:2] < (seen[0].row, seen[0].section) else height / 2)
        elif place.top() < 0:
            self._view.scroll_by(place.top() - 8)
        elif place.bottom() > height:
            self._view.scroll_by(place.bottom() - height + 8)
