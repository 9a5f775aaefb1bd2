"""Conversations of files into the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from engine.chat.exchanging import Taken
from engine.chat.portable import PortableConversation
from engine.chat.store import Store
from engine.chat_files.sources import Given, conversations_in

MOST_REASONS: Final = 20
BATCH: Final = 20
"""Conversations that are written in one transaction, at most."""
BATCH_CHARACTERS: Final = 200_000
"""Of text in one transaction, beside its last conversation: some hundredths of a second."""
SHORTEST_REST_S: Final = 0.01
LONGEST_REST_S: Final = 0.2


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


class Progress(NamedTuple):
    """Entries of an import that were taken, out of those known so far; 0 of 0 while the first file is read."""

    done: int
    total: int


def import_files(
    store: Store,
    paths: Iterable[Path],
    report: Callable[[Progress], None] = lambda _progress: None,
    rest: Callable[[float], None] = time.sleep,
) -> Imported:
    """Take each conversation in ``paths``, all or none. One that is bad keeps no other out.

    Between two transactions others have their turn: ``rest`` is given the seconds.

    Raises:
        VrambleError: A file cannot be read, or the store cannot write: nothing was taken.
    """
    done, total = Imported(), 0

    def expect(more: int) -> None:
        nonlocal total
        total += more

    with store.import_run() as mark:
        report(Progress(0, 0))
        given = (one for path in paths for one in conversations_in(path, expect))
        for batch in _batches(given):
            begun = time.monotonic()
            taken = iter(store.take_all([one for one in batch if not isinstance(one, str)], mark))
            for one in batch:
                done = done.plus(taken_as(None if isinstance(one, str) else next(taken), one))
            report(Progress(done.total, max(total, done.total)))
            rest(min(max((time.monotonic() - begun) / 2, SHORTEST_REST_S), LONGEST_REST_S))
    return done


def _batches(given: Iterable[Given]) -> Iterator[list[Given]]:
    batch: list[Given] = []
    size = 0
    for one in given:
        batch.append(one)
        if not isinstance(one, str):
            size += sum(len(part.content) for message in one.messages for part in message.parts)
        if len(batch) == BATCH or size > BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


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
