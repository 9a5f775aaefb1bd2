"""What the transcript shows of a message."""

from __future__ import annotations

import msgspec

from engine.chat.records import Message, Role, RunSettings, Status
from engine.protocol.types import FinishReason, GenerationStats

YOU = "You"
UNNAMED_MODEL = "Model"


class MessageRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the transcript.

    Attributes:
        thinking: What the model thought before the answer; never part of ``text``.
        thought_s: How long it thought, seconds; while it does, so far. None when it was not measured.
        author: "You", the name of the model that wrote it, or a stored role that is not known.
        error: Sentence to show with the message: why it failed or was cut, or what of it is damaged.
        version: 1 for the first of the messages that could stand here.
        versions: How many there are.
        progress: What is happening before the first token, else empty.
        created: Seconds since 1970.
        settings: What the answer was made with, where that is known.
        finish: The engine's reason for the end, by name (`engine.protocol.types.FinishReason`).
        summary: What the model made of all messages before this one; "" where it was not asked.
        cut: All messages before this one can be left out with nothing in their place.
        stands_for: It is no message but what stands for so many at the beginning; 0 for a message.
    """

    id: str
    role: Role
    text: str
    status: Status
    author: str
    stats: GenerationStats | None = None
    error: str | None = None
    version: int = 1
    versions: int = 1
    progress: str = ""
    created: float = 0.0
    finish: str | None = None
    thinking: str = ""
    thought_s: float | None = None
    settings: RunSettings | None = None
    summary: str = ""
    cut: bool = False
    stands_for: int = 0

    @property
    def may_begin(self) -> bool:
        """Whether a prompt may begin with this message though others come before it."""
        return self.cut or bool(self.summary)


def row_of(message: Message) -> MessageRow:
    """The row of a stored message."""
    return MessageRow(
        id=message.id,
        role=message.role,
        text=message.text,
        status=message.status,
        author=_author(message),
        stats=message.stats,
        error=message.error or message.problem or None,
        version=message.version,
        versions=message.versions,
        created=message.created,
        finish=message.finish,
        thinking=message.thinking,
        thought_s=message.thought_s,
        settings=message.settings,
        summary=message.summary,
        cut=message.cut,
    )


def can_continue(row: MessageRow) -> bool:
    """Whether the answer ended before the model ended it, so that it could go on."""
    if row.role is not Role.ASSISTANT or not (row.text.strip() or row.thinking.strip()):
        return False
    return row.status in (Status.STOPPED, Status.FAILED) or row.finish in (FinishReason.LENGTH, FinishReason.CONTEXT)


def _author(message: Message) -> str:
    if message.role is Role.USER:
        return YOU
    if message.role is Role.ASSISTANT:
        return message.model or UNNAMED_MODEL
    return message.role_name
