"""Messages that are not sent yet: saved in time, removed in time, back at the next start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.chat import chat_notices
from engine.chat.records import Draft
from engine.chat.store import Store
from engine.errors import VrambleError
from tests.app.chat.conftest import Chat

ONE, TWO, THREE = (Draft(text=text) for text in ("h", "ha", "half"))
LARGE = Draft(text="see", pasted=("line\n" * 50_000,))


def on_disk(chat: Chat) -> dict[str | None, Draft]:
    store = Store.open(chat.path)
    try:
        return store.drafts()
    finally:
        store.close()


def second_passes(chat: Chat) -> None:
    """A second after the last save."""
    chat.controller._parts.drafts.throttle.timer.timeout.emit()
    chat.database.drain()


@pytest.fixture
def restart(chat: Chat, tmp_path: Path) -> Iterator[Chat]:
    """The next run on the same database; not started yet."""
    again = Chat(tmp_path)
    yield again
    again.controller.close(lambda: None)
    again.database.drain()


def test_one_write_a_second(chat: Chat) -> None:
    for draft in (ONE, TWO, THREE):
        chat.controller.keep_draft(None, draft)
    assert len(chat.database.waiting) == 1
    chat.database.drain()
    assert on_disk(chat) == {None: ONE}
    second_passes(chat)
    assert on_disk(chat) == {None: THREE}
    second_passes(chat)
    chat.controller.keep_draft(None, THREE)
    assert not chat.database.waiting


def test_a_draft_is_back_at_the_next_start(chat: Chat, restart: Chat) -> None:
    one = chat.say("one", "first")
    chat.controller.keep_draft(one, LARGE)
    chat.controller.keep_draft(None, THREE)
    second_passes(chat)
    loaded: list[dict[str | None, Draft]] = []
    restart.controller.drafts_loaded.connect(loaded.append)
    restart.start()
    assert loaded == [{one: LARGE, None: THREE}]
    restart.controller.keep_draft(one, LARGE)
    assert not restart.database.waiting


def test_what_waits_is_saved_at_the_end(chat: Chat) -> None:
    chat.controller.keep_draft(None, ONE)
    chat.controller.keep_draft(None, THREE)
    chat.controller.close(lambda: None)
    chat.controller.keep_draft(None, TWO)
    chat.database.drain()
    assert on_disk(chat) == {None: THREE}


@pytest.mark.parametrize("blank", [Draft(), Draft(text=" \n")])
def test_a_blank_draft_is_removed(chat: Chat, blank: Draft) -> None:
    chat.controller.keep_draft(None, THREE)
    chat.database.drain()
    chat.controller.keep_draft(None, blank)
    second_passes(chat)
    assert on_disk(chat) == {}


def test_a_draft_that_is_sent_is_gone_with_that(chat: Chat) -> None:
    chat.controller.keep_draft(None, ONE)
    chat.controller.keep_draft(None, THREE)
    assert chat.controller.send("half")
    chat.controller.keep_draft(None, Draft())
    chat.database.turn()
    assert on_disk(chat) == {None: ONE}
    chat.database.turn()
    assert on_disk(chat) == {}
    second_passes(chat)
    assert on_disk(chat) == {}


def test_nothing_is_saved_before_the_saved_ones_are_read(chat: Chat, restart: Chat) -> None:
    chat.controller.keep_draft(None, LARGE)
    chat.database.drain()
    restart.controller.keep_draft(None, ONE)
    assert not restart.database.waiting
    loaded: list[dict[str | None, Draft]] = []
    restart.controller.drafts_loaded.connect(loaded.append)
    restart.start()
    assert loaded == [{None: LARGE}]
    assert on_disk(chat) == {None: ONE}


def test_a_full_disk_is_told_once_and_tried_again(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 73."""

    def full(self: Store, changed: object) -> None:
        raise VrambleError("disk-full", "Conversations cannot be saved: the disk is full.")

    with monkeypatch.context() as disk:
        disk.setattr(Store, "save_drafts", full)
        chat.controller.keep_draft(None, ONE)
        chat.database.drain()
        chat.controller.keep_draft(None, TWO)
        second_passes(chat)
        assert chat.keys() == [chat_notices.DRAFT]
    chat.controller.keep_draft("other", ONE)
    second_passes(chat)
    assert on_disk(chat) == {None: TWO}
    assert chat.withdrawn[-1] == chat_notices.DRAFT


def test_a_deleted_conversation_takes_its_draft_along(chat: Chat) -> None:
    one = chat.say("one", "first")
    chat.controller.keep_draft(one, THREE)
    chat.database.drain()
    chat.controller.delete(one)
    chat.controller.close(lambda: None)
    chat.database.drain()
    assert on_disk(chat) == {}
