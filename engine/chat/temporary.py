"""Conversations that are never written: a second store in memory behind the same calls."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import msgspec

from engine.chat.database import open_private
from engine.chat.ids import new_id
from engine.chat.records import AnswerEnd, Conversation, Draft, Thread
from engine.chat.store import Store

PREFIX: Final = "temporary-"
F = TypeVar("F", bound=Callable[..., Any])


def is_temporary(conversation: str | None) -> bool:
    """Whether the conversation with this id is never written."""
    return conversation is not None and conversation.startswith(PREFIX)


def new_conversation_id(now: float, *, temporary: bool) -> str:
    """An id for a conversation that begins now."""
    return (PREFIX if temporary else "") + new_id(now)


def _routed(method: F) -> F:
    """``method`` of the store that has the conversation, its first argument."""

    name = method.__name__

    @functools.wraps(method)
    def call(self: StoreWithTemporary, conversation: str, *args: Any, **kwargs: Any) -> Any:
        if is_temporary(conversation):
            return _marked(getattr(self.aside, name)(conversation, *args, **kwargs))
        return getattr(Store, name)(self, conversation, *args, **kwargs)

    return cast("F", call)


class StoreWithTemporary(Store):
    """The store on the disk, and one in memory for the conversations whose id says so. That one ends with the program.

    Temporary conversations are not searched, filed, pinned, archived or exported, and have no drafts.
    """

    _memory: Store | None = None

    @property
    def aside(self) -> Store:
        """The store in memory."""
        if self._memory is None:
            self._memory = Store(open_private(self._now()), Path("memory"), self._now, (), saved=False)
        return self._memory

    conversation = _routed(Store.conversation)
    thread = _routed(Store.thread)
    tail = _routed(Store.tail)
    ask = _routed(Store.ask)
    edit = _routed(Store.edit)
    retry = _routed(Store.retry)
    resume = _routed(Store.resume)
    set_settings = _routed(Store.set_settings)
    show_version = _routed(Store.show_version)
    delete_from = _routed(Store.delete_from)
    undelete_from = _routed(Store.undelete_from)
    rename = _routed(Store.rename)
    entitle = _routed(Store.entitle)
    delete = _routed(Store.delete)
    undelete = _routed(Store.undelete)
    show_message = _routed(Store.show_message)
    keep_summary = _routed(Store.keep_summary)

    def branch(self, conversation: str, message: str, target: str, title: str) -> Conversation | None:
        """See `Store.branch`: what begins as a temporary conversation is one."""
        if not is_temporary(conversation):
            return super().branch(conversation, message, target, title)
        made = self.aside.branch(conversation, message, PREFIX + target, title)
        return None if made is None else _marked_conversation(made)

    def conversations(self) -> list[Conversation]:
        """All of both, the one changed last first."""
        found = super().conversations()
        own = [] if self._memory is None else [_marked_conversation(one) for one in self._memory.conversations()]
        return sorted([*own, *found], key=lambda one: one.updated, reverse=True)

    def save_text(self, message: str, text: str, thinking: str = "") -> bool:
        """See `Store.save_text`."""
        if self._memory is not None and self._memory.save_text(message, text, thinking):
            return True
        return super().save_text(message, text, thinking)

    def end(self, answer: AnswerEnd) -> bool:
        """See `Store.end`."""
        return (self._memory is not None and self._memory.end(answer)) or super().end(answer)

    def save_drafts(self, changed: Mapping[str | None, Draft]) -> None:
        """See `Store.save_drafts`; what is typed in a temporary conversation is not kept."""
        super().save_drafts({place: draft for place, draft in changed.items() if not is_temporary(place)})

    def purge(self, conversations: Sequence[str]) -> int:
        """See `Store.purge`."""
        own = [one for one in conversations if is_temporary(one)]
        gone = self.aside.purge(own) if own else 0
        return gone + super().purge([one for one in conversations if not is_temporary(one)])

    def purge_messages(self) -> int:
        """See `Store.purge_messages`."""
        return super().purge_messages() + (0 if self._memory is None else self._memory.purge_messages())

    def close(self) -> None:
        """End both."""
        if self._memory is not None:
            self._memory.close()
        super().close()


def _marked(value: object) -> object:
    if isinstance(value, Conversation):
        return _marked_conversation(value)
    if isinstance(value, Thread):
        return Thread(_marked_conversation(value.conversation), value.messages)
    return value


def _marked_conversation(conversation: Conversation) -> Conversation:
    return msgspec.structs.replace(conversation, temporary=True)
