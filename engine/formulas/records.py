"""A formula as a drawing."""

from __future__ import annotations

import msgspec

EM = 100.0
"""Units of a drawing's coordinates in one em of the text around it."""

INK = "#010203"
"""The colour that stands for that of the text; colours that the formula names itself stay."""


class FormulaError(ValueError):
    """The text is no formula that can be drawn; it is shown as it was written."""


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """A formula as outlines.

    Attributes:
        svg: Paths and rectangles in `INK`, `EM` units to the em; the base line is at 0.
        width: In ems, as all sizes here.
        ascent: Above the base line.
        descent: Below the base line.
    """

    svg: str
    width: float
    ascent: float
    descent: float
