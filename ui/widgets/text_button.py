"""A push button with a text, and optionally an icon."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.theme import Theme
from ui.widgets.push_button import PushButton

GAP = 4
"""Free pixels between icon and text."""

TINTS = {"primary": "on_accent", "danger": "on_bad"}


class TextButton(PushButton):
    """Text, and optionally an icon, in one of the button roles of the stylesheet."""

    def __init__(
        self, theme: Theme, text: str, icon: str = "", parent: QWidget | None = None, *, role: str = ""
    ) -> None:
        super().__init__(theme, icon, TINTS.get(role, "text"), GAP, parent)
        self.setText(text)
        if role:
            self.setProperty("role", role)


class ElidedButton(TextButton):
    """A text button that gives way: its text is cut when there is less room than it wants.

    Args:
        beside: Pixels beside the text at scale 1: icon, padding, caret.
        least: Smallest width at scale 1.
        most: Largest width at scale 1.
    """

    def __init__(
        self,
        theme: Theme,
        icon: str = "",
        parent: QWidget | None = None,
        *,
        role: str = "",
        beside: int,
        least: int,
        most: int,
    ) -> None:
        self._full = self._ending = ""
        self._beside, self._least, self._most = beside, least, most
        super().__init__(theme, "", icon, parent, role=role)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def full_text(self) -> str:
        """The text as it is, also while it is shown cut."""
        return self._full + self._ending

    def set_full_text(self, text: str, ending: str = "") -> None:
        """Show ``text`` as far as there is room, and behind it ``ending``, which is not cut."""
        self._full, self._ending = text, ending
        self._elide()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Room for the whole text, within limits."""
        wanted = self.fontMetrics().horizontalAdvance(self.full_text()) + 2 + self._theme.px(self._beside)
        return QSize(min(self._theme.px(self._most), wanted), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Narrower, with the text cut."""
        return QSize(min(self._theme.px(self._least), self.sizeHint().width()), super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut the text anew."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Another font needs another width."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._elide()
            self.updateGeometry()

    def _elide(self) -> None:
        width = self.width() if self.isVisible() else self.sizeHint().width()
        metrics = self.fontMetrics()
        room = width - self._theme.px(self._beside) - metrics.horizontalAdvance(self._ending)
        text = metrics.elidedText(self._full, Qt.TextElideMode.ElideRight, room) + self._ending
        self.setText(text.replace("&", "&&"))
