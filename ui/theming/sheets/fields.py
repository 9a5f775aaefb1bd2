"""Lines and boxes to type into, spin boxes and combo boxes."""

from __future__ import annotations

FIELDS = """
QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {
    background: $surface; color: $text; border: 1px solid $outline; border-radius: ${radius}px; margin: 2px;
    placeholder-text-color: $muted;
}
QLineEdit, QSpinBox, QDoubleSpinBox { padding: 0 10px; min-height: ${control_inner}px; }
QPlainTextEdit, QTextEdit { padding: 4px 6px; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
    border: 2px solid $focus; margin: 1px;
}
QLineEdit:disabled, QPlainTextEdit:disabled, QComboBox:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled {
    color: $disabled; border-color: $hairline; background: $background;
}
QLineEdit[role="bare"], QPlainTextEdit[role="bare"], QTextEdit[role="bare"] {
    background: transparent; border: none; margin: 0; padding: 0;
}
QFrame[role="field"] {
    background: $surface; border: 1px solid $outline; border-radius: ${card}px; margin: 1px;
}
QFrame[role="field"][focused="true"] { border: 2px solid $focus; margin: 0; }
QComboBox { padding: 0 10px; min-height: ${control_inner}px; combobox-popup: 0; }
QComboBox:hover { background: $hover; }
QComboBox::drop-down { border: none; width: ${step_room}px; }
QComboBox::down-arrow { image: url("$style/chevron-down-$scheme.svg"); width: ${mark}px; height: ${mark}px; }
QSpinBox, QDoubleSpinBox { padding: 0 ${step_room}px 0 10px; }
QSpinBox::up-button, QDoubleSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::down-button {
    subcontrol-origin: border; width: ${step}px; border: none; background: transparent; border-radius: 4px;
}
QSpinBox::up-button, QDoubleSpinBox::up-button { subcontrol-position: top right; }
QSpinBox::down-button, QDoubleSpinBox::down-button { subcontrol-position: bottom right; }
QSpinBox::up-button:hover, QSpinBox::down-button:hover,
QDoubleSpinBox::up-button:hover, QDoubleSpinBox::down-button:hover { background: $hover; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow {
    image: url("$style/chevron-up-$scheme.svg"); width: ${arrow}px; height: ${arrow}px;
}
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow {
    image: url("$style/chevron-down-$scheme.svg"); width: ${arrow}px; height: ${arrow}px;
}
QComboBox QAbstractItemView { background: $surface; border: 1px solid $outline; padding: 4px; outline: 0; }
QComboBox QAbstractItemView::item { min-height: ${control}px; padding: 0 8px; }
"""

MONO = """
QLabel[role="mono"], QPlainTextEdit[role="mono"], QLineEdit[role="mono"], QTextEdit[role="mono"] {
    font-family: "$mono";
}
"""
"""Text of one width; comes last, because it adds to what the others say."""
