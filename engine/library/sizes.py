"""File sizes in words: decimal units, as shops and file managers print them."""

from __future__ import annotations

UNITS = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def size_text(n_bytes: int) -> str:
    """``5.03 GB``, ``16.4 GB``, ``98 MB``, ``512 bytes``: as many digits as matter when choosing a file."""
    for unit, factor in UNITS:
        if n_bytes >= factor * 0.9995:
            value = n_bytes / factor
            digits = max(0, (2 if value < 10 else 1 if value < 100 else 0) - (factor < 10**9))
            return f"{value:.{digits}f} {unit}"
    return "1 byte" if n_bytes == 1 else f"{n_bytes} bytes"
