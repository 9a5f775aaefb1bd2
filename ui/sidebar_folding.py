"""Whether the list of conversations is seen: a choice that is kept in a wide window, a passing one in a narrow one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from ui.chat.header import Header
from ui.theme import Theme
from ui.window_settings import KeptWindow

NARROW = 1100
"""Below this width (at text size 1) the list of conversations starts folded away."""


class SidebarFolding(QObject):
    """Folds the sidebar and its edge away and back.

    Args:
        parts: What is shown or hidden; the sidebar is the first.
        leave: Called when the sidebar goes while it has the keyboard.
    """

    def __init__(
        self,
        window: QWidget,
        parts: tuple[QWidget, ...],
        header: Header,
        theme: Theme,
        kept: KeptWindow,
        leave: Callable[[], None],
    ) -> None:
        super().__init__(window)
        self._window, self._parts, self._header = window, parts, header
        self._theme, self._kept, self._leave = theme, kept, leave
        self._narrow = self._narrow_open = False
        header.sidebar_toggled.connect(self.toggle)
        theme.changed.connect(self.look_at_width)

    def toggle(self) -> None:
        """Show or hide the list of conversations. In a narrow window that is not remembered."""
        if self._narrow:
            self._narrow_open = not self._narrow_open
        else:
            self._kept.change(sidebar=not self._kept.settings.sidebar)
        self.arrange()

    def look_at_width(self) -> None:
        """Fold or unfold when the width crosses the limit."""
        narrow = self._window.width() < self._theme.px(NARROW)
        if narrow is not self._narrow:
            self._narrow = narrow
            self._narrow_open = False
            self.arrange()

    def arrange(self) -> None:
        """Show what the width and the choice say."""
        opened = self._narrow_open if self._narrow else self._kept.settings.sidebar
        focused: QWidget | None = self._window.focusWidget()
        had_focus = not opened and focused is not None and self._parts[0].isAncestorOf(focused)
        for part in self._parts:
            part.setVisible(opened)
        self._header.set_sidebar_open(opened)
        if had_focus:
            self._leave()
