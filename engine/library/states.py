"""What a model file on disk is worth."""

from __future__ import annotations

from enum import StrEnum


class FileState(StrEnum):
    """Whether a file can be used, and if not, why."""

    OK = "ok"
    DAMAGED = "damaged"
    """The header contradicts itself or the file."""
    INCOMPLETE = "incomplete"
    """The file ends before the data that its header announces."""
    NOT_GGUF = "not-gguf"
    OLD_FORMAT = "old-format"
    """GGML, GGJT and relatives, from before GGUF."""
    TOO_OLD = "too-old"
    TOO_NEW = "too-new"
    BIG_ENDIAN = "big-endian"
    POINTER = "pointer"
    """The few lines that git keeps in place of a large file."""
    UNREADABLE = "unreadable"
    MISSING_PART = "missing-part"
    """One file of a split set is not there."""
    BAD_PART = "bad-part"
    """The file is one part of a split set, under a name or number that fits no set."""
    RAW_PIECES = "raw-pieces"
    """Byte-wise pieces of one file that must be joined before use."""
    ABSENT = "absent"
    """Was there before; its folder is not there now."""
