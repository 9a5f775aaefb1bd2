"""Check boxes and radio buttons."""

from __future__ import annotations

MARKS = """
QCheckBox, QRadioButton {
    spacing: 8px; min-height: ${control}px; padding: 0 6px; background: transparent;
    border: 2px solid transparent; border-radius: ${radius}px;
}
QCheckBox:focus, QRadioButton:focus { border-color: $focus; }
QCheckBox:disabled, QRadioButton:disabled { color: $disabled; }
QCheckBox::indicator, QRadioButton::indicator {
    width: ${mark}px; height: ${mark}px; border: 1px solid $outline; border-radius: 4px; background: $surface;
}
QRadioButton::indicator { border-radius: ${mark_round}px; }
QCheckBox::indicator:hover, QRadioButton::indicator:hover { border-color: $accent; }
QCheckBox::indicator:checked, QCheckBox::indicator:indeterminate { background: $accent; border-color: $accent; }
QCheckBox::indicator:checked { image: url("$style/check-$scheme.svg"); }
QCheckBox::indicator:indeterminate { image: url("$style/dash-$scheme.svg"); }
QRadioButton::indicator:checked {
    width: ${mark_dot}px; height: ${mark_dot}px; border: ${mark_ring}px solid $accent;
}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { border-color: $hairline; background: $raised; }
"""
