"""What can be done with messages: buttons, links, the menu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, QPointF
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QToolTip

from ui.chat.transcript import hit
from ui.chat.transcript.blocks import Code
from ui.chat.transcript.buttons import ActionButton, Buttons, Key, Wanted
from ui.chat.transcript.commands import Asked, Command
from ui.chat.transcript.host import Host
from ui.chat.transcript.kinds import Kind
from ui.chat.transcript.links import may_open
from ui.chat.transcript.menu import MessageMenu
from ui.chat.transcript.qt_text import copiable
from ui.chat.transcript.row import Row
from ui.chat.transcript.saving import file_name
from ui.chat.transcript.scene import Scene
from ui.chat.transcript.selection import source_text
from ui.chat.transcript.wanted import SUMMARY_COMMANDS, WantedButtons

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
        self._wanted = WantedButtons(view, buttons, read_only=self.read_only)
        buttons.pressed.connect(self._pressed)

    # Buttons.

    def wanted(self, scene: Scene) -> list[Wanted]:
        """The buttons that belong to what is seen, from top to bottom."""
        return self._wanted.of(scene)

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
            **{kind: partial(self.ask, command, number) for kind, command in SUMMARY_COMMANDS.items()},
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
