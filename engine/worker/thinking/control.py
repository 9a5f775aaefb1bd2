"""The thought of an answer while it is written: its length, its end, and the grammar that waits for the answer."""

from __future__ import annotations

from engine.protocol.types import Thinking
from engine.worker.choosing import Chooser
from engine.worker.model import LoadedModel
from engine.worker.thinking.parser import Parser


class ThoughtControl:
    """Asked before each token while a thought runs or can still open; then no more (`active`).

    Args:
        template_thinks: The model's template knows thoughts, so a grammar lets the model open one.
    """

    def __init__(
        self, loaded: LoadedModel, parser: Parser, chooser: Chooser, thinking: Thinking, template_thinks: bool
    ) -> None:
        self._loaded, self._parser, self._chooser = loaded, parser, chooser
        self._budget = 0 if thinking.enabled is False else thinking.budget
        self._before = 0
        """Tokens generated when the thought began, those of its tag included."""

        self._was_thinking = parser.thinking
        self.counted = 0
        self.active = not parser.answering
        may_open = template_thinks and thinking.enabled is not False
        chooser.constrain(not parser.thinking, self._openers() if self.active and may_open else ())

    def step(self, generated: int, *, may_write: bool) -> list[int]:
        """Tokens to write now because the budget is spent, else none. ``may_write``: no character is cut here."""
        parser = self._parser
        if parser.thinking:
            if not self._was_thinking:
                self._was_thinking, self._before = True, generated
                self._chooser.constrain(False)
            self.counted = generated - self._before
            if self._budget is not None and self.counted >= self._budget and may_write:
                return self._closing()
            return []
        if parser.answering:
            if self._was_thinking:
                self.counted = generated - self._before
            self.active = False
            self._chooser.constrain(True)
        return []

    def _closing(self) -> list[int]:
        marks, vocabulary = self._loaded.marks, self._loaded.vocabulary
        closing = marks.spelled(self._parser.closing, vocabulary)
        tokens = vocabulary.tokenize_on(closing, special=True) if closing else []
        self._chooser.remember(tokens)
        return tokens

    def _openers(self) -> list[int]:
        """Tokens that open a thought by themselves."""
        marks, vocabulary = self._loaded.marks, self._loaded.vocabulary
        texts = [marks.channels.channel] if marks.channels else [pair.open for pair in marks.pairs]
        found = [vocabulary.tokenize_on(marks.spelled(text, vocabulary), special=True) for text in texts]
        return [tokens[0] for tokens in found if len(tokens) == 1]
