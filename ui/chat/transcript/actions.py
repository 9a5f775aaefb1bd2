"""What can be done with messages: buttons, links, the menu."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, QPointF
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QToolTip

from engine.chat.records import Role
from ui.chat.transcript import beside, hit, versions
from ui.chat.transcript.blocks import Code, ThoughtHead
from ui.chat.transcript.buttons import ActionButton, Buttons, Key, Kind, Wanted
from ui.chat.transcript.code_view import CodeView
from ui.chat.transcript.commands import Asked, Command, applies
from ui.chat.transcript.host import Host
from ui.chat.transcript.layout import Placed
from ui.chat.transcript.links import may_open
from ui.chat.transcript.menu import MessageMenu
from ui.chat.transcript.message import Message
from ui.chat.transcript.paint import head_shift
from ui.chat.transcript.qt_text import copiable
from ui.chat.transcript.row import Row, is_open, is_user
from ui.chat.transcript.saving import file_name
from ui.chat.transcript.scene import Scene
from ui.chat.transcript.selection import source_text

LONGEST_ADDRESS = 600
"""Characters of an address that the tooltip shows."""


class Actions(QObject):
    """Carries out what the user asks for inside the transcript.

    Attributes:
        read_only: There is nothing to be changed and nothing to be saved, only to be read and copied.
    """

    read_only = False

    def __init__(self, view: Host, buttons: Buttons) -> None:
        super().__init__(view if isinstance(view, QObject) else None)
        self._view, self._buttons = view, buttons
        buttons.pressed.connect(self._pressed)

    # Buttons.

    def wanted(self, scene: Scene) -> list[Wanted]:
        """The buttons that belong to what is seen, from top to bottom."""
        result: list[Wanted] = []
        for placed in scene.layout.placed:
            message = scene.layout.message(placed.row)
            part = message.part(placed.section)
            if isinstance(part, ThoughtHead):
                result.append(self._thought_button(scene, placed, message))
            elif isinstance(part, Code):
                result += self._code_buttons(scene, placed, message)
            elif placed.section == message.foot:
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
        if not is_open(message.row) and not self.read_only:
            right -= self._buttons.size_of(result[0].key).width()
            save = Key(Kind.SAVE_CODE, message.row.id, placed.section)
            result.insert(0, Wanted(save, QPoint(right, y), from_right=True, which=which))
        if view.overflow() > 0 or view.state.wrap:
            right -= self._buttons.size_of(result[0].key).width()
            wrap = Key(Kind.WRAP_CODE, message.row.id, placed.section)
            corner = QPoint(right, y)
            result.insert(0, Wanted(wrap, corner, from_right=True, checked=view.state.wrap, which=which))
        return result

    def _thought_button(self, scene: Scene, placed: Placed, message: Message) -> Wanted:
        """The one that folds the thought and says how long it took."""
        unfolded = message.reader.unfolded
        return Wanted(
            Key(Kind.THOUGHT, message.row.id, 0),
            QPoint(int(scene.column_x) - scene.layout.look.px(14), int(placed.y)),
            from_right=False,
            which=self.tr("shown") if unfolded else self.tr("hidden"),
            label=message.words.thought_line(message.row),
            icon="caret-down" if unfolded else "caret-right",
        )

    def _message_buttons(self, scene: Scene, placed: Placed, message: Message) -> list[Wanted]:
        rows, row = scene.layout.rows, message.row
        if is_open(row):
            return []
        y = int(placed.y)
        result, x = self._version_buttons(scene, row, y)
        last = placed.row == len(rows) - 1
        if not (last or placed.row in (self._view.hovered, scene.ring)):
            return result
        keys = [Key(kind, row.id, 0) for kind in self._kinds(rows, row, last=last)]
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

    @staticmethod
    def _kinds(rows: Sequence[Row], row: Row, *, last: bool) -> list[Kind]:
        """Which buttons a message has, from left to right."""
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

    def _version_buttons(self, scene: Scene, row: Row, y: int) -> tuple[list[Wanted], int]:
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

    def _pressed(self, button: ActionButton) -> None:
        key = button.key
        number = self._row_of(key.message) if key else None
        if key is None or number is None:
            return
        self._carry_out(button, key, number)
        if button.by_mouse and key.kind is not Kind.MENU:
            self._view.mouse_done.emit()

    def _carry_out(self, button: ActionButton, key: Key, number: int) -> None:
        content = self._view.content
        actions: dict[Kind, Callable[[], None]] = {
            Kind.COPY_CODE: lambda: self._copy_code(number, key),
            Kind.WRAP_CODE: lambda: self._wrap_code(number, key),
            Kind.SAVE_CODE: lambda: self._save_code(number, key),
            Kind.COPY_MESSAGE: lambda: self._copy_source(content.rows[number], key),
            Kind.THOUGHT: lambda: self.fold_thought(number),
            Kind.EDIT: lambda: self.ask(Command.EDIT, number),
            Kind.CONTINUE: lambda: self.ask(Command.CONTINUE, number),
            Kind.REGENERATE: self._view.regenerate_requested.emit,
            Kind.MENU: lambda: self._menu_below(button, number),
            Kind.VERSION_BACK: lambda: self._step(button, key, number),
            Kind.VERSION_ON: lambda: self._step(button, key, number),
        }
        actions[key.kind]()

    def _step(self, button: ActionButton, key: Key, number: int) -> None:
        if number < len(self._view.content.rows) - 1:
            self._view.content.follow = False
        if not button.by_mouse:
            self._buttons.hand_on(key)
        self._view.version_requested.emit(key.message, 1 if key.kind is Kind.VERSION_ON else -1)

    def _wrap_code(self, number: int, key: Key) -> None:
        self._view.content.message(number).toggle_wrap(key.section)
        self._view.refresh()

    def _copy_source(self, row: Row, key: Key) -> None:
        self.copy(source_text(row))
        self._buttons.confirm(key)

    def _menu_below(self, button: ActionButton, number: int) -> None:
        menu = self.make_menu(number, QPointF(-1, -1))
        menu.popup(button.mapToGlobal(QPoint(0, button.height())))

    def ask(self, command: Command, number: int, model: Path | None = None) -> None:
        """Hand a command on to the owner."""
        self._view.command_requested.emit(Asked(command, self._view.content.rows[number].id, model))

    def fold_thought(self, number: int) -> None:
        """Show the thought of a message, or hide it; what stands above it stays where it is."""
        unfolded = not self._view.content.message(number).reader.unfolded
        self._view.content.follow = False
        self._view.content.messages.fold(number, unfolded=unfolded)
        self._view.selection.clear()
        self._view.refresh()
        self._view.content.follow = self._view.content.at_end()

    def _save_code(self, number: int, key: Key) -> None:
        part = self._view.content.message(number).part(key.section)
        if isinstance(part, Code):
            self.save_code(part)

    def _copy_code(self, number: int, key: Key) -> None:
        part = self._view.content.message(number).part(key.section)
        if isinstance(part, Code):
            self.copy(copiable(part.code))
            self._buttons.confirm(key)

    def _row_of(self, name: str) -> int | None:
        rows = self._view.content.rows
        return next((number for number in range(len(rows) - 1, -1, -1) if rows[number].id == name), None)

    # Links.

    def follow(self, address: str) -> None:
        """A link was chosen: hand it to the owner, who asks; an address that may not be opened is only copied."""
        if may_open(address):
            self._view.link_activated.emit(address)
        else:
            self.copy(copiable(address))
            self._view.address_copied.emit(address)

    def show_address(self, address: str, place: QPoint) -> None:
        """Show where a link leads, as plain text."""
        if not address:
            QToolTip.hideText()
            return
        shown = address if len(address) <= LONGEST_ADDRESS else address[:LONGEST_ADDRESS] + "…"
        text = f"<p style='white-space: pre-wrap'>{escape(shown)}</p>"
        if not may_open(address):
            text += f"<p>{escape(self.tr('Cannot be opened from here. A click copies the address.'))}</p>"
        QToolTip.showText(place, text)

    def show_menu(self, point: QPoint) -> None:
        """Open the menu for the message at ``point``."""
        placed = hit.placed_at(self._view.scene, point.y())
        if placed is not None:
            self.make_menu(placed.row, QPointF(point)).popup(self._view.to_global(point))

    def make_menu(self, number: int, point: QPointF) -> QMenu:
        """The menu for message ``number``, which deletes itself when it is closed."""
        return MessageMenu(self._view, self, number, point, read_only=self.read_only)

    def copy(self, text: str) -> None:
        """Put ``text`` on the clipboard."""
        QGuiApplication.clipboard().setText(text)

    def save_code(self, part: Code) -> None:
        """Have a code block saved as a file."""
        self._view.save_requested.emit(file_name(part.language), part.code)

    def select_rows(self, first: int, last: int) -> None:
        """Select whole messages."""
        foot = self._view.content.message(last).foot
        self._view.selection.anchor = (first, 0, 0)
        self._view.selection.cursor = (last, foot, 0)
        self._view.refresh()

    def select_all(self) -> None:
        """Select the whole conversation."""
        if self._view.content.rows:
            self.select_rows(0, len(self._view.content.rows) - 1)
