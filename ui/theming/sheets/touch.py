"""Rings for pads: 3 pixels, seen at arm's length; rows of menus for fingers. Laid over the other sheets."""

from __future__ import annotations

TOUCH = """
QPushButton:focus, QPushButton[role="quiet"]:focus, QPushButton[role="icon"]:focus, QPushButton[role="nav"]:focus,
QPushButton[role="fold"]:focus, QPushButton[role="quiet-warn"]:focus, QToolButton:focus {
    border: 3px solid $focus; margin: 0;
}
QPushButton[role="primary"]:focus, QPushButton[role="danger"]:focus {
    border: 3px solid $text; margin: 0; padding: 0; background-clip: border;
}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
    border: 3px solid $focus; margin: 0;
}
QLineEdit[role="bare"]:focus, QPlainTextEdit[role="bare"]:focus, QTextEdit[role="bare"]:focus { border: none; }
QFrame[role="field"] { margin: 2px; }
QFrame[role="field"][focused="true"] { border: 3px solid $focus; margin: 0; }
QCheckBox, QRadioButton { border-width: 3px; padding: 0 5px; }
QMenu::item, QComboBox QAbstractItemView::item { min-height: ${target}px; }
QTabBar::tab { border-width: 3px; padding: 0 13px; }
QTabBar::tab:selected { border-bottom: 3px solid $accent; }
QTabBar::tab:focus:selected { border: 3px solid $focus; }
"""
