"""Conversations of files into the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from engine.chat.exchanging import Taken
from engine.chat.portable import PortableConversation
from engine.chat_files.sources import conversations_in

MOST_REASONS: Final = 20


class Imported(NamedTuple):
    """What became of a file's conversations; ``reasons`` says why some were skipped."""

    new: int = 0
    merged: int = 0
    known: int = 0
    skipped: int = 0
    reasons: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """Everything that was met."""
        return self.new + self.merged + self.known + self.skipped

    def plus(self, other: Imported) -> Imported:
        """Both together."""
        return Imported(
            self.new + other.new,
            self.merged + other.merged,
            self.known + other.known,
            self.skipped + other.skipped,
            (*self.reasons, *other.reasons)[:MOST_REASONS],
        )


def take_file(path: Path, take: Callable[[PortableConversation], Taken]) -> Imported:
    """Give each conversation in ``path`` to ``take``. One that is bad keeps no other out.

    Raises:
        VrambleError: Nothing of the file can be read, or the store cannot write.
    """
    done = Imported()
    for given in conversations_in(path):
        done = done.plus(taken_as(None if isinstance(given, str) else take(given), given))
    return done


def taken_as(taken: Taken | None, given: PortableConversation | str) -> Imported:
    """What one conversation, or the sentence about one, adds."""
    if isinstance(given, str):
        return Imported(skipped=1, reasons=(given,))
    if taken is Taken.NEW:
        return Imported(new=1)
    if taken is Taken.MERGED:
        return Imported(merged=1)
    if taken is Taken.KNOWN:
        return Imported(known=1)
    return Imported(skipped=1, reasons=(f"{given.title or 'A conversation'}: it has no messages.",))
