"""The program's own words inside the transcript, translated once by the view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.chat.records import Status
from ui.chat.transcript.row import Row


@dataclass(frozen=True)
class Words:
    """Sentences and labels. ``tokens`` has a place for a number, ``speed`` for one with a decimal."""

    no_answer: str
    stopped: str
    preparing: str
    tokens: str
    speed: str

    def note(self, row: Row) -> str:
        """What the foot of a message says about how it ended."""
        return self.stopped if row.status is Status.STOPPED else ""

    def figures(self, row: Row) -> str:
        """Tokens and speed of an answer, empty when they are not known."""
        stats = row.stats
        if stats is None or not stats.generated_tokens:
            return ""
        figures = [self.tokens.format(f"{stats.generated_tokens:,}")]
        if stats.decode_tps > 0:
            figures.append(self.speed.format(f"{stats.decode_tps:,.1f}"))
        return " · ".join(figures)

    def foot(self, row: Row) -> str:
        """The whole line under a message."""
        version = f"{row.version}/{row.versions}" if row.versions > 1 else ""
        return " · ".join(word for word in (version, self.note(row), self.figures(row)) if word)


def make_words(tr: Callable[[str], str]) -> Words:
    """The words in the language of ``tr``."""
    return Words(
        no_answer=tr("No answer text"),
        stopped=tr("Stopped"),
        preparing=tr("Preparing the rest of this message"),
        tokens=tr("{} tokens"),
        speed=tr("{} tok/s"),
    )
