"""From tokens to the text that is shown: characters, end of the turn, thought and answer, stop strings, frames."""

from __future__ import annotations

from engine.worker.model import LoadedModel
from engine.worker.output import DeltaWriter
from engine.worker.stops import StopMatcher
from engine.worker.thinking.parser import Parser
from engine.worker.utf8 import Utf8Stream


class AnswerText:
    """The text of one answer. Stop strings of the request end the answer only; in a thought they are just text.

    The usual token, in plain ASCII and in the answer of a request without stop strings, takes a short way: see
    `engine.worker.picker.Picker` for why that matters.
    """

    def __init__(self, loaded: LoadedModel, parser: Parser, stop: tuple[str, ...], deltas: DeltaWriter) -> None:
        self._marks, self._mark_of = loaded.marks, loaded.marks.of_token
        self._parser, self._deltas = parser, deltas
        self._characters = Utf8Stream()
        self._turn = StopMatcher(loaded.stops)
        self._stops = StopMatcher(stop)
        self._whole = loaded.vocabulary.texts
        self._unwatched = not (loaded.stops or any(stop))
        self._short = False
        self.over = False
        """Whether the answer ended by what was written."""

    @property
    def between_characters(self) -> bool:
        """Whether the last character is complete."""
        return not self._characters.cut

    def add(self, piece: bytes, token: int, count: int, now: float) -> None:
        """Take one token. ``count``: tokens generated so far; ``now``: monotonic seconds."""
        if self._short and (text := self._whole.get(token)) is not None:
            self._deltas.add(text, count, now)
            return
        if piece:
            text = self._characters.feed(piece)
        elif token in self._mark_of:
            text = self._characters.flush() + self._mark_of[token]
        else:
            text = ""
        thought, answer = self._parser.feed(self._turn.feed(text))
        if self._mark_of and not (answer.isascii() and thought.isascii()):
            thought, answer = self._marks.plain(thought), self._marks.plain(answer)
        self._deltas.add(self._stops.feed(answer), count, now, thought)
        self.over = self._turn.matched or self._stops.matched or self._parser.over
        self._short = self._unwatched and self._parser.settled and not self._characters.cut

    def close(self, count: int) -> None:
        """Send what was held back."""
        text = "" if self.over else self._turn.feed(self._characters.flush()) + self._turn.flush()
        thought, answer = self._parser.feed(text)
        last = self._parser.flush()
        shown = self._stops.feed(self._marks.plain(answer + last.answer))
        if not self._stops.matched:
            shown += self._stops.flush()
        self._deltas.flush(shown, count, self._marks.plain(thought + last.thought))
