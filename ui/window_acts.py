"""The commands of the main window, by key and by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from app.chat.controller import ChatController
from ui.chat.transcript.commands import Models
from ui.palette.acts import Act
from ui.shell.dialogs import show_dialog
from ui.theme import Theme


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("WindowActs", text)


@dataclass(frozen=True)
class Doings:
    """What the window lets be called by a key: each field does what it says."""

    new_chat: Callable[[], object]
    new_temporary_chat: Callable[[], object]
    search: Callable[[], object]
    find: Callable[[], object]
    write: Callable[[], object]
    stop: Callable[[], object]
    toggle_sidebar: Callable[[], object]
    toggle_parameters: Callable[[], object]
    scale: Callable[[int], object]
    choose_model: Callable[[], object]
    load_options: Callable[[], object]
    models: Callable[[], object]
    memory: Callable[[], object]
    benchmark: Callable[[], object]
    settings: Callable[[], object]
    palette: Callable[[], object]
    shortcuts: Callable[[], object]
    quit: Callable[[], object]


def acts_of(do: Doings) -> tuple[Act, ...]:
    """All commands, grouped, in the order of the sheet."""
    chats, models, view, program = tr("Conversations"), tr("Models and memory"), tr("View"), tr("Program")
    return (
        Act(tr("New chat"), do.new_chat, ("Ctrl+N",), chats, in_chat=True),
        Act(tr("New temporary chat"), do.new_temporary_chat, ("Ctrl+Shift+N",), chats, in_chat=True),
        Act(tr("Search all conversations"), do.search, ("Ctrl+Shift+F",), chats, in_chat=True),
        Act(tr("Find in this conversation"), do.find, ("Ctrl+F",), chats, in_chat=True),
        Act(tr("Write a message"), do.write, ("Ctrl+L",), chats, in_chat=True),
        Act(tr("Stop the answer"), do.stop, ("Esc",), chats, listed=False, bound=False),
        *local(
            chats,
            (tr("Send the message"), "Return"),
            (tr("Break the line"), "Shift+Return"),
            (tr("Edit the last message, in an empty field"), "Up"),
            (tr("Rename a conversation in the list"), "F2"),
            (tr("Delete a conversation in the list"), "Del"),
        ),
        Act(tr("Choose a model"), do.choose_model, ("Ctrl+O",), models, in_chat=True),
        Act(tr("Load options of the model"), do.load_options, ("Ctrl+Shift+O",), models),
        Act(tr("Models: find, download, manage"), do.models, ("Ctrl+M",), models),
        Act(tr("Memory"), do.memory, ("Ctrl+Shift+M",), models),
        Act(tr("Benchmark"), do.benchmark, ("Ctrl+Shift+B",), models),
        Act(tr("Show or hide the list of conversations"), do.toggle_sidebar, ("Ctrl+B",), view, in_chat=True),
        Act(tr("Show or hide the parameters"), do.toggle_parameters, ("Ctrl+I",), view, in_chat=True),
        Act(tr("Larger text"), partial(do.scale, 1), ("Ctrl++", "Ctrl+="), view),
        Act(tr("Smaller text"), partial(do.scale, -1), ("Ctrl+-",), view),
        Act(tr("Text of normal size"), partial(do.scale, 0), ("Ctrl+0",), view),
        Act(tr("Find a command"), do.palette, ("Ctrl+K",), program, listed=False, in_chat=True),
        Act(tr("Keyboard shortcuts"), do.shortcuts, ("F1",), program),
        Act(tr("Settings"), do.settings, ("Ctrl+,",), program),
        Act(tr("Quit"), do.quit, ("Ctrl+Q",), program),
    )


def local(group: str, *entries: tuple[str, str]) -> Iterator[Act]:
    """Keys that one field or list knows by itself: for the sheet only."""
    for name, keys in entries:
        yield Act(name, lambda: None, (keys,), group, listed=False, bound=False)


def bind(acts: Sequence[Act], window: QWidget, chat: QWidget) -> None:
    """Make the keys that belong to all of ``window`` work; ``chat`` is what holds the chat in it."""
    for act in acts:
        for keys in act.keys if act.bound else ():
            QShortcut(QKeySequence(keys), chat if act.in_chat else window, act.run)


class PaletteActs:
    """What the palette offers: commands, then conversations, then models to load."""

    def __init__(
        self, acts: Sequence[Act], chat: ChatController, models: Models, load: Callable[[Path], object]
    ) -> None:
        self._acts, self._chat, self._models, self._load = acts, chat, models, load

    def __call__(self) -> Sequence[Act]:
        """All of them as they are now."""
        return (*self._acts, *self._conversations(), *self._installed())

    def _conversations(self) -> Iterator[Act]:
        for conversation in self._chat.conversations.rows:
            name = tr("Open “{}”").format(conversation.title)
            yield Act(name, partial(self._chat.open, conversation.id))

    def _installed(self) -> Iterator[Act]:
        for model in self._models():
            yield Act(tr("Load {}").format(model.name), partial(self._load, model.path))


def open_palette(theme: Theme, acts: Callable[[], Sequence[Act]], window: QWidget) -> None:
    """Show the palette over ``window``."""
    from ui.palette.palette import Palette

    Palette(theme, acts, window).open_over(window)


def open_sheet(theme: Theme, acts: Sequence[Act], window: QWidget) -> None:
    """Show all keys."""
    from ui.palette.sheet import ShortcutsSheet

    show_dialog(ShortcutsSheet(theme, acts, window), fill=True)
