"""Errors that are meant to be shown to the user."""

from __future__ import annotations


class VrambleError(Exception):
    """A failure that has a plain sentence and, where there is one, a next step.

    Anything else that is raised is a bug and goes to the crash report.

    Args:
        code: Stable kebab-case word for tests, logs and translations, such as ``not-gguf``.
        message: One sentence for the user: what happened, without blame.
        next_step: One sentence: what the user can do now. Empty when there is nothing to do.
        detail: Technical lines that fold out (log tail, path, numbers). Never a token or a password.
    """

    def __init__(self, code: str, message: str, next_step: str = "", detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.next_step = next_step
        self.detail = detail

    @property
    def sentence(self) -> str:
        """Message and next step as one line, as the command line prints it."""
        return f"{self.message} {self.next_step}".strip()
