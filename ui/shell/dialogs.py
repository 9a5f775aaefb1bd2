"""The one way to open a dialog: a window of the desktop, or in Game Mode a page of the one window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QFileDialog, QPushButton, QWidget

from ui.shell.pages import Pages, pages_of
from ui.shell.picking import pick_for


def show_dialog(dialog: QDialog, *, fill: bool = False) -> None:
    """Show ``dialog``, whose parent must lie in the window that asks. Its signals tell how it ended, as always.

    In Game Mode a `QFileDialog` is never shown: the own picker asks for what it would, and its signals are emitted.

    Args:
        fill: As a page it takes all the room.
    """
    pages = pages_of(dialog.parentWidget())
    for button in dialog.findChildren(QPushButton):
        if type(button) is QPushButton:
            button.setIcon(QIcon())  # Qt's own pictures on OK and Cancel belong to no family of icons here
    if pages is None:
        dialog.open()
    elif isinstance(dialog, QFileDialog):
        pick_for(dialog, pages)
    else:
        _as_page(dialog, pages, fill)


def _as_page(dialog: QDialog, pages: Pages, fill: bool) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    pages.show_page(dialog, fill=fill)
    focused: QWidget | None = dialog.focusWidget()
    if focused is not None:
        focused.setFocus(Qt.FocusReason.OtherFocusReason)
    else:
        dialog.focusNextChild()
