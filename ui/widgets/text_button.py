"""A push button with a text, and optionally an icon."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.theme import ICON_SIZE, Theme
from ui.widgets.push_button import PushButton

GAP = 4
"""Free pixels between icon and text."""

MOST_FOR_SHORTEST = 1.8
"""So many times the smallest width may be taken so that the shortest text is not cut."""

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
    """A text button that gives way: when there is less room than it wants, a shorter text is shown, or it is cut.

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
        self._shorter: tuple[str, ...] = ()
        self._beside, self._least, self._most = beside, least, most
        super().__init__(theme, "", icon, parent, role=role)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def full_text(self) -> str:
        """The text as it is, also while it is shown cut."""
        return self._full + self._ending

    def set_full_text(self, text: str, ending: str = "", shorter: tuple[str, ...] = ()) -> None:
        """Show ``text`` as far as there is room, and behind it ``ending``, which is not cut.

        Args:
            shorter: What says it in fewer words, longest first; only the last one is cut.
        """
        self._full, self._ending, self._shorter = text, ending, shorter
        self._elide()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Room for the whole text, within limits."""
        wanted = self.fontMetrics().horizontalAdvance(self.full_text()) + 2 + self._room_beside()
        return QSize(min(self._theme.px(self._most), wanted), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Narrower: with its shortest text whole where that is not long, else with the text cut."""
        least = self._theme.px(self._least)
        if self._shorter:
            shortest = self.fontMetrics().horizontalAdvance(self._shorter[-1]) + 2 + self._room_beside()
            least = max(least, min(shortest, round(MOST_FOR_SHORTEST * least)))
        return QSize(min(least, self.sizeHint().width()), super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut the text anew."""
        super().resizeEvent(event)
        self._elide()

    def showEvent(self, event: QShowEvent) -> None:
        """Of the same width as before it is not told its size again."""
        super().showEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Another font needs another width."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._elide()
            self.updateGeometry()

    def _room_beside(self) -> int:
        """Of the text, pixels: an icon that is not there takes none."""
        return self._theme.px(self._beside if self._icon_name else self._beside - ICON_SIZE - GAP)

    def _elide(self) -> None:
        width = self.width() if self.isVisible() else self.sizeHint().width()
        metrics = self.fontMetrics()
        room = width - self._room_beside() - metrics.horizontalAdvance(self._ending)
        forms = (self._full, *self._shorter)
        form = next((form for form in forms if metrics.horizontalAdvance(form) <= room), forms[-1])
        text = metrics.elidedText(form, Qt.TextElideMode.ElideRight, room) + self._ending
        self.setText(text.replace("&", "&&"))
