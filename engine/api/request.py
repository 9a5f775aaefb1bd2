"""What an answer is made of: messages in, text and figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from engine.api.keywords import OF_ANSWER, changed
from engine.errors import VrambleError
from engine.protocol.frames import Delta, Failed, Finished, FromWorker, Generate
from engine.protocol.types import ChatMessage, FinishReason, GenerationStats, Sampling

Messages = str | ChatMessage | Sequence[ChatMessage | Mapping[str, str]]
"""A question, or a conversation that ends with one; mappings have the keys ``role`` and ``content``."""

ROLES = ("system", "user", "assistant")


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A whole answer.

    Attributes:
        text: What was answered, without the ``prefill`` it was begun with.
        thinking: What the model thought before.
        reason: Why it ended; ``cancelled`` keeps what had come.
        stats: Its figures.
    """

    text: str
    thinking: str
    reason: FinishReason
    stats: GenerationStats

    def __str__(self) -> str:
        return self.text


class Conversation:
    """Messages of a chat, kept by the program.

    >>> talk = Conversation(system="Answer in one word.")
    >>> talk.ask("Where does light come from at sea?")
    (ChatMessage(role='system', content='Answer in one word.', thinking=''), \
ChatMessage(role='user', content='Where does light come from at sea?', thinking=''))
    """

    def __init__(self, system: str = "", messages: Messages = ()) -> None:
        self.system = system
        self._messages = [*read_messages(messages)]

    @property
    def messages(self) -> tuple[ChatMessage, ...]:
        """All of them, the system prompt first."""
        first = [ChatMessage(role="system", content=self.system)] if self.system else []
        return (*first, *self._messages)

    def ask(self, question: str) -> tuple[ChatMessage, ...]:
        """The messages with ``question`` behind them, which is not kept."""
        return (*self.messages, ChatMessage(role="user", content=question))

    def add(self, question: str, answer: Answer, prefill: str = "") -> None:
        """Keep a question and its answer."""
        text = prefill + answer.text
        self._messages.append(ChatMessage(role="user", content=question))
        self._messages.append(ChatMessage(role="assistant", content=text, thinking=answer.thinking))

    def clear(self) -> None:
        """Forget all but the system prompt."""
        self._messages.clear()


def read_messages(messages: Messages) -> tuple[ChatMessage, ...]:
    """The records that ``messages`` stands for.

    Raises:
        VrambleError: ``bad-argument``.
    """
    if isinstance(messages, str):
        return (ChatMessage(role="user", content=messages),)
    if isinstance(messages, ChatMessage):
        return (messages,)
    return tuple(map(_message, messages))


def _message(given: ChatMessage | Mapping[str, str]) -> ChatMessage:
    try:
        message = given if isinstance(given, ChatMessage) else msgspec.convert(dict(given), ChatMessage)
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        raise VrambleError("bad-argument", f"{given!r} is no message: {error}.") from error
    if message.role not in ROLES:
        raise VrambleError(
            "bad-argument", f"A message has the role {message.role!r}.", f"Roles are: {', '.join(ROLES)}."
        )
    return message


def generate_request(id_: int, messages: Messages, sampling: Sampling, changes: Mapping[str, Any]) -> Generate:
    """The request for an answer; ``changes`` are `AnswerKeywords`.

    Raises:
        VrambleError: ``bad-argument``, ``empty-prompt``.
    """
    read = read_messages(messages)
    if not any(message.content.strip() for message in read if message.role != "system"):
        raise VrambleError("empty-prompt", "The prompt is empty.", "Give at least one message with text.")
    own = {name: value for name, value in changes.items() if name in OF_ANSWER}
    others = {name: value for name, value in changes.items() if name not in OF_ANSWER}
    if isinstance(own.get("stop"), str):
        own["stop"] = (own["stop"],)
    base = Generate(id=id_, messages=read, sampling=changed(sampling, others))
    return changed(base, own)


class Collector:
    """Puts the events of one answer together."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self.end: Finished | None = None

    def take(self, event: FromWorker) -> Delta | None:
        """Keep an event; gives it back where it brings text.

        Raises:
            VrambleError: The answer failed.
        """
        if isinstance(event, Failed):
            raise VrambleError(event.code, event.message, event.next_step, event.detail)
        if isinstance(event, Finished):
            self.end = event
        if not isinstance(event, Delta):
            return None
        self._texts.append(event.text)
        self._thoughts.append(event.thinking)
        return event

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._texts)

    @property
    def thinking(self) -> str:
        """The thought so far."""
        return "".join(self._thoughts)

    def answer(self) -> Answer:
        """What has come; an answer that was given up counts as cancelled."""
        end = self.end or Finished(id=0, reason=FinishReason.CANCELLED, stats=GenerationStats())
        return Answer(text=self.text, thinking=self.thinking, reason=end.reason, stats=end.stats)
