"""The application's stylesheet, made from tokens by pure functions.

Widgets choose their looks by the dynamic property ``role``:

| widget | roles |
| --- | --- |
| QPushButton | (none), ``primary``, ``danger``, ``quiet`` (no frame until hovered), ``icon`` (square, quiet), ``nav`` |
| QToolButton | always quiet; 40 px target |
| QLabel | (none), ``title``, ``heading``, ``muted``, ``warn``, ``bad``, ``good``, ``mono`` |
| QFrame, QWidget | ``card`` (rounded, hairline), ``surface``, ``raised``, ``panel`` (side areas), ``hairline`` (line) |
| QLineEdit, QPlainTextEdit | (none) framed, ``bare`` (the frame is around it), ``mono`` |
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from string import Template

from ui.theming.sheets.bars import MENUS, TABS
from ui.theming.sheets.buttons import BUTTONS
from ui.theming.sheets.fields import FIELDS, MONO
from ui.theming.sheets.marks import MARKS
from ui.theming.sheets.surfaces import SURFACES
from ui.theming.sheets.touch import TOUCH
from ui.theming.sheets.views import ITEMS, SCROLLING
from ui.theming.tokens import BASE_POINT_SIZE, CONTROL_HEIGHT, RADIUS, RADIUS_CARD, SCROLL_BAR, TARGET_SIZE, Tokens

ASSETS = Path(__file__).resolve().parents[2] / "assets"

_SHEETS = (SURFACES, BUTTONS, MARKS, FIELDS, ITEMS, TABS, SCROLLING, MENUS, MONO)


def measures(scale: float) -> dict[str, str]:
    """Sizes that the stylesheet names; controls grow with the text but never shrink below the target."""
    grow = max(1.0, scale)
    control = round(CONTROL_HEIGHT * grow)
    mark, ring = round(16 * grow), round(5 * grow)
    return {
        "mark": str(mark),
        "mark_round": str((mark + 2) // 2),
        "mark_ring": str(ring),
        "mark_dot": str(mark + 2 - 2 * ring),
        "step": str(round(26 * grow)),
        "step_room": str(round(28 * grow)),
        "arrow": str(round(12 * grow)),
        "scroll_bar": str(SCROLL_BAR),
        "radius": str(RADIUS),
        "card": str(RADIUS_CARD),
        "control": str(control),
        "control_inner": str(control - 2),
        "round": str(control // 2),
        "round_inner": str(control - 6),
        "tool_inner": str(control - 14),
        "menu_item": str(round(TARGET_SIZE * grow) - 4),
        "target": str(round(TARGET_SIZE * grow)),
        "title_pt": f"{BASE_POINT_SIZE * scale * 1.6:.1f}",
        "heading_pt": f"{BASE_POINT_SIZE * scale * 1.15:.1f}",
    }


def stylesheet(tokens: Tokens, scale: float = 1.0, mono: str = "monospace", *, touch: bool = False) -> str:
    """The whole application's stylesheet. ``scale`` is the text size, 1.0 normal; ``touch``: with wide rings."""
    values = {name: str(value) for name, value in asdict(tokens).items()}
    values |= measures(scale) | {"mono": mono.replace('"', ""), "style": (ASSETS / "style").as_posix()}
    values["scheme"] = "dark" if tokens.dark else "light"
    return Template("".join((*_SHEETS, TOUCH) if touch else _SHEETS)).substitute(values)
