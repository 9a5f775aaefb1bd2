"""What the chat tells the user beside the transcript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from app.notices import Action, Notice, Severity, from_error
from engine.errors import VrambleError

BUSY: Final = "chat-busy"
NO_MODEL: Final = "chat-no-model"
UNSAVED: Final = "chat-unsaved"
DRAFT: Final = "chat-draft"
DELETED: Final = "chat-deleted"
OPEN: Final = "chat-open"
SUMMARY: Final = "chat-summary"


def busy_elsewhere(stop: Callable[[], None]) -> Notice:
    """Another model cannot be loaded for an answer while others are written."""
    return Notice(
        BUSY,
        Severity.INFO,
        "An answer in another conversation is still being written, and another model would end it. Try again when it"
        " has ended.",
        actions=(Action("Stop it", stop),),
        timeout_ms=15_000,
    )


def no_model(reason: VrambleError, choose: Callable[[], None]) -> Notice:
    """Nothing can answer."""
    action = Action("Choose a model", choose)
    return Notice(NO_MODEL, Severity.WARN, reason.sentence, reason.detail, (action,))


def remark(error: VrambleError) -> Notice:
    """Something about the database that is good to know at the start."""
    return Notice(f"chat-{error.code}", Severity.WARN, error.sentence, error.detail)


def not_saved(error: VrambleError) -> Notice:
    """What is on the screen is not on the disk."""
    return from_error(UNSAVED, error)


def draft_not_saved(error: VrambleError) -> Notice:
    """What is typed would be lost with the window. Less urgent than words that were sent."""
    return Notice(DRAFT, Severity.WARN, f"What is typed is not saved. {error.sentence}", error.detail)


def messages_deleted(count: int, undo: Callable[[], None]) -> Notice:
    """Messages are gone, with a way back."""
    text = "1 message was deleted." if count == 1 else f"{count} messages were deleted."
    return Notice(DELETED, Severity.INFO, text, actions=(Action("Undo", undo),), timeout_ms=12_000)


def summary_removed(undo: Callable[[], None]) -> Notice:
    """Nothing stands for the oldest turns any more, with a way back."""
    text = "The summary was removed: the model gets nothing in place of the earlier messages."
    return Notice(SUMMARY, Severity.INFO, text, actions=(Action("Undo", undo),), timeout_ms=12_000)


def summary_kept(reason: str) -> Notice:
    """There is no other summary."""
    return Notice(SUMMARY, Severity.WARN, f"{reason} What is there stays.")


def not_opened(error: VrambleError) -> Notice:
    """A conversation or the list could not be read or changed."""
    return from_error(OPEN, error)
