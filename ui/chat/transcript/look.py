"""Fonts, colours and measures of the transcript, made once for each theme and text size."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QTextCharFormat

from ui.chat.transcript.blocks import Style
from ui.chat.transcript.formulas import NO_FORMULAS, Formulas
from ui.theme import SPACE_L, SPACE_M, SPACE_S, TARGET_SIZE, Theme, Tokens

LINE_HEIGHT = 1.45
"""Distance of base lines in ems."""

CODE_LINE_HEIGHT = 1.48
"""The same for code."""

HEADING_SIZES = {0: 1.0, 1: 1.5, 2: 1.28, 3: 1.12, 4: 1.0, 5: 1.0, 6: 0.94}
CODE_SIZE = 0.94
SMALL_SIZE = 0.9
TAB_COLUMNS = 4
FORMULA_X_HEIGHT = 0.473
"""Ems from the base line to the top of an x in STIX Two Math, the font of formulas."""
PILL_PADDING = 3
"""How far the ground of inline code reaches beyond its letters, pixels."""

TOKEN_COLOURS = (
    "text",
    "code_keyword",
    "code_string",
    "code_number",
    "code_comment",
    "code_function",
    "code_type",
    "bad",
)
"""Names of theme tokens, indexed by the numbers that `highlight` gives."""


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours that depend on what the text stands on."""

    ground: QColor
    code_ground: QColor
    pill: QColor


class Look:
    """Everything needed to lay out and paint one part.

    Attributes:
        em: Size of the body text in pixels.
        line: Distance of body base lines in pixels.
        baseline: Distance from the top of a line of body text to its base line.
        code_line: Height of a line of code.
        code_column: Width of one fixed-pitch character.
        formulas: The drawings of formulas.
        formula_em: Pixels of one em of a formula, so that its letters are as high as those around it.
    """

    def __init__(self, theme: Theme, formulas: Formulas = NO_FORMULAS) -> None:
        self.theme, self.formulas = theme, formulas
        self.tokens: Tokens = theme.tokens
        self.scale = theme.scale
        self._formats: dict[tuple[Style, int], QTextCharFormat] = {}
        self._fonts: dict[tuple[Style, int], QFont] = {}
        self.body = theme.font()
        self.small = theme.font(SMALL_SIZE)
        self.author = theme.font(SMALL_SIZE, bold=True)
        self.code = theme.mono(CODE_SIZE)
        self.code.setStyleHint(QFont.StyleHint.Monospace)
        self.em = float(QFontInfo(self.body).pixelSize())
        self.line = round(self.em * LINE_HEIGHT)
        code_metrics = QFontMetricsF(self.code)
        self.code_line = float(round(max(code_metrics.height(), QFontInfo(self.code).pixelSize() * CODE_LINE_HEIGHT)))
        self.code_column = code_metrics.horizontalAdvance("m")
        metrics = QFontMetricsF(self.body)
        self.formula_em = self.em * min(1.2, max(1.0, metrics.xHeight() / self.em / FORMULA_X_HEIGHT))
        self.small_metrics = QFontMetricsF(self.small)
        self.body_metrics = QFontMetricsF(self.body)
        self.bold_metrics = QFontMetricsF(self.font(Style.BOLD))
        self.baseline = (self.line - self.body_metrics.height()) / 2 + self.body_metrics.ascent()
        self.average_column = self.body_metrics.averageCharWidth()
        self.plain = self._ink(bubble=False)
        self.bubble = self._ink(bubble=True)
        self._colours: dict[str, QColor] = {}

    def px(self, length: float) -> int:
        """``length`` grown with the text."""
        return self.theme.px(length)

    @property
    def indent(self) -> float:
        """Width of the place for bullets and numbers."""
        return round(1.9 * self.em)

    @property
    def quote_indent(self) -> float:
        """Width of the place for a quotation's bar."""
        return round(1.1 * self.em)

    @property
    def target(self) -> int:
        """Height of the rows that hold buttons."""
        return self.px(TARGET_SIZE)

    @property
    def bubble_padding(self) -> tuple[int, int]:
        """Room inside a bubble, horizontally and vertically."""
        return self.px(SPACE_L), self.px(SPACE_M)

    @property
    def message_gap(self) -> int:
        """Room above a message."""
        return self.px(SPACE_L + 2)

    @property
    def margin(self) -> int:
        """Smallest room beside the column, the same as beside the composer."""
        return SPACE_L

    @property
    def cell_padding(self) -> tuple[int, int]:
        """Room inside a table's cell, horizontally and vertically."""
        return self.px(SPACE_M), self.px(SPACE_S)

    def colour(self, name: str) -> QColor:
        """The theme's token ``name``."""
        if name not in self._colours:
            self._colours[name] = QColor(getattr(self.tokens, name))
        return self._colours[name]

    def font(self, style: Style, level: int = 0) -> QFont:
        """The font of running text in ``style`` in a heading of ``level`` (0: none)."""
        key = (style & ~(Style.LINK | Style.PICTURE | Style.RAISED), level)
        if key not in self._fonts:
            self._fonts[key] = self._make_font(*key)
        return self._fonts[key]

    def format(self, style: Style, level: int = 0) -> QTextCharFormat:
        """The character format of running text in ``style``."""
        key = (style, level)
        if key not in self._formats:
            result = QTextCharFormat()
            font = QFont(self.font(style, level))
            font.setItalic(font.italic() or bool(style & Style.PICTURE))
            font.setUnderline(bool(style & Style.LINK))
            result.setFont(font)
            if style & Style.RAISED:
                result.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
                result.setForeground(self.colour("muted"))
            if style & Style.LINK:
                result.setForeground(self.colour("link"))
            elif style & Style.PICTURE:
                result.setForeground(self.colour("muted"))
            self._formats[key] = result
        return self._formats[key]

    def space_by_code(self, level: int = 0) -> QTextCharFormat:
        """The format of a space beside inline code: a little wider, so that the pill does not touch the words."""
        font = QFont(self.font(Style.PLAIN, level))
        font.setWordSpacing(PILL_PADDING + 1)
        result = QTextCharFormat()
        result.setFont(font)
        return result

    def _make_font(self, style: Style, level: int) -> QFont:
        size = HEADING_SIZES[level]
        bold = bool(level) or bool(style & Style.BOLD)
        font = self.theme.mono(size * CODE_SIZE) if style & Style.CODE else self.theme.font(size)
        if bold:
            font.setWeight(QFont.Weight.DemiBold if level else QFont.Weight.Bold)
        font.setItalic(bool(style & Style.ITALIC))
        font.setStrikeOut(bool(style & Style.STRIKE))
        return font

    def _ink(self, *, bubble: bool) -> Ink:
        tokens = self.tokens
        ground, other = (tokens.raised, tokens.surface) if bubble else (tokens.background, tokens.raised)
        return Ink(QColor(ground), QColor(other), QColor(other))
