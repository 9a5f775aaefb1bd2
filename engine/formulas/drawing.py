"""LaTeX formulas as drawings: outlines of the font STIX Two Math, in SVG, by the library ziamath."""

from __future__ import annotations

import re
from xml.etree.ElementTree import ParseError

from engine.formulas.records import EM, INK, Drawing, FormulaError

LONGEST = 2_000
"""Characters of a formula that is drawn; the time grows with them, and longer ones are no formulas."""
MOST_WORK = 4_500
"""What `_work` may say; about a second."""

_DRAWN = {"svg", "path", "rect"}
_TAG = re.compile(r"</?([^\s/>]+)")
_NUMBERED = re.compile(r"\\(begin|end)\{(?:align|alignat|eqnarray|gather|flalign|multline)\*?\}")
"""Environments that number their lines; numbers mean nothing in a conversation."""
_ALIGNED = re.compile(r"\\begin\{aligned\}.*?\\end\{aligned\}", re.DOTALL)
_NEXT_ROW = re.compile(r"\\\\(?:\s*\[[^\]]*\])?")
_TOKEN = re.compile(r"\\(?:begin|end)\{[^{}]*\}|\\[a-zA-Z]+|\\.|[^\s\\]")
_BOX = re.compile(r'viewBox="(-?[\d.]+) (-?[\d.]+) (-?[\d.]+) (-?[\d.]+)"')


def draw(latex: str, *, display: bool) -> Drawing:
    """The drawing of ``latex``, without its delimiters. ``display``: in the larger style of a line of its own.

    Takes 1 to 30 ms, the first one and deeply nested ones longer. Only to be called from one thread at a time.

    Raises:
        FormulaError: The text is empty, too long, too deeply nested, or not understood.
    """
    if not latex.strip() or len(latex) > LONGEST:
        raise FormulaError("empty" if not latex.strip() else "too long")
    if _work(latex) > MOST_WORK:
        raise FormulaError("too deeply nested")
    svg = _svg_of(latex, display=display)
    box = _BOX.search(svg)
    if box is None or not set(_TAG.findall(svg)) <= _DRAWN:
        raise FormulaError("more than outlines")
    _, top, width, height = (float(number) / EM for number in box.groups())
    if not width > 0 or not height > 0:
        raise FormulaError("nothing to be seen")
    return Drawing(svg=svg, width=width, ascent=-top, descent=height + top)


def _work(latex: str) -> int:
    """How much there is to lay out, in signs of a flat formula: ziamath lays out each group twice, and all in it."""
    depth = work = 0
    for token in _TOKEN.findall(latex):
        if token in ("{", r"\left") or token.startswith(r"\begin{"):
            depth += 1
        elif token in ("}", r"\right") or token.startswith(r"\end{"):
            depth = max(0, depth - 1)
        work += 1 << depth
    return work


def _svg_of(latex: str, *, display: bool) -> str:
    from ziamath.config import config
    from ziamath.zmath import Latex

    config.svg2 = False
    latex = _ALIGNED.sub(_spaced, _NUMBERED.sub(r"\\\1{aligned}", latex))
    try:
        return str(Latex(latex, size=EM, color=INK, inline=not display).svg())
    except (ParseError, RecursionError, ArithmeticError, LookupError, ValueError, TypeError) as error:
        raise FormulaError(type(error).__name__) from error
    except Exception as error:
        if type(error).__module__.split(".")[0] in ("latex2mathml", "ziamath", "ziafont") or _is_assertion(error):
            raise FormulaError(type(error).__name__) from error
        raise


def _spaced(environment: re.Match[str]) -> str:
    """Rows as far apart as TeX sets them; ziamath sets them solid."""
    return _NEXT_ROW.sub(lambda _row: r"\\\vphantom{\big(}", environment.group())


def _is_assertion(error: Exception) -> bool:
    """The parser states what it expects by ``assert`` and reaches for attributes that a bad formula has not."""
    return isinstance(error, AssertionError | AttributeError)
