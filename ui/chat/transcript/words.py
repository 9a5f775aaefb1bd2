"""The program's own words inside the transcript, translated once."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from engine.chat.records import Status
from ui.chat.transcript.row import Row, is_thinking
from ui.chat.transcript.versions import words_of


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("TranscriptView", text)


@dataclass(frozen=True)
class Words:
    """Sentences and labels. ``tokens``, ``speed`` and ``guessed`` have a place for a number, ``thinking`` and
    ``thought`` for a time.
    """

    no_answer: str
    nothing_instead: str
    thinking: str
    thought: str
    thought_short: str
    minutes: str
    seconds: str
    stopped: str
    preparing: str
    one_token: str
    tokens: str
    speed: str
    guessed: str

    def note(self, row: Row) -> str:
        """What the foot of a message says about how it ended."""
        return self.stopped if row.status is Status.STOPPED else ""

    def thought_line(self, row: Row) -> str:
        """How long the model thought, or thinks already; empty when it did not."""
        if not row.thinking:
            return ""
        if row.thought_s is None or (row.thought_s < 0.05 and not is_thinking(row)):
            return self.thought_short
        return (self.thinking if is_thinking(row) else self.thought).format(self._time(row.thought_s))

    def _time(self, seconds: float) -> str:
        if seconds < 59.95:
            return self.seconds.format(f"{seconds:.1f}")
        minutes, rest = divmod(round(seconds), 60)
        return self.minutes.format(minutes, rest)

    def figures(self, row: Row) -> str:
        """Tokens and speed of an answer, empty when they are not known."""
        stats = row.stats
        if stats is None or not stats.generated_tokens:
            return ""
        count = stats.generated_tokens
        figures = [self.one_token if count == 1 else self.tokens.format(f"{count:,}")]
        if stats.decode_tps > 0:
            figures.append(self.speed.format(f"{stats.decode_tps:,.1f}"))
        if stats.accepted_rate is not None:
            figures.append(self.guessed.format(round(100 * stats.accepted_rate)))
        return " · ".join(figures)

    def foot(self, row: Row, *, version: bool = True) -> str:
        """The line under a message. ``version``: it begins with which of several versions this is."""
        which = words_of(row) if version and row.versions > 1 else ""
        return " · ".join(word for word in (which, self.note(row), self.figures(row)) if word)


def make_words() -> Words:
    """In the language of the program."""
    return Words(
        no_answer=tr("No answer text"),
        nothing_instead=tr("The model gets nothing in their place."),
        thinking=tr("Thinking… {}"),
        thought=tr("Thought for {}"),
        thought_short=tr("Thought"),
        minutes=tr("{} min {} s"),
        seconds=tr("{} s"),
        stopped=tr("Stopped"),
        preparing=tr("Preparing the rest of this message"),
        one_token=tr("1 token"),
        tokens=tr("{} tokens"),
        speed=tr("{} tok/s"),
        guessed=tr("{} % of guesses right"),
    )
