"""Design tokens: every colour and measure that the window uses."""

from __future__ import annotations

from dataclasses import dataclass

SPACE_XS, SPACE_S, SPACE_M, SPACE_L = 4, 8, 12, 16
"""Distances, logical pixels."""

RADIUS = 6
"""Corner of controls."""

RADIUS_CARD = 10
"""Corner of cards and bubbles."""

CONTROL_HEIGHT = 36
"""Visible height of a control at scale 1."""

TARGET_SIZE = 40
"""Smallest side of anything that can be clicked; the visible part lies inside it."""

SCROLL_BAR = 12
"""Width of a scroll bar."""

ICON_SIZE = 18
BASE_POINT_SIZE = 10.5


@dataclass(frozen=True)
class Tokens:
    """One colour scheme. All colours are ``#RRGGBB``.

    ``hairline`` only separates; ``outline`` draws the edge of controls and has 3:1 to every surface.
    Text in ``text``, ``muted``, ``accent``, ``good``, ``warn`` or ``bad`` is readable (4.5:1) on
    background, panel, surface and raised; on hover, pressed and selection use ``text``.
    """

    dark: bool
    background: str
    panel: str
    surface: str
    raised: str
    hover: str
    pressed: str
    text: str
    muted: str
    disabled: str
    hairline: str
    outline: str
    accent: str
    accent_hover: str
    on_accent: str
    good: str
    warn: str
    bad: str
    bad_hover: str
    on_bad: str
    selection: str
    focus: str
    link: str
    vram: str
    gtt: str
    ram: str
    code_keyword: str
    code_string: str
    code_number: str
    code_comment: str
    code_function: str
    code_type: str


LIGHT = Tokens(
    dark=False,
    background="#FBFAF8",
    panel="#F5F3EF",
    surface="#FFFFFF",
    raised="#F1EFEB",
    hover="#E9E6E0",
    pressed="#DEDBD5",
    text="#1E1F22",
    muted="#5A5C63",
    disabled="#85878D",
    hairline="#DEDBD5",
    outline="#8B8882",
    accent="#C2410C",
    accent_hover="#A9380A",
    on_accent="#FFFFFF",
    good="#166534",
    warn="#8A5206",
    bad="#B91C1C",
    bad_hover="#991B1B",
    on_bad="#FFFFFF",
    selection="#F9E3D6",
    focus="#C2410C",
    link="#B23A08",
    vram="#C2410C",
    gtt="#7C3AED",
    ram="#0369A1",
    code_keyword="#A21CAF",
    code_string="#166534",
    code_number="#0369A1",
    code_comment="#66686F",
    code_function="#1D4ED8",
    code_type="#8A5206",
)

DARK = Tokens(
    dark=True,
    background="#17181B",
    panel="#1C1E21",
    surface="#1F2125",
    raised="#282B30",
    hover="#32353B",
    pressed="#3B3F46",
    text="#E8E6E3",
    muted="#A9ACB3",
    disabled="#767A83",
    hairline="#34373D",
    outline="#767A83",
    accent="#FB923C",
    accent_hover="#FDA65F",
    on_accent="#17181B",
    good="#4ADE80",
    warn="#FACC15",
    bad="#F87171",
    bad_hover="#FB9494",
    on_bad="#17181B",
    selection="#4A2E1B",
    focus="#FB923C",
    link="#FDA65F",
    vram="#FB923C",
    gtt="#A78BFA",
    ram="#38BDF8",
    code_keyword="#E879F9",
    code_string="#86EFAC",
    code_number="#7DD3FC",
    code_comment="#A3A6AD",
    code_function="#93C5FD",
    code_type="#FACC15",
)


def luminance(colour: str) -> float:
    """Relative luminance of ``#RRGGBB`` after WCAG 2, 0..1."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio after WCAG 2, 1..21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
