"""Names for code that is saved as a file."""

from __future__ import annotations

from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound


def file_name(language: str) -> str:
    """What a file with code in ``language`` may be called: ``code.py``; ``code.txt`` when the language is not known."""
    try:
        patterns = get_lexer_by_name(language).filenames if language else []
    except ClassNotFound:
        patterns = []
    endings = [pattern[1:] for pattern in patterns if pattern.startswith("*.") and pattern[2:].isalnum()]
    return "code" + (endings[0] if endings else ".txt")
