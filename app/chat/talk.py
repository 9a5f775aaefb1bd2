"""A conversation in a terminal: its turns, and how the next one is answered."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, replace
from typing import Self

import msgspec

from app.chat.sampling_flags import MAX_SEED, read_thinking_flags
from app.chat.screen import Screen
from engine.client.blocking import BlockingWorker
from engine.client.calls import generate
from engine.protocol.frames import Delta, Finished
from engine.protocol.types import ChatMessage, Sampling, Thinking


@dataclass(frozen=True)
class Manner:
    """How answers are given."""

    system: str = ""
    sampling: Sampling = field(default_factory=Sampling)
    thinking: Thinking = field(default_factory=Thinking)
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    prefill: str = ""

    @classmethod
    def of(cls, arguments: argparse.Namespace, sampling: Sampling) -> Self:
        """As the command line says."""
        return cls(
            system=arguments.system or "",
            sampling=sampling,
            thinking=read_thinking_flags(arguments),
            max_tokens=arguments.max_tokens,
            stop=tuple(arguments.stop),
            prefill=arguments.prefill,
        )

    def another(self, attempt: int) -> Manner:
        """The same for a new try: with a fixed seed it would give the same answer again."""
        seed = self.sampling.seed
        if not attempt or seed is None:
            return self
        return replace(self, sampling=msgspec.structs.replace(self.sampling, seed=(seed + attempt) % (MAX_SEED + 1)))


@dataclass(frozen=True)
class Turn:
    """A question and its answer, with the beginning that was given for it."""

    question: str
    thinking: str
    text: str
    end: Finished

    @property
    def messages(self) -> tuple[ChatMessage, ChatMessage]:
        """Both, as the model sees them."""
        answer = ChatMessage(role="assistant", content=self.text, thinking=self.thinking)
        return ChatMessage(role="user", content=self.question), answer


@dataclass
class Talk:
    """The turns so far, and what is asked next."""

    manner: Manner
    turns: list[Turn] = field(default_factory=list)
    asked: str = ""
    """The last question, also where it was not answered."""
    attempt: int = 0

    def ask(self, worker: BlockingWorker, question: str, *, stream: bool) -> Turn:
        """Answer a question and keep both.

        Raises:
            VrambleError: The answer failed, or the worker died; nothing is kept then.
        """
        self.asked, self.attempt = question, 0
        turn = answer(worker, self.manner, self.messages(), question, stream=stream)
        self.turns.append(turn)
        return turn

    def ask_again(self, worker: BlockingWorker) -> Turn:
        """Answer the last question anew; its answer is replaced once there is another.

        Raises:
            VrambleError: As for `ask`.
        """
        replaced = bool(self.turns) and self.turns[-1].question == self.asked
        kept = self.turns[:-1] if replaced else self.turns[:]
        self.attempt += 1
        turn = answer(worker, self.manner.another(self.attempt), self.messages(kept), self.asked, stream=True)
        self.turns = [*kept, turn]
        return turn

    def messages(self, turns: list[Turn] | None = None) -> list[ChatMessage]:
        """What comes before the next question."""
        first = [ChatMessage(role="system", content=self.manner.system)] if self.manner.system else []
        chosen = self.turns if turns is None else turns
        return [*first, *(message for turn in chosen for message in turn.messages)]

    def reset(self) -> None:
        """Begin anew; the manner stays."""
        self.turns.clear()
        self.asked, self.attempt = "", 0


def answer(worker: BlockingWorker, manner: Manner, before: list[ChatMessage], question: str, *, stream: bool) -> Turn:
    """One answer, shown as it comes if ``stream``.

    Raises:
        VrambleError: The answer failed, or the worker died.
    """
    thoughts: list[str] = []
    pieces: list[str] = [manner.prefill]
    screen = Screen(shown=stream)
    screen.show(Delta(id=0, text=manner.prefill))

    def take(delta: Delta) -> None:
        thoughts.append(delta.thinking)
        pieces.append(delta.text)
        screen.show(delta)

    try:
        end = generate(
            worker,
            [*before, ChatMessage(role="user", content=question)],
            manner.sampling,
            manner.max_tokens,
            take,
            stop=manner.stop,
            thinking=manner.thinking,
            prefill=manner.prefill,
            on_progress=screen.prompt,
        )
    finally:
        screen.close()
    return Turn(question, "".join(thoughts), "".join(pieces), end)
