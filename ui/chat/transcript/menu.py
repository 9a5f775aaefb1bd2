"""The menu of one message."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QMenu

from ui.chat.transcript import hit
from ui.chat.transcript.blocks import Code, Formula, Paragraph, Part, Style, Table, table_lines
from ui.chat.transcript.commands import Command, applies
from ui.chat.transcript.host import Host
from ui.chat.transcript.links import may_open
from ui.chat.transcript.math_rules import latex_of
from ui.chat.transcript.qt_text import copiable
from ui.chat.transcript.selection import message_text, parts_of, source_text, thought_source

LINKS_IN_MENU = 24


class Doer(Protocol):
    """What the menu calls: `actions.Actions`."""

    def copy(self, text: str) -> None: ...
    def ask(self, command: Command, number: int, model: Path | None = None) -> None: ...
    def save_code(self, part: Code) -> None: ...
    def follow(self, address: str) -> None: ...
    def select_rows(self, first: int, last: int) -> None: ...
    def select_all(self) -> None: ...


class MessageMenu(QMenu):
    """What can be done with message ``number``, and with what is under ``point``. Deletes itself when it is closed."""

    def __init__(self, view: Host, actions: Doer, number: int, point: QPointF, *, read_only: bool = False) -> None:
        super().__init__(view.viewport())
        self._view, self._actions, self._read_only = view, actions, read_only
        self.aboutToHide.connect(self.deleteLater)
        row = view.content.rows[number]
        self._add(self, self.tr("Copy"), view.copy_selection, enabled=view.selection.ends is not None)
        self._add(self, self.tr("Copy message"), lambda: actions.copy(message_text(view.content, number)))
        self._add(self, self.tr("Copy as Markdown"), lambda: actions.copy(source_text(row)))
        if row.thinking:
            self._add(self, self.tr("Copy thought"), lambda: actions.copy(thought_source(row)))
        self._add_block(point)
        if not read_only:
            self._add_commands(number)
            self.addSeparator()
            if not row.stands_for:
                self._add(self, self.tr("Details…"), partial(actions.ask, Command.DETAILS, number))
        self._add(self, self.tr("Select message"), lambda: actions.select_rows(number, number))
        self._add(self, self.tr("Select all"), actions.select_all)
        self._add_links(number, hit.link_at(view.scene, point))

    @staticmethod
    def _add(menu: QMenu, text: str, run: Callable[[], None], *, enabled: bool = True) -> None:
        action = menu.addAction(text)
        action.setEnabled(enabled)
        action.triggered.connect(lambda: run())

    def _add_commands(self, number: int) -> None:
        """What changes the conversation."""
        rows = self._view.content.rows
        row = rows[number]
        self.addSeparator()
        texts = {
            Command.EDIT: self.tr("Edit…"),
            Command.CONTINUE: self.tr("Continue"),
            Command.BRANCH: self.tr("New conversation from here"),
            Command.DELETE: self.tr("Delete from here"),
            Command.SUMMARY_EDIT: self.tr("Edit this summary…"),
            Command.SUMMARY_AGAIN: self.tr("Summarise again"),
            Command.SUMMARY_REMOVE: self.tr("Remove this summary"),
            Command.SUMMARY_STOP: self.tr("Stop summarising"),
        }
        for command, text in texts.items():
            if command is Command.BRANCH and applies(Command.REGENERATE, rows, row):
                self._add_models(number)
            if applies(command, rows, row):
                self._add(self, text, partial(self._actions.ask, command, number))

    def _add_models(self, number: int) -> None:
        """Answering again, with each installed model."""
        self._add(self, self.tr("Regenerate"), partial(self._actions.ask, Command.REGENERATE, number))
        models = self._view.models()
        if models:
            submenu = self.addMenu(self.tr("Regenerate with"))
            for model in models:
                run = partial(self._actions.ask, Command.REGENERATE, number, model.path)
                self._add(submenu, model.name.replace("&", "&&"), run)

    def _add_block(self, point: QPointF) -> None:
        """For the code or the formula under the pointer."""
        found = hit.hit(self._view.scene, point)
        if found is None:
            return
        part = self._view.content.message(found.placed.row).part(found.placed.section)
        if isinstance(part, Code):
            code = part
            self._add(self, self.tr("Copy code"), lambda: self._actions.copy(copiable(code.code)))
            if not self._read_only:
                self._add(self, self.tr("Save code…"), lambda: self._actions.save_code(code))
        latex = formula_at(part, found.view.position_at(found.inside))
        if latex:
            self._add(self, self.tr("Copy formula as LaTeX"), lambda: self._actions.copy(copiable(latex)))

    def _add_links(self, number: int, under: str) -> None:
        """The link under the pointer, and for the keyboard all links of the message."""
        if under:
            self.addSeparator()
            self._add_link(self, under)
            self._add(self, self.tr("Copy address"), lambda: self._actions.copy(copiable(under)))
            return
        found = [address for part in parts_of(self._view.content, number) for address in links(part)]
        if found:
            submenu = self.addMenu(self.tr("Links"))
            for address in list(dict.fromkeys(found))[:LINKS_IN_MENU]:
                self._add_link(submenu, address)

    def _add_link(self, menu: QMenu, address: str) -> None:
        label = self.tr("Open {}") if may_open(address) else self.tr("Copy {}")
        shown = address if len(address) <= 60 else address[:59] + "…"
        self._add(menu, label.format(shown.replace("&", "&&")), lambda: self._actions.follow(address))


def formula_at(part: Part | None, position: int) -> str:
    """LaTeX of the formula at character ``position`` of a part, without delimiters; empty when there is none."""
    if isinstance(part, Formula):
        return part.latex
    if isinstance(part, Paragraph):
        for span in part.content.spans:
            if span.style & Style.MATH and span.start <= position <= span.start + span.length:
                return latex_of(part.content.text[span.start : span.start + span.length])[0]
    return ""


def links(part: Part) -> list[str]:
    """Addresses in a part."""
    if isinstance(part, Paragraph):
        return [span.href for span in part.content.spans if span.href]
    if isinstance(part, Table):
        return [span.href for row in table_lines(part) for cell in row for span in cell.spans if span.href]
    return []
