"""A small sheet below a control that explains something; a click elsewhere or Escape closes it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.notices import Action
from ui.theme import SPACE_L, SPACE_S, Theme, set_role
from ui.widgets.text_button import TextButton

WIDTH = 380


class Popover(QFrame):
    """Heading, paragraphs that can be selected, a button that copies them, and one for what can be done."""

    def __init__(
        self, theme: Theme, heading: str, paragraphs: tuple[str, ...], parent: QWidget, action: Action | None = None
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("popover")
        self.setProperty("role", "popover")
        self.setAccessibleName(heading)
        title = QLabel(heading)
        set_role(title, "heading")
        body = QLabel("\n\n".join(paragraphs))
        for label in (title, body):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setFixedWidth(theme.px(WIDTH))
        body.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        body.setAccessibleName(body.text())
        copy = TextButton(theme, self.tr("Copy"), "copy", role="quiet")
        whole = "\n\n".join((heading, *paragraphs))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(whole))
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_L, SPACE_L, SPACE_L, SPACE_S)
        column.setSpacing(SPACE_S)
        column.addWidget(title)
        column.addWidget(body)
        buttons = QHBoxLayout()
        buttons.addStretch()
        if action is not None:
            buttons.addWidget(self._build_action(theme, action))
        buttons.addWidget(copy)
        column.addLayout(buttons)
        copy.setFocus()

    def _build_action(self, theme: Theme, action: Action) -> TextButton:
        button = TextButton(theme, action.label, role="quiet")
        button.setObjectName("popoverAction")

        def act() -> None:
            self.close()
            action.run()

        button.clicked.connect(act)
        return button

    def open_below(self, anchor: QWidget) -> None:
        """Show it under ``anchor``, moved so that it stays on the screen."""
        self.open_at(anchor.mapToGlobal(QPoint(0, anchor.height())))

    def open_at(self, corner: QPoint) -> None:
        """Show it with its upper left corner there, moved so that it stays on the screen."""
        self.adjustSize()
        screen = QGuiApplication.screenAt(corner) or self.screen()
        room = screen.availableGeometry()
        corner.setX(max(room.left(), min(corner.x(), room.right() - self.width())))
        corner.setY(max(room.top(), min(corner.y(), room.bottom() - self.height())))
        self.move(corner)
        self.show()
