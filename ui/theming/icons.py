"""Icons from the Phosphor font that qtawesome carries, drawn as outlines in a token's colour.

The font file is read as it is: importing qtawesome loads a dozen fonts and costs more than the
whole first paint.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPixmap, QRawFont, QTransform

FONT_GLOB, CHARMAP_GLOB = "phosphor-[0-9]*.ttf", "phosphor-charmap-*.json"
EM = 256.0
"""Size at which outlines are taken from the font."""

RATIOS = (1, 2, 3)
"""Device pixel ratios that are drawn ahead; Qt scales the next larger one for those between."""


def font_folder() -> Path | None:
    """Folder of the icon fonts, found without importing their package; None when not installed."""
    spec = find_spec("qtawesome")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "fonts"


class IconFont:
    """Outlines by name, such as ``plus`` or ``trash-light``, and the icons that were drawn of them."""

    def __init__(self, folder: Path | None) -> None:
        self._font = QRawFont()
        self._charmap: dict[str, str] = {}
        self._paths: dict[str, QPainterPath] = {}
        self._icons: dict[tuple[str, str, str, int, int], QIcon] = {}
        if folder is not None:
            self._load(folder)

    def __contains__(self, name: str) -> bool:
        return name in self._charmap

    def path(self, name: str) -> QPainterPath:
        """The outline in a box of `EM` by `EM`; a ring when the font or the name is missing."""
        if name not in self._paths:
            self._paths[name] = self._glyph(name) or self._fallback()
        return self._paths[name]

    def icon(self, name: str, normal: str, disabled: str, size: int, gap: int = 0) -> QIcon:
        """As `icon` below draws it; drawn once."""
        key = (name, normal, disabled, size, gap)
        if key not in self._icons:
            self._icons[key] = icon(self.path(name), normal, disabled, size, gap)
        return self._icons[key]

    def _load(self, folder: Path) -> None:
        fonts, charmaps = sorted(folder.glob(FONT_GLOB)), sorted(folder.glob(CHARMAP_GLOB))
        if not fonts or not charmaps:
            return
        font = QRawFont(str(fonts[-1]), EM)
        try:
            charmap = json.loads(charmaps[-1].read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        if font.isValid():
            self._font = font
            self._charmap = {name: chr(int(code, 16)) for name, code in charmap.items()}

    def _glyph(self, name: str) -> QPainterPath | None:
        letter = self._charmap.get(name)
        if letter is None:
            return None
        indexes = self._font.glyphIndexesForString(letter)
        if not indexes or not indexes[0]:
            return None
        path = self._font.pathForGlyph(indexes[0])
        advance = self._font.advancesForGlyphIndexes(indexes)[0].x() or EM
        ascent, descent = self._font.ascent(), self._font.descent()
        factor = EM / max(advance, ascent + descent)
        move = QTransform.fromTranslate((EM - advance * factor) / 2, ascent * factor)
        return (QTransform.fromScale(factor, factor) * move).map(path)

    @staticmethod
    def _fallback() -> QPainterPath:
        path = QPainterPath()
        path.addEllipse(QPointF(EM / 2, EM / 2), EM * 0.34, EM * 0.34)
        path.addEllipse(QPointF(EM / 2, EM / 2), EM * 0.22, EM * 0.22)
        return path


def draw(painter: QPainter, path: QPainterPath, box: QRectF, colour: QColor) -> None:
    """Fill ``path`` (made by `IconFont.path`) into ``box``."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(box.topLeft())
    painter.scale(box.width() / EM, box.height() / EM)
    painter.fillPath(path, colour)
    painter.restore()


def pixmap(path: QPainterPath, colour: QColor, size: int, ratio: float = 1.0, gap: int = 0) -> QPixmap:
    """A square picture of ``size`` logical pixels, with ``gap`` free pixels beside it."""
    result = QPixmap(QSize(round((size + gap) * ratio), round(size * ratio)))
    result.setDevicePixelRatio(ratio)
    result.fill(Qt.GlobalColor.transparent)
    painter = QPainter(result)
    draw(painter, path, QRectF(0, 0, size, size), colour)
    painter.end()
    return result


def icon(path: QPainterPath, normal: str, disabled: str, size: int, gap: int = 0) -> QIcon:
    """An icon with a normal and a disabled look; ``gap`` keeps a text beside it away."""
    result = QIcon()
    for mode, colour in ((QIcon.Mode.Normal, normal), (QIcon.Mode.Disabled, disabled)):
        for ratio in RATIOS:
            result.addPixmap(pixmap(path, QColor(colour), size, ratio, gap), mode)
    return result
