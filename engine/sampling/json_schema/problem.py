"""The one error of this package."""

from __future__ import annotations

from engine.errors import VrambleError

CODE = "bad-json-schema"


def bad_schema(reason: str) -> VrambleError:
    """The error for a schema that gives no grammar."""
    return VrambleError(CODE, f"The JSON schema cannot be used: {reason}.", "Change the schema.")
