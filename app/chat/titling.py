"""Titles by the model itself, once nobody waits for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import msgspec
from PySide6.QtCore import QObject

from app.chat.database import ChatDatabase
from app.settings.store import SettingsStore
from engine.chat.records import AnswerEnd, Conversation, Message, Role, Status, Thread
from engine.chat.titles import make_title
from engine.errors import VrambleError
from engine.protocol.frames import Delta, Failed, Finished, Generate
from engine.protocol.types import ChatMessage, Sampling, Thinking

ATTEMPTS: Final = 3
LOOKED_AT: Final = 1500
"""Characters of question and answer that the model reads again."""
TOKENS: Final = 32
MOST_WORDS: Final = 10
MOST_CHARACTERS: Final = 70
WISH: Final = (
    "Give this conversation a title of two to six words, in the language of my first message."
    " Write only the title, without quotation marks."
)
_LEAD = re.compile(r"^(?:the )?(?:title|titel|titre|título|标题|タイトル|заголовок)\s*[:：]\s*", re.IGNORECASE)
_AROUND: Final = " \t\"'“”„«»‘’「」『』《》*_#`"
_ENDS: Final = ".。!！:：,，;；"


class TitleSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the loaded model gives new conversations their titles."""

    by_model: bool = True


class Look(Protocol):
    """`WorkerService.look`."""

    def __call__(
        self,
        request: Generate,
        done: Callable[[Finished | Failed], None],
        on_delta: Callable[[Delta], None] = ...,
    ) -> int:
        """Write what nobody sees, when nothing else is to be done."""


def title_in(text: str) -> str:
    """The title in what a model wrote; "" when that is none."""
    lines = [line for line in text.splitlines() if line.strip(_AROUND)]
    if not lines:
        return ""
    line = _LEAD.sub("", lines[0].strip(_AROUND)).strip(_AROUND).rstrip(_ENDS).strip(_AROUND)
    too_long = len(line) > MOST_CHARACTERS or len(line.split()) > MOST_WORDS
    return "" if too_long or line.casefold() in WISH.casefold() else make_title(line)


def request_for(messages: Sequence[Message]) -> Generate | None:
    """What the model is asked; None when question or answer are not there."""
    question = next((one.text for one in messages if one.role is Role.USER), "")
    answer = next((one.text for one in messages if one.role is Role.ASSISTANT and one.text.strip()), "")
    if not question.strip() or not answer:
        return None
    turns = (
        ChatMessage(role="user", content=question[:LOOKED_AT]),
        ChatMessage(role="assistant", content=answer[:LOOKED_AT]),
        ChatMessage(role="user", content=WISH),
    )
    return Generate(
        id=0,
        messages=turns,
        sampling=Sampling(temperature=0.0),
        max_tokens=TOKENS,
        thinking=Thinking(enabled=False),
        temporary=True,
    )


class Titling(QObject):
    """Asks for a title after an answer, while the model is idle. One that the user gave is never touched.

    Args:
        since: Conversations that are older than this keep the titles that they have.

    Attributes:
        look: How the model is asked; None: there is nobody to ask.
    """

    def __init__(
        self,
        database: ChatDatabase,
        settings: SettingsStore,
        find: Callable[[str], Conversation | None],
        keep: Callable[[Conversation], None],
        since: float,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._since = since
        self._database, self._settings, self._find, self._keep = database, settings, find, keep
        self._attempts: dict[str, int] = {}
        self.look: Look | None = None

    def answered(self, end: AnswerEnd, conversation: str) -> None:
        """An answer ended."""
        record = self._find(conversation)
        if record is None or record.titled is not None or record.created < self._since:
            return
        attempts = self._attempts.get(conversation, 0)
        is_wanted = end.status is Status.DONE and self.look is not None and attempts < ATTEMPTS
        if not is_wanted or not self._settings.get(TitleSettings).by_model:
            return
        self._attempts[conversation] = attempts + 1
        self._database.call(lambda store: store.thread(conversation), self._ask)

    def _ask(self, result: Thread | VrambleError | None) -> None:
        request = request_for(result.messages) if isinstance(result, Thread) else None
        if request is None or not isinstance(result, Thread) or self.look is None:
            return
        conversation, written = result.conversation.id, [""]

        def take(delta: Delta) -> None:
            written[0] += delta.text

        def done(event: Finished | Failed) -> None:
            title = title_in(written[0]) if isinstance(event, Finished) else ""
            if title:
                self._database.call(lambda store: store.entitle(conversation, title), self._take)

        self.look(request, done, take)

    def _take(self, result: Conversation | VrambleError | None) -> None:
        """A title that cannot be saved is missed by nobody."""
        if isinstance(result, Conversation):
            self._keep(result)
