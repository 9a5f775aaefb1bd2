"""Push buttons and tool buttons."""

from __future__ import annotations

BUTTONS = """
QPushButton {
    background: $surface; color: $text; border: 1px solid $outline; border-radius: ${radius}px;
    margin: 2px; padding: 0 13px; min-height: ${control_inner}px; outline: none;
}
QPushButton:hover { background: $hover; }
QPushButton:pressed, QPushButton:checked { background: $pressed; }
QPushButton:focus { border: 2px solid $focus; margin: 1px; }
QPushButton:disabled { color: $disabled; border-color: $hairline; background: transparent; }
QPushButton[role="primary"], QPushButton[role="danger"] { font-weight: 600; }
QPushButton[role="primary"] { background: $accent; color: $on_accent; border: 1px solid $accent; }
QPushButton[role="primary"]:hover, QPushButton[role="primary"]:pressed { background: $accent_hover; }
QPushButton[role="danger"] { background: $bad; color: $on_bad; border: 1px solid $bad; }
QPushButton[role="danger"]:hover, QPushButton[role="danger"]:pressed { background: $bad_hover; }
QPushButton[role="primary"]:focus, QPushButton[role="danger"]:focus {
    border: 2px solid $focus; margin: 0; padding: 1px; background-clip: content;
}
QPushButton[role="danger"]:focus { border-color: $bad; }
QPushButton[role="primary"]:disabled, QPushButton[role="danger"]:disabled {
    background: $raised; color: $disabled; border-color: $raised;
}
QPushButton[role="quiet"], QPushButton[role="icon"] { background: transparent; border: 1px solid transparent; }
QPushButton[role="quiet"]:hover, QPushButton[role="icon"]:hover { background: $hover; }
QPushButton[role="quiet"]:pressed, QPushButton[role="icon"]:pressed,
QPushButton[role="quiet"]:checked, QPushButton[role="icon"]:checked { background: $pressed; }
QPushButton[role="quiet"]:focus, QPushButton[role="icon"]:focus { border: 2px solid $focus; }
QPushButton[role="quiet"]:disabled, QPushButton[role="icon"]:disabled { background: transparent; }
QPushButton[role="quiet-warn"] { background: transparent; border: 1px solid transparent; color: $warn; }
QPushButton[role="quiet-warn"]:hover { background: $hover; color: $text; }
QPushButton[role="quiet-warn"]:focus { border: 2px solid $focus; }
QPushButton[role="nav"] {
    background: transparent; border: 1px solid transparent; text-align: left; padding: 0 10px;
}
QPushButton[role="fold"] {
    background: transparent; border: 1px solid transparent; text-align: left; padding: 0 8px 0 4px; font-weight: 600;
}
QPushButton[role="fold"]:hover { background: $hover; }
QPushButton[role="fold"]:focus { border: 2px solid $focus; }
QPushButton[role="nav"]:hover { background: $hover; }
QPushButton[role="nav"]:checked { background: $selection; font-weight: 600; }
QPushButton[role="nav"]:focus { border: 2px solid $focus; }
QPushButton[role="picker"] { text-align: left; padding: 0 34px 0 10px; font-weight: 600; }
QPushButton[role="picker"][away="true"] { color: $muted; font-weight: 400; }
QPushButton[role="icon"] {
    padding: 0; min-width: ${control_inner}px; max-width: ${control_inner}px; max-height: ${control_inner}px;
}
QPushButton[role="round-primary"] {
    background: $accent; border: none; border-radius: ${round}px; padding: 0; margin: 2px;
    min-width: ${control}px; max-width: ${control}px; min-height: ${control}px; max-height: ${control}px;
}
QPushButton[role="round-primary"]:hover, QPushButton[role="round-primary"]:pressed { background: $accent_hover; }
QPushButton[role="round-primary"]:focus { border: 3px solid $text; margin: 2px; padding: 0;
    min-width: ${round_inner}px; max-width: ${round_inner}px;
    min-height: ${round_inner}px; max-height: ${round_inner}px;
}
QPushButton[role="round-primary"]:disabled { background: $raised; }
QPushButton::menu-indicator { width: 0; }
QToolButton {
    background: transparent; border: 1px solid transparent; border-radius: ${radius}px; margin: 2px;
    padding: 0 6px; min-height: ${control_inner}px; min-width: ${tool_inner}px;
}
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked, QToolButton:open { background: $pressed; }
QToolButton:focus { border: 2px solid $focus; margin: 1px; }
QToolButton:disabled { color: $disabled; }
QToolButton::menu-indicator { image: none; }
"""
