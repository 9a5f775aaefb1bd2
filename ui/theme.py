"""The one owner of looks: which colour scheme, how large the text, which icons.

Widgets name a ``role`` (see `ui.theming.stylesheet`) and take colours for their own painting from
`Theme.tokens`, again after each `Theme.changed`.
"""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QIcon, QPainterPath
from PySide6.QtWidgets import QApplication, QWidget

from ui.theming import icons
from ui.theming.palette import palette
from ui.theming.stylesheet import stylesheet
from ui.theming.tokens import (
    BASE_POINT_SIZE,
    CONTROL_HEIGHT,
    DARK,
    ICON_SIZE,
    LIGHT,
    RADIUS,
    RADIUS_CARD,
    SCROLL_BAR,
    SPACE_L,
    SPACE_M,
    SPACE_S,
    SPACE_XS,
    TARGET_SIZE,
    Tokens,
    contrast,
    luminance,
)

__all__ = [
    "BASE_POINT_SIZE",
    "CONTROL_HEIGHT",
    "DARK",
    "ICON_SIZE",
    "LIGHT",
    "RADIUS",
    "RADIUS_CARD",
    "SCROLL_BAR",
    "SPACE_L",
    "SPACE_M",
    "SPACE_S",
    "SPACE_XS",
    "TARGET_SIZE",
    "Theme",
    "ThemeMode",
    "Tokens",
    "contrast",
    "luminance",
    "palette",
    "set_role",
    "stylesheet",
]

SCALE_MIN, SCALE_MAX = 0.8, 2.0
TOUCH = 1.15
"""In touch mode text and controls are larger by this: targets of 46 pixels, text of 16, on a screen of 7 inches."""


class ThemeMode(StrEnum):
    """Which colour scheme the user wants."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Theme(QObject):
    """Colours, sizes, fonts and icons of the running program.

    Args:
        font: Outlines of the icons; None: read when the first one is wanted.

    Attributes:
        changed: The scheme or the text size is another one; everything derived is stale.
    """

    changed = Signal()

    def __init__(
        self,
        mode: ThemeMode = ThemeMode.SYSTEM,
        scale: float = 1.0,
        parent: QObject | None = None,
        *,
        font: icons.IconFont | None = None,
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self._chosen, self._touch = _clamped(scale), False
        self._app: QApplication | None = None
        self._font = font
        self._tokens = self._wanted()
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._refresh)

    @property
    def tokens(self) -> Tokens:
        """The colours to paint with now."""
        return self._tokens

    @property
    def scale(self) -> float:
        """How large text is painted, 1.0 normal, 0.8..2.0."""
        return _clamped(self._chosen * TOUCH) if self._touch else self._chosen

    @property
    def chosen_scale(self) -> float:
        """The text size that the user chose, 1.0 normal."""
        return self._chosen

    @property
    def mode(self) -> ThemeMode:
        """What the user chose."""
        return self._mode

    def set_mode(self, mode: ThemeMode) -> None:
        """Follow the system, or stay light or dark."""
        self._mode = mode
        self._refresh()

    def set_scale(self, scale: float) -> None:
        """Set the text size, limited to 0.8..2.0."""
        if _clamped(scale) != self._chosen:
            self._chosen = _clamped(scale)
            self._publish()

    def set_touch(self, touch: bool) -> None:
        """Make everything large enough for fingers, and for a small screen at arm's length."""
        if touch is not self._touch:
            self._touch = touch
            self._publish()

    def apply(self, app: QApplication) -> None:
        """Dress ``app``, and again after each change."""
        app.setStyle("Fusion")
        self.adopt(app)

    def adopt(self, app: QApplication) -> None:
        """The same for an application that has the style already."""
        self._app = app
        self._dress(app)

    def font(self, factor: float = 1.0, *, bold: bool = False) -> QFont:
        """The interface font at ``factor`` of the base size."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        font.setPointSizeF(BASE_POINT_SIZE * self.scale * factor)
        if bold:
            font.setWeight(QFont.Weight.DemiBold)
        return font

    def mono(self, factor: float = 1.0) -> QFont:
        """The fixed-pitch font at ``factor`` of the base size."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(BASE_POINT_SIZE * self.scale * factor)
        return font

    def px(self, length: float) -> int:
        """``length`` in pixels at scale 1, grown with the text but never shrunk."""
        return round(length * max(1.0, self.scale))

    def icon(self, name: str, tint: str = "text", size: int = ICON_SIZE, gap: int = 0) -> QIcon:
        """The Phosphor icon ``name`` in the colour of the token ``tint``. Stale after `changed`."""
        colour = getattr(self._tokens, tint)
        return self._icon_font().icon(name, colour, self._tokens.disabled, self.px(size), gap)

    def icon_path(self, name: str) -> QPainterPath:
        """The outline of an icon for own painting; draw it with `ui.theming.icons.draw`."""
        return self._icon_font().path(name)

    def _icon_font(self) -> icons.IconFont:
        if self._font is None:
            self._font = icons.IconFont(icons.font_folder())
        return self._font

    def _wanted(self) -> Tokens:
        dark = system_is_dark() if self._mode is ThemeMode.SYSTEM else self._mode is ThemeMode.DARK
        return DARK if dark else LIGHT

    def _refresh(self) -> None:
        wanted = self._wanted()
        if wanted is not self._tokens:
            self._tokens = wanted
            self._publish()

    def _publish(self) -> None:
        if self._app is not None:
            self._dress(self._app)
        self.changed.emit()

    def _dress(self, app: QApplication) -> None:
        app.setFont(self.font())
        app.setPalette(palette(self._tokens))
        sheet = stylesheet(self._tokens, self.scale, self.mono().family(), touch=self._touch)
        if sheet != app.styleSheet():
            app.setStyleSheet(sheet)


def set_role(widget: QWidget, role: str) -> None:
    """Give ``widget`` the looks of ``role``, also after it was shown."""
    if widget.property("role") == role:
        return
    widget.setProperty("role", role)
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    widget.update()


def system_is_dark() -> bool:
    """Whether the desktop asks for a dark scheme; a desktop that says nothing counts as light."""
    return QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark


def _clamped(scale: float) -> float:
    return min(SCALE_MAX, max(SCALE_MIN, scale))
