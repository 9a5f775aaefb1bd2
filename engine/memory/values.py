"""Text of kernel files to values. Whatever cannot be right is None."""

from __future__ import annotations

import re

BYTES_LIMIT = 1 << 50
"""A petabyte: a larger figure is garbage, such as 2^64 - 1."""

PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_DPM = re.compile(r"^[ \t]*[0-9A-Za-z]+:[ \t]*([0-9]{1,6})[ \t]*[Mm][Hh]z[ \t]*\*", re.MULTILINE)
_WHOLE = re.compile(r"-?[0-9]{1,20}")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{1,8}")
_SIZE = re.compile(r"([0-9]{1,20})\s*([A-Za-z]*)")
_UNITS = {"": 1, "b": 1, "kb": 1 << 10, "kib": 1 << 10, "mb": 1 << 20, "mib": 1 << 20, "gb": 1 << 30, "gib": 1 << 30}


def stripped(text: str | None) -> str | None:
    """``text`` without the line end (and the NUL that some drivers add); None when nothing is left."""
    return (text or "").strip().strip("\0").strip() or None


def whole(text: str | None) -> int | None:
    """A decimal integer, alone in its file."""
    value = stripped(text)
    return int(value) if value is not None and _WHOLE.fullmatch(value) else None


def byte_count(text: str | None) -> int | None:
    """A plausible number of bytes."""
    value = whole(text)
    return value if value is not None and 0 <= value < BYTES_LIMIT else None


def percent(text: str | None) -> int | None:
    """0..100."""
    value = whole(text)
    return value if value is not None and 0 <= value <= 100 else None


def celsius(text: str | None) -> float | None:
    """Degrees from thousandths. 0 and below is a sensor that does not answer, not a cold chip."""
    value = whole(text)
    return value / 1000 if value is not None and 0 < value < 150_000 else None


def watts(text: str | None) -> float | None:
    """Watts from microwatts; a running card takes more than none and less than a kilowatt."""
    value = whole(text)
    return value / 1_000_000 if value is not None and 0 < value < 1_000_000_000 else None


def rpm(text: str | None) -> int | None:
    """Turns a minute; 0 is a fan that stands still."""
    value = whole(text)
    return value if value is not None and 0 <= value <= 50_000 else None


def megahertz(text: str | None) -> int | None:
    """MHz from Hz; 0 is a clock that is not told."""
    value = whole(text)
    return round(value / 1_000_000) if value is not None and 0 < value < 10_000_000_000 else None


def dpm_clock(text: str | None) -> int | None:
    """MHz of the row that ``pp_dpm_*`` marks with a star; None without one.

    The rows are ``index: clock [*]``, where the index may be a letter (deep sleep) and the current clock a row of its
    own. Of several marked rows the last counts.
    """
    marked = [int(clock) for clock in _DPM.findall(text or "")]
    return marked[-1] if marked and 0 < marked[-1] < 10_000 else None


def hex_id(text: str | None) -> int | None:
    """A PCI id such as ``0x744c``."""
    value = stripped(text)
    return int(value, 16) if value is not None and _HEX.fullmatch(value) else None


def pci_address(text: str | None) -> str | None:
    """A PCI address in lower case."""
    value = (stripped(text) or "").lower()
    return value if PCI.fullmatch(value) else None


def size(text: str) -> int | None:
    """Bytes from a number with or without a unit; the kernel's kB are KiB."""
    match = _SIZE.fullmatch(text.strip())
    factor = _UNITS.get(match[2].lower()) if match else None
    if match is None or factor is None:
        return None
    value = int(match[1]) * factor
    return value if value < BYTES_LIMIT else None


def colon_pairs(text: str | None) -> dict[str, str]:
    """``key: value`` lines, as in meminfo, status and fdinfo; of a repeated key the first counts."""
    pairs: dict[str, str] = {}
    for line in (text or "").splitlines():
        key, colon, value = line.partition(":")
        if colon:
            pairs.setdefault(key.strip(), value.strip())
    return pairs


def equal_pairs(text: str | None) -> dict[str, str]:
    """``KEY=value`` lines of a uevent file."""
    pairs = (line.partition("=") for line in (text or "").splitlines())
    return {key.strip(): value.strip() for key, sign, value in pairs if sign}


def word_numbers(text: str | None) -> dict[str, int]:
    """``key number`` lines of a KFD properties file; lines of another form are left out."""
    found: dict[str, int] = {}
    for line in (text or "").splitlines():
        words = line.split()
        if len(words) == 2 and re.fullmatch(r"[0-9]{1,20}", words[1]):
            found.setdefault(words[0], int(words[1]))
    return found


def printable(comm: str | None) -> str:
    """The name of a process without what a terminal or a label could stumble over."""
    return "".join(letter if letter.isprintable() else "?" for letter in (comm or "").strip("\n"))
