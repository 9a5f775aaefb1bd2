"""What is happening with an answer before its first token."""

from __future__ import annotations

from engine.protocol.frames import Progress

WAITING = "Waiting for the model"
STOPPING = "Stopping"
LOADING = "Loading the model"
BEHIND = {
    "turn": "Waiting until another answer has ended",
    "room": "Waiting for room in the context, which another answer fills",
}
"""What is waited for where several are asked at once, by the stage of the progress."""


def words_for(progress: Progress) -> str:
    """A line for the message."""
    if progress.stage == "load":
        percent = 100 * progress.done // progress.total if progress.total > 0 else 0
        return f"Loading the model: {min(max(percent, 0), 100)} %"
    if progress.stage == "prompt" and progress.total > 0:
        return f"Reading the prompt: {progress.done} of {progress.total} tokens"
    return BEHIND.get(progress.stage, WAITING)
