"""What the program says below the words of a message, or in their place."""

from __future__ import annotations

from engine.chat.records import Role, Status
from ui.chat.transcript.blocks import PARAGRAPH_GAP, Part
from ui.chat.transcript.notes import Note, NoteKind
from ui.chat.transcript.row import Row, is_open
from ui.chat.transcript.words import Words


def notes_of(row: Row, words: Words, *, whole: bool) -> list[Part]:
    """At most one note. ``whole``: all of the message was read."""
    empty = not row.text.strip()
    above = 0.0 if empty and not row.thinking else PARAGRAPH_GAP
    if not whole:
        return [Note(text=words.preparing, kind=NoteKind.PROGRESS, gap=PARAGRAPH_GAP)]
    if row.error:
        kind = NoteKind.FAILED if row.status is Status.FAILED else NoteKind.CUT
        return [Note(text=row.error, kind=kind, gap=above)]
    if not empty or not (row.role is Role.ASSISTANT or row.stands_for):
        return []
    if is_open(row):
        idle = bool(row.thinking) and not row.progress
        return [] if idle else [Note(text=row.progress, kind=NoteKind.PROGRESS, gap=above)]
    nothing = words.nothing_instead if row.stands_for else words.no_answer
    return [Note(text=nothing, kind=NoteKind.QUIET, gap=above)] if row.status is Status.DONE else []
