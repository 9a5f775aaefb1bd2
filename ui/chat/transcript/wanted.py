"""Which buttons belong to what is seen, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QPoint

from engine.chat.records import Role
from ui.chat.transcript import beside, versions
from ui.chat.transcript.blocks import Code, ThoughtHead
from ui.chat.transcript.buttons import Buttons, Key, Wanted
from ui.chat.transcript.code_view import CodeView
from ui.chat.transcript.commands import Command, applies
from ui.chat.transcript.host import Host
from ui.chat.transcript.kinds import Kind
from ui.chat.transcript.layout import Placed
from ui.chat.transcript.message import Message
from ui.chat.transcript.paint import head_shift
from ui.chat.transcript.row import Row, is_open, is_user
from ui.chat.transcript.scene import Scene

SUMMARY_COMMANDS = {
    Kind.SUMMARY_EDIT: Command.SUMMARY_EDIT,
    Kind.SUMMARY_AGAIN: Command.SUMMARY_AGAIN,
    Kind.SUMMARY_WRITE: Command.SUMMARY_EDIT,
    Kind.SUMMARY_MAKE: Command.SUMMARY_AGAIN,
    Kind.SUMMARY_REMOVE: Command.SUMMARY_REMOVE,
    Kind.SUMMARY_STOP: Command.SUMMARY_STOP,
}
WHERE_NONE_IS = (Kind.SUMMARY_WRITE, Kind.SUMMARY_MAKE)
WHERE_ONE_IS = (Kind.SUMMARY_EDIT, Kind.SUMMARY_AGAIN)


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("WantedButtons", text)


class WantedButtons:
    """For one view. ``read_only``: only what reads and copies."""

    def __init__(self, view: Host, buttons: Buttons, *, read_only: bool) -> None:
        self._view, self._buttons, self._read_only = view, buttons, read_only

    def of(self, scene: Scene) -> list[Wanted]:
        """From top to bottom."""
        result: list[Wanted] = []
        for placed in scene.layout.placed:
            message = scene.layout.message(placed.row)
            part = message.part(placed.section)
            if isinstance(part, ThoughtHead):
                result.append(_thought_button(scene, placed, message))
            elif isinstance(part, Code):
                result += self._code_buttons(scene, placed, message)
            elif placed.section == message.foot and not self._read_only:
                result += self._message_buttons(scene, placed, message)
        return result

    def _code_buttons(self, scene: Scene, placed: Placed, message: Message) -> list[Wanted]:
        view = message.view(placed.section)
        assert isinstance(view, CodeView)
        origin = scene.origin(placed)
        y = int(origin.y() + head_shift(view, origin.y()))
        right = int(origin.x() + view.width) - 2
        copy = Key(Kind.COPY_CODE, message.row.id, placed.section)
        which = message.code_name(placed.section)
        result = [Wanted(copy, QPoint(right, y), from_right=True, which=which)]
        if not is_open(message.row) and not self._read_only:
            right -= self._buttons.size_of(result[0].key).width()
            save = Key(Kind.SAVE_CODE, message.row.id, placed.section)
            result.insert(0, Wanted(save, QPoint(right, y), from_right=True, which=which))
        if view.overflow() > 0 or view.state.wrap:
            right -= self._buttons.size_of(result[0].key).width()
            wrap = Key(Kind.WRAP_CODE, message.row.id, placed.section)
            corner = QPoint(right, y)
            result.insert(0, Wanted(wrap, corner, from_right=True, checked=view.state.wrap, which=which))
        return result

    def _message_buttons(self, scene: Scene, placed: Placed, message: Message) -> list[Wanted]:
        rows, row = scene.layout.rows, message.row
        if is_open(row) and not row.stands_for:
            return []
        y = int(placed.y)
        result, x = _version_buttons(scene, row, y)
        last = placed.row == len(rows) - 1
        if not (last or row.stands_for or placed.row in (self._view.hovered, scene.ring)):
            return result
        keys = [Key(kind, row.id, 0) for kind in _kinds(rows, row, last=last)]
        if message.user:
            return [*self._beside_bubble(scene, placed, message, keys), *result]
        for key in keys:
            result.append(Wanted(key, QPoint(x, y), from_right=False))
            x += self._buttons.size_of(key).width()
        return result

    def _beside_bubble(self, scene: Scene, placed: Placed, message: Message, keys: Sequence[Key]) -> list[Wanted]:
        look = scene.layout.look
        left = scene.column_x + message.x - look.bubble_padding[0]
        widths = [self._buttons.size_of(key).width() for key in keys]
        kept = keys[: beside.fitting(widths, beside.room(look, left))]
        sizes = [self._buttons.size_of(key) for key in kept]
        corners = beside.corners(look, left, placed.y, sizes)
        return [Wanted(key, corner, from_right=False) for key, corner in zip(kept, corners, strict=True)]


def _thought_button(scene: Scene, placed: Placed, message: Message) -> Wanted:
    """The one that folds the thought and says how long it took."""
    unfolded = message.reader.unfolded
    return Wanted(
        Key(Kind.THOUGHT, message.row.id, 0),
        QPoint(int(scene.column_x) - scene.layout.look.px(14), int(placed.y)),
        from_right=False,
        which=tr("shown") if unfolded else tr("hidden"),
        label=message.words.thought_line(message.row),
        icon="caret-down" if unfolded else "caret-right",
    )


def _kinds(rows: Sequence[Row], row: Row, *, last: bool) -> list[Kind]:
    """Which buttons a message has, from left to right."""
    if row.stands_for:
        others = WHERE_NONE_IS if row.text else WHERE_ONE_IS
        return [
            kind for kind, command in SUMMARY_COMMANDS.items() if kind not in others and applies(command, rows, row)
        ]
    found = [Kind.MENU, Kind.EDIT] if is_user(row) and applies(Command.EDIT, rows, row) else []
    if row.text.strip():
        found.append(Kind.COPY_MESSAGE)
    if is_user(row):
        return found
    if applies(Command.CONTINUE, rows, row):
        found.append(Kind.CONTINUE)
    if last and row.role is Role.ASSISTANT:
        found.append(Kind.REGENERATE)
    return [*found, Kind.MENU]


def _version_buttons(scene: Scene, row: Row, y: int) -> tuple[list[Wanted], int]:
    """The two that step through the versions of a message, and where the next button goes."""
    left, look = int(scene.column_x), scene.layout.look
    if not versions.can_change(scene.layout.rows, row):
        return [], max(0, left - look.px(14))
    y += versions.foot_top(look, row)
    place, which = versions.places(look, row, scene.layout.column), versions.words_of(row)
    back, on = Key(Kind.VERSION_BACK, row.id, 0), Key(Kind.VERSION_ON, row.id, 0)
    buttons = [
        Wanted(back, QPoint(left + place.back, y), from_right=False, which=which, enabled=row.version > 1),
        Wanted(on, QPoint(left + place.on, y), from_right=False, which=which, enabled=row.version < row.versions),
    ]
    return buttons, left + place.end
