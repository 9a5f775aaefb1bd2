"""Texts that take a second line where one is too narrow for them."""

from __future__ import annotations

from PySide6.QtGui import QFontMetrics

FACTS = " · "


def fold(text: str, width: int, metrics: QFontMetrics, separator: str = FACTS, most: int = 2) -> list[str]:
    """``text`` in lines of at most ``width`` pixels, broken at ``separator``, which is left out there.

    What is too long all the same lies in the last line of ``most``. Without a text there is no line.
    """
    lines: list[str] = []
    for part in text.split(separator) if text else ():
        longer = f"{lines[-1]}{separator}{part}" if lines else part
        if lines and (len(lines) == most or metrics.horizontalAdvance(longer) <= width):
            lines[-1] = longer
        else:
            lines.append(part)
    return lines
