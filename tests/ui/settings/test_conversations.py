"""The page of conversations: an import is followed, and can be stopped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.backup.service import BackupService
from app.chat.exchange import Exchange, Progress
from app.chat.import_child import ImportChild
from app.notices import Notice
from app.paths import Paths
from engine.errors import VrambleError
from tests.app.chat.conftest import Chat
from tests.ui.settings.conftest import Cranked
from ui.chat.exporting import EXCHANGE_NOTICE
from ui.settings.conversations_page import ConversationsPage
from ui.theme import Theme
from ui.widgets.text_button import TextButton

LIMIT_MS = 60_000


@pytest.fixture
def chat(qtbot: QtBot, tmp_path: Path) -> Iterator[Chat]:
    world = Chat(tmp_path)
    world.start()
    yield world
    world.controller.close(lambda: None)
    world.database.drain()


@pytest.fixture
def exchange(chat: Chat) -> Exchange:
    return chat.controller.keeping.exchange


@pytest.fixture
def page(qtbot: QtBot, chat: Chat, tmp_path: Path) -> ConversationsPage:
    paths = Paths(tmp_path / "data", tmp_path / "config", tmp_path / "cache", tmp_path / "state")
    backup = BackupService(paths, Cranked())
    shown = ConversationsPage(Theme(), chat.settings, chat.controller.keeping, backup, chat.notices)
    qtbot.addWidget(shown)
    shown.resize(760, 640)
    shown.show()
    return shown


def button(page: ConversationsPage, name: str) -> TextButton:
    found = page.findChild(TextButton, name)
    assert isinstance(found, TextButton)
    return found


@pytest.fixture(autouse=True)
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of an import never ends by itself."""
    sleeper = [sys.executable, "-c", "import time; time.sleep(3600)"]
    monkeypatch.setattr("app.chat.import_child.command", lambda: sleeper)


def test_an_import_is_followed_and_stopped(
    qtbot: QtBot, chat: Chat, exchange: Exchange, page: ConversationsPage, tmp_path: Path
) -> None:
    assert not button(page, "stopImport").isVisible()
    page._exporting.take([tmp_path / "export.json"])
    assert button(page, "stopImport").isVisible()
    assert not button(page, "importConversations").isEnabled()
    exchange._move(Progress(1200, 5000))
    assert "1,200 of 5,000" in page._import_row.text
    with qtbot.waitSignal(exchange._child.ended, timeout=LIMIT_MS):  # type: ignore[union-attr]
        button(page, "stopImport").click()
    assert not button(page, "stopImport").isVisible()
    assert button(page, "importConversations").isEnabled()
    assert "Nothing was imported" in chat.posted[-1].text


def test_a_long_import_is_a_notice_with_a_way_to_stop_it(
    qtbot: QtBot,
    chat: Chat,
    exchange: Exchange,
    page: ConversationsPage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page._exporting.take([tmp_path / "export.json"])
    monkeypatch.setattr("ui.chat.exporting.PROGRESS_MS", 3_600_000)
    exchange._move(Progress(1, 5000))
    assert notices(chat) == []
    monkeypatch.setattr("ui.chat.exporting.PROGRESS_MS", 0)
    exchange._move(Progress(2, 5000))
    (told,) = notices(chat)
    assert "2 of 5,000" in told.text
    with qtbot.waitSignal(exchange._child.ended, timeout=LIMIT_MS):  # type: ignore[union-attr]
        told.actions[0].run()
    assert len(notices(chat)) == 2


def test_an_import_that_cannot_begin_is_one_notice(
    chat: Chat, page: ConversationsPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Qt says so at once where the system gives no further process."""
    why = VrambleError("import-start", "No process.")
    monkeypatch.setattr(ImportChild, "start", lambda child: child.ended.emit(why))
    for number in (1, 2):
        page._exporting.take([tmp_path / "export.json"])
        assert [one.text for one in notices(chat)] == ["No process."] * number
    assert button(page, "importConversations").isEnabled()


def notices(chat: Chat) -> list[Notice]:
    return [one for one in chat.posted if one.key == EXCHANGE_NOTICE]
