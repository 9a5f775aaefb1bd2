"""What the parts of the main window tell each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QAbstractSlider

from app.chat.controller import ChatController
from ui.chat.composer import Composer
from ui.chat.first_run import FirstRunPage
from ui.chat.header import Header
from ui.chat.hint import HintLine
from ui.chat.model_actions import ModelActions
from ui.chat.page import ConversationPage
from ui.chat.sidebar import Sidebar
from ui.memory.strip import MemoryStrip
from ui.shell.game_shell import GameShell
from ui.shell.presses import ChatDoings
from ui.widgets.notice_bar import NoticeBar
from ui.window_settings import KeptWindow
from ui.windows import Windows


@dataclass(frozen=True)
class Parts:
    """What the main window shows."""

    sidebar: Sidebar
    header: Header
    first_run: FirstRunPage
    page: ConversationPage
    notice_bar: NoticeBar
    composer: Composer
    hint: HintLine
    strip: MemoryStrip


def connect_windows(parts: Parts, windows: Windows, actions: ModelActions, kept: KeptWindow) -> None:
    """What opens the other windows, and changes how this one looks."""
    parts.header.manager_wanted.connect(windows.open_manager)
    parts.header.settings_wanted.connect(windows.open_settings)
    parts.header.bench_wanted.connect(windows.open_bench)
    parts.header.memory_wanted.connect(windows.open_memory)
    parts.strip.clicked.connect(windows.open_memory)
    actions.manager_wanted.connect(windows.open_manager)
    actions.options_wanted.connect(windows.open_load_options)
    parts.first_run.find_wanted.connect(lambda: windows.open_manager(get=True))
    parts.header.mode_chosen.connect(kept.set_mode)
    parts.header.scale_chosen.connect(kept.set_scale)


def connect_models(parts: Parts, chat: ChatController, actions: ModelActions, focus: Callable[[], None]) -> None:
    """Which model is there or comes."""
    actions.loaded.connect(focus)
    for expect in (parts.page.expect_model, chat.expect_model):
        actions.coming_changed.connect(expect)
        expect(actions.coming)
    actions.starter_busy.connect(parts.first_run.set_busy)
    parts.first_run.starter_wanted.connect(actions.add_starter)
    parts.page.choose_wanted.connect(parts.header.open_picker)
    chat.model_wanted.connect(parts.header.open_picker)
    chat.fit_wanted.connect(actions.load)


def connect_chat(parts: Parts, chat: ChatController, focus: Callable[[], None]) -> None:
    """Composer, transcript and what the chat tells."""
    page, composer = parts.page, parts.composer
    page.mouse_done.connect(focus)
    page.edit_wanted.connect(composer.edit_message)
    composer.edit_last_wanted.connect(page.edit_last)
    parts.sidebar.composing_wanted.connect(composer.append)
    parts.notice_bar.left.connect(focus)
    parts.header.cancel_wanted.connect(chat.stop)
    composer.stop_requested.connect(chat.stop)
    composer.sent_too_early.connect(parts.hint.tell_busy)
    chat.busy_changed.connect(composer.set_busy)
    composer.draft_changed.connect(chat.keep_draft)
    chat.drafts_loaded.connect(composer.take_drafts)
    chat.draft_restored.connect(composer.restore)
    chat.message_wanted.connect(lambda message: page.show_message(message, chat.keeping.search.first_word))


def begin_game(
    game: GameShell, parts: Parts, chat: ChatController, windows: Windows, commands: Callable[[], None]
) -> None:
    """In Game Mode: what the buttons of a pad mean. ``commands`` opens the list of commands."""

    def scroll(step: int) -> None:
        if not parts.page.is_empty:
            actions = QAbstractSlider.SliderAction
            action = actions.SliderPageStepAdd if step > 0 else actions.SliderPageStepSub
            parts.page.transcript.verticalScrollBar().triggerAction(action)

    for signal in (chat.busy_changed, chat.transcript.modelReset, chat.transcript.rowsInserted):
        signal.connect(game.show_hints)
    game.begin(
        ChatDoings(
            new_chat=parts.sidebar.new_conversation,
            models=windows.open_manager,
            commands=commands,
            scrolls=lambda: not parts.page.is_empty,
            scroll=scroll,
            answering=lambda: chat.busy,
            stop=parts.composer.stop,
            focus=parts.composer.focus,
        )
    )
