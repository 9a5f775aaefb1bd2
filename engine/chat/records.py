"""What a conversation is, as values. The store gives them out; nobody changes them in place."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.protocol.types import GenerationStats, Sampling, Thinking

UNTITLED = "New chat"
"""Title of a conversation whose first message leaves nothing to show."""


TITLED_BY_USER = "user"
TITLED_BY_MODEL = "model"


class Role(StrEnum):
    """Who speaks. Stored by name."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    OTHER = "other"
    """A stored name this version does not know; `Message.role_name` has it. Never in a prompt."""


class Status(StrEnum):
    """How far a message got. Stored by name."""

    DONE = "done"
    STREAMING = "streaming"
    STOPPED = "stopped"
    """The user stopped it, or the program ended in mid-answer."""
    FAILED = "failed"
    """`Message.error` says why; the text that came before is kept."""


class PartKind(StrEnum):
    """What a part of a message holds. Text and thoughts are written so far."""

    TEXT = "text"
    THINKING = "thinking"
    ATTACHMENT = "attachment"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SUMMARY = "summary"
    """What stands for all messages before this one where the context is full: nothing if it is empty. No part of what
    was said.
    """


class Part(msgspec.Struct, frozen=True):
    """One piece of a message. ``kind`` is the stored name: a `PartKind` or one this version does not know."""

    kind: str
    content: str


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is not sent yet: what was typed, and large texts that were pasted to go with it."""

    text: str = ""
    pasted: tuple[str, ...] = ()

    @property
    def blank(self) -> bool:
        """Whether nothing would be lost with it."""
        return not any(piece.strip() for piece in (self.text, *self.pasted))


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer was made with.

    Attributes:
        sampling: Sampling parameters of the request.
        max_tokens: Limit of the request; None up to the end of the context.
        n_ctx: Context length of the loaded model in tokens; None when it was not known.
        system_prompt: What stood before the conversation.
        thinking: How much the model might think.
        prefill: How the answer was begun for the model.
        begun_at: Id of the message that the prompt began with, behind a summary of those before; "" without one.
    """

    sampling: Sampling = Sampling()
    max_tokens: int | None = None
    n_ctx: int | None = None
    system_prompt: str = ""
    thinking: Thinking = Thinking()
    prefill: str = ""
    begun_at: str = ""


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation: a tree of messages and the tip of the branch that is shown.

    Times are seconds since 1970 (UTC). ``tip`` is None while there is no message. ``settings`` is JSON of what its
    answers are made with, None when nothing was chosen for it.

    Attributes:
        pinned: Since when it stands at the top; None: it does not.
        archived: Since when it is out of the way; None: it is not.
        folder: Id of its folder; None: in none.
        place: Its place by hand in the folder or among the pinned ones; None: by time, before those with a place.
        titled: Who gave the title: `TITLED_BY_USER`, `TITLED_BY_MODEL`, None for its first message.
        temporary: It is never written to a disk.
    """

    id: str
    title: str
    created: float
    updated: float
    tip: str | None = None
    settings: str | None = None
    pinned: float | None = None
    archived: float | None = None
    folder: str | None = None
    place: float | None = None
    titled: str | None = None
    temporary: bool = False


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of conversations; ``folded``: its conversations are not listed."""

    id: str
    title: str
    place: float = 0.0
    folded: bool = False


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the tree.

    Attributes:
        parent: The message it answers or follows; None at the root.
        role_name: The role as it is stored; differs from ``role`` only for `Role.OTHER`.
        text: All text parts joined.
        model: Name of the model that wrote it; None for the user's messages.
        error: Sentence for the user; set for `Status.FAILED` and for answers that were cut.
        finish: The engine's reason for the end, by name (`engine.protocol.types.FinishReason`).
        thought_s: How long the model thought before the answer, seconds; None when it did not, or nobody measured.
        problem: What of the stored row could not be read, as a sentence; empty when all is well.
        version: 1 for the first of the messages that share a parent and a role.
        versions: How many share them.
    """

    id: str
    conversation: str
    parent: str | None
    role: Role
    role_name: str
    text: str
    status: Status
    created: float
    model: str | None = None
    settings: RunSettings | None = None
    stats: GenerationStats | None = None
    error: str | None = None
    finish: str | None = None
    parts: tuple[Part, ...] = ()
    problem: str = ""
    version: int = 1
    versions: int = 1
    thought_s: float | None = None

    @property
    def thinking(self) -> str:
        """What the model thought before the answer; never part of ``text``."""
        return "".join(part.content for part in self.parts if part.kind == PartKind.THINKING)

    @property
    def summary(self) -> str:
        """What the model made of all messages before this one; "" where it was not asked."""
        return "".join(part.content for part in self.parts if part.kind == PartKind.SUMMARY)

    @property
    def cut(self) -> bool:
        """Whether all messages before this one can be left out with nothing in their place: the summary was removed."""
        return not self.summary and any(part.kind == PartKind.SUMMARY for part in self.parts)


class Thread(msgspec.Struct, frozen=True):
    """A conversation with the messages of its shown branch, root first."""

    conversation: Conversation
    messages: tuple[Message, ...]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A user message about to be stored. The caller makes the ids, so that it can show rows at once."""

    id: str
    text: str


class AnswerStart(msgspec.Struct, frozen=True, kw_only=True):
    """An answer about to be generated: stored empty, as `Status.STREAMING`."""

    id: str
    model: str | None = None
    settings: RunSettings | None = None


class AnswerEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How an answer ended; replaces what was saved while it streamed. ``thinking`` is no part of ``text``."""

    id: str
    text: str
    status: Status
    model: str | None = None
    settings: RunSettings | None = None
    stats: GenerationStats | None = None
    error: str | None = None
    finish: str | None = None
    thinking: str = ""
    thought_s: float | None = None
