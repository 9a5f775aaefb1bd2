"""How models mark their thoughts, and which of these marks are tokens that are never shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Tags:
    """A thought in brackets."""

    open: str
    close: str


@dataclass(frozen=True)
class Channels:
    """OpenAI's harmony format: messages with a header, one channel of which is the answer."""

    start: str = "<|start|>"
    channel: str = "<|channel|>"
    message: str = "<|message|>"
    end: str = "<|end|>"

    def begin(self, channel: str) -> str:
        """The header of a message, behind the role."""
        return f"{self.channel}{channel}{self.message}"

    @property
    def to_answer(self) -> str:
        """From the middle of a thought to the beginning of the answer."""
        return f"{self.end}{self.start}assistant{self.begin(ANSWER_CHANNEL)}"


ANSWER_CHANNEL = "final"
THOUGHT_CHANNEL = "analysis"

PAIRS = (
    Tags("<think>", "</think>"),  # DeepSeek R1, Qwen 3, GLM 4.5, SmolLM3 and most others
    Tags("<thinking>", "</thinking>"),
    Tags("<thought>", "</thought>"),
    Tags("<reasoning>", "</reasoning>"),
    Tags("<reason>", "</reason>"),
    Tags("<seed:think>", "</seed:think>"),  # Seed-OSS
    Tags("[THINK]", "[/THINK]"),  # Magistral
    Tags("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A Reasoning
    Tags("<|begin_of_thought|>", "<|end_of_thought|>"),  # OpenThinker
    Tags("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    Tags("<|channel>thought", "<channel|>"),  # Gemma 4
    Tags("<unused94>thought", "<unused95>"),  # MedGemma
    Tags("\u25c1think\u25b7", "\u25c1/think\u25b7"),  # Kimi-VL
)
"""Tags of the model families; the comment names who uses them."""

_FIRST_MARK, _HEADER_MARKS = 0xDC00, 0xDD00
"""Marks are lone surrogates: they never come out of UTF-8, so no text of a model is taken for one."""


class TokenTexts(Protocol):
    """What is asked of a vocabulary."""

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Tokens of a text."""

    def text(self, token: int) -> str:
        """The text of a token."""

    def piece(self, token: int) -> bytes | None:
        """Its shown bytes."""


@dataclass(frozen=True)
class ThoughtMarks:
    """The tags of one vocabulary. Where a tag, or a part of it, is a token that is never shown, a mark stands for it.

    Attributes:
        pairs: `PAIRS`, with marks.
        channels: Harmony's marks; None for a vocabulary without them.
        of_token: Token -> its mark.
    """

    pairs: tuple[Tags, ...] = PAIRS
    channels: Channels | None = None
    of_token: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, vocabulary: TokenTexts) -> ThoughtMarks:
        """Find the tags among the tokens."""
        brackets, headers = _Marker(vocabulary), _Marker(vocabulary, begin=_HEADER_MARKS, shown_too=True)
        pairs = tuple(Tags(brackets.marked(pair.open), brackets.marked(pair.close)) for pair in PAIRS)
        plain = Channels()
        marked = Channels(**{name: headers.marked(getattr(plain, name)) for name in Channels.__annotations__})
        if plain.channel == marked.channel or plain.message == marked.message:
            return cls(pairs, None, brackets.of_token)
        return cls(pairs, marked, {**brackets.of_token, **headers.of_token})

    def spelled(self, text: str, vocabulary: TokenTexts) -> str:
        """``text`` with the texts of the tokens in place of their marks."""
        for token, mark in self.of_token.items():
            text = text.replace(mark, vocabulary.text(token))
        return text

    def plain(self, text: str) -> str:
        """``text`` without marks: one that is left stands for a token that is not shown."""
        return text if text.isascii() else "".join(char for char in text if not 0xD800 <= ord(char) < 0xE000)


class _Marker:
    """Makes marks.

    Args:
        begin: The first of them.
        shown_too: Tokens that are shown get marks as well: llama.cpp shows most of harmony's.
    """

    def __init__(self, vocabulary: TokenTexts, begin: int = _FIRST_MARK, *, shown_too: bool = False) -> None:
        self._vocabulary, self._begin, self._shown_too = vocabulary, begin, shown_too
        self.of_token: dict[int, str] = {}

    def marked(self, tag: str) -> str:
        for token in self._vocabulary.tokenize(tag, special=True):
            text = self._vocabulary.text(token)
            wanted = text == tag if self._shown_too else not self._vocabulary.piece(token)
            if len(text) > 1 and text in tag and wanted:
                mark = self.of_token.setdefault(token, chr(self._begin + len(self.of_token)))
                tag = tag.replace(text, mark)
        return tag
