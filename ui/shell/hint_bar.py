"""The line at the lower edge of the one window: what each button does now. A tap does the same."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QWidget

from ui.shell.hints import Hint, Press
from ui.theme import RADIUS, SPACE_M, SPACE_S, SPACE_XS, TARGET_SIZE, Theme
from ui.widgets.icon_button import IconButton

BADGE = 24
"""Height of the sign of a button, pixels at scale 1."""
SMALL = 0.92
SIGNS = {Press.MENU: "≡", Press.RIGHT: "◂ ▸"}


class HintButton(QAbstractButton):
    """The sign of a button and what it does. It never takes the keyboard away."""

    def __init__(self, hint: Hint, theme: Theme, *, pad: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._sign = SIGNS.get(hint.press, hint.press.name) if pad else hint.keys
        self._round = pad and len(self._sign) == 1
        self.setText(hint.text)
        self.setAccessibleName(f"{self._sign}: {hint.text}")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setObjectName(f"hint-{hint.press.value}")

    def sizeHint(self) -> QSize:
        """Room for sign and words."""
        words = QFontMetrics(self._theme.font(SMALL)).horizontalAdvance(self.text())
        return QSize(2 * SPACE_S + self._sign_width() + SPACE_S + words, self._theme.px(TARGET_SIZE))

    def paintEvent(self, event: QPaintEvent) -> None:
        """A badge with the sign, then the words."""
        tokens, painter = self._theme.tokens, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isDown():
            painter.fillRect(self.rect(), QColor(tokens.pressed))
        height = self._theme.px(BADGE)
        badge = QRect(SPACE_S, (self.height() - height) // 2, self._sign_width(), height)
        painter.setPen(QPen(QColor(tokens.outline), 1))
        painter.setBrush(QColor(tokens.raised))
        corner = height / 2 if self._round else RADIUS
        painter.drawRoundedRect(badge, corner, corner)
        painter.setFont(self._theme.font(SMALL, bold=True))
        painter.setPen(QColor(tokens.text))
        painter.drawText(badge, int(Qt.AlignmentFlag.AlignCenter), self._sign)
        painter.setFont(self._theme.font(SMALL))
        painter.setPen(QColor(tokens.muted))
        left = badge.right() + SPACE_S
        room = QRect(left, 0, self.width() - left, self.height())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), self.text())
        painter.end()

    def _sign_width(self) -> int:
        height = self._theme.px(BADGE)
        if self._round:
            return height
        words = QFontMetrics(self._theme.font(SMALL, bold=True)).horizontalAdvance(self._sign)
        return max(height, words + 2 * SPACE_S)


class HintBar(QWidget):
    """Hints at the left, the keyboard of the screen at the right.

    Attributes:
        pressed: A hint was tapped (`Press`).
        keyboard_wanted: The button of the on-screen keyboard was tapped.
    """

    pressed = Signal(object)
    keyboard_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[tuple[Hint, ...], bool] = ((), False)
        self._buttons: list[HintButton] = []
        self.setObjectName("hintBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "panel")
        self._keyboard = IconButton(theme, "keyboard", self.tr("Show the on-screen keyboard"))
        self._keyboard.setObjectName("keyboardButton")
        self._keyboard.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._keyboard.clicked.connect(self.keyboard_wanted)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(SPACE_M, 0, SPACE_S, 0)
        self._row.setSpacing(SPACE_XS)
        self._row.addStretch(1)
        self._row.addWidget(self._keyboard)
        theme.changed.connect(self._make_anew)

    @property
    def hints(self) -> tuple[Hint, ...]:
        """What is shown."""
        return self._shown[0]

    def show_hints(self, hints: Sequence[Hint], *, pad: bool) -> None:
        """Show these; ``pad``: by the buttons of a pad, else by keys."""
        if self._shown != (tuple(hints), pad):
            self._shown = tuple(hints), pad
            self._make_anew()

    def _make_anew(self) -> None:
        for old in self._buttons:
            self._row.removeWidget(old)
            old.hide()
            old.deleteLater()
        hints, pad = self._shown
        self._buttons = [HintButton(hint, self._theme, pad=pad) for hint in hints]
        for number, (hint, button) in enumerate(zip(hints, self._buttons, strict=True)):
            button.clicked.connect(lambda _checked=False, press=hint.press: self.pressed.emit(press))
            self._row.insertWidget(number, button)
