"""The application's stylesheet and palette, made from tokens by pure functions.

Widgets choose their looks by the dynamic property ``role``:

| widget | roles |
| --- | --- |
| QPushButton | (none), ``primary``, ``danger``, ``quiet`` (no frame until hovered), ``icon`` (square, quiet), ``nav`` |
| QToolButton | always quiet; 40 px target |
| QLabel | (none), ``title``, ``heading``, ``muted``, ``warn``, ``bad``, ``good``, ``mono`` |
| QFrame, QWidget | ``card`` (rounded, hairline), ``surface``, ``raised``, ``panel`` (side areas), ``hairline`` (line) |
| QLineEdit, QPlainTextEdit | (none) framed, ``bare`` (the frame is around it), ``mono`` |
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from string import Template

from PySide6.QtGui import QColor, QPalette

from ui.theming.tokens import BASE_POINT_SIZE, CONTROL_HEIGHT, RADIUS, RADIUS_CARD, SCROLL_BAR, TARGET_SIZE, Tokens

ASSETS = Path(__file__).resolve().parents[2] / "assets"

_BASE = """
QWidget { color: $text; selection-background-color: $accent; selection-color: $on_accent; }
QMainWindow, QDialog, QWidget[role="background"] { background: $background; }
QWidget[role="surface"] { background: $surface; }
QWidget[role="raised"] { background: $raised; }
QWidget[role="panel"] { background: $panel; }
QFrame[role="card"] { background: $surface; border: 1px solid $hairline; border-radius: ${card}px; }
QFrame[role="notice"] { background: $raised; border: 1px solid $outline; border-radius: ${card}px; }
QFrame[role="notice"][severity="warn"] { border-color: $warn; }
QFrame[role="notice"][severity="error"] { border-color: $bad; }
QFrame[role="floating"] { background: $surface; border: 1px solid $outline; border-radius: ${card}px; }
QFrame[role="popover"] { background: $surface; border: 1px solid $outline; border-radius: 0; }
QFrame[role="chip"] { background: $raised; border: none; border-radius: ${radius}px; }
QFrame[role="hairline"] { background: $hairline; border: none; max-height: 1px; min-height: 1px; }
QFrame[role="hairline-vertical"] { background: $hairline; border: none; max-width: 1px; min-width: 1px; }
QLabel { background: transparent; }
QLabel[role="title"] { font-size: ${title_pt}pt; font-weight: 600; }
QLabel[role="heading"] { font-size: ${heading_pt}pt; font-weight: 600; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="warn"] { color: $warn; }
QLabel[role="bad"] { color: $bad; }
QLabel[role="good"] { color: $good; }
QLabel:disabled { color: $disabled; }
QToolTip { background: $raised; color: $text; border: 1px solid $outline; padding: 4px 6px; }
QSplitter::handle { background: $hairline; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QSplitter::handle:hover { background: $accent; }
"""

_BUTTONS = """
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

_FIELDS = """
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

_VIEWS = """
QAbstractItemView {
    background: $surface; color: $text; border: none; outline: 0; alternate-background-color: $background;
    selection-background-color: $selection; selection-color: $text;
}
QTableView, QTreeView, QListView { border: 1px solid $hairline; border-radius: ${radius}px; gridline-color: $hairline; }
QTableView:focus, QTreeView:focus, QListView:focus { border: 2px solid $focus; }
QListView[role="bare"], QTableView[role="bare"], QTreeView[role="bare"] { border: none; background: transparent; }
QTableView::item, QTreeView::item { padding: 0 8px; border: none; }
QTableView::item:hover, QTreeView::item:hover { background: $hover; color: $text; }
QTableView::item:selected, QTreeView::item:selected { background: $selection; color: $text; }
QHeaderView { background: $surface; border: none; }
QHeaderView::section {
    background: $surface; color: $muted; border: none; border-bottom: 1px solid $hairline;
    padding: 0 11px; min-height: ${control}px;
}
QTableCornerButton::section { background: $surface; border: none; }
QTabWidget::pane { border: none; border-top: 1px solid $hairline; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab {
    background: transparent; color: $muted; border: 2px solid transparent; border-bottom: 2px solid transparent;
    padding: 0 14px; min-height: ${control}px; margin: 0 2px;
}
QTabBar::tab:hover { color: $text; background: $hover; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; font-weight: 600; }
QTabBar::tab:focus:selected { border: 2px solid $focus; border-radius: ${radius}px; }
QTabBar::tab:disabled { color: $disabled; }
QProgressBar {
    background: $raised; border: 1px solid $outline; border-radius: 4px; min-height: 6px; max-height: 6px;
    text-align: center; color: transparent;
}
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QProgressBar[role="labelled"] { min-height: 20px; max-height: 20px; color: $text; }
QScrollArea { background: transparent; border: none; }
QScrollArea > QWidget > QWidget[role="page"] { background: transparent; }
QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: ${scroll_bar}px; }
QScrollBar:horizontal { height: ${scroll_bar}px; }
QScrollBar::handle { background: $outline; border-radius: 3px; margin: 3px; }
QScrollBar::handle:vertical { min-height: 40px; }
QScrollBar::handle:horizontal { min-width: 40px; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: $muted; margin: 1px; border-radius: 5px; }
QScrollBar::handle:disabled { background: transparent; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QMenu { background: $surface; border: 1px solid $outline; border-radius: ${radius}px; padding: 4px; }
QMenu::item { min-height: ${menu_item}px; padding: 0 20px 0 12px; border-radius: 4px; background: transparent; }
QMenu::item:selected { background: $selection; color: $text; }
QMenu::item:disabled { color: $disabled; }
QMenu::icon { padding-left: 10px; }
QMenu::separator { height: 1px; background: $hairline; margin: 4px 8px; }
QMenu::indicator { width: 14px; height: 14px; margin-left: 8px; }
QSlider { min-height: ${target}px; }
"""

_MONO = """
QLabel[role="mono"], QPlainTextEdit[role="mono"], QLineEdit[role="mono"], QTextEdit[role="mono"] {
    font-family: "$mono";
}
"""


def measures(scale: float) -> dict[str, str]:
    """Sizes that the stylesheet names; controls grow with the text but never shrink below the target."""
    grow = max(1.0, scale)
    control = round(CONTROL_HEIGHT * grow)
    mark, ring = round(16 * grow), round(5 * grow)
    return {
        "mark": str(mark),
        "mark_round": str((mark + 2) // 2),
        "mark_ring": str(ring),
        "mark_dot": str(mark + 2 - 2 * ring),
        "step": str(round(26 * grow)),
        "step_room": str(round(28 * grow)),
        "arrow": str(round(12 * grow)),
        "scroll_bar": str(SCROLL_BAR),
        "radius": str(RADIUS),
        "card": str(RADIUS_CARD),
        "control": str(control),
        "control_inner": str(control - 2),
        "round": str(control // 2),
        "round_inner": str(control - 6),
        "tool_inner": str(control - 14),
        "menu_item": str(round(TARGET_SIZE * grow) - 4),
        "target": str(round(TARGET_SIZE * grow)),
        "title_pt": f"{BASE_POINT_SIZE * scale * 1.6:.1f}",
        "heading_pt": f"{BASE_POINT_SIZE * scale * 1.15:.1f}",
    }


def stylesheet(tokens: Tokens, scale: float = 1.0, mono: str = "monospace") -> str:
    """The whole application's stylesheet. ``scale`` is the text size, 1.0 normal."""
    values = {name: str(value) for name, value in asdict(tokens).items()}
    values |= measures(scale) | {"mono": mono.replace('"', ""), "style": (ASSETS / "style").as_posix()}
    values["scheme"] = "dark" if tokens.dark else "light"
    return Template(_BASE + _BUTTONS + _FIELDS + _VIEWS + _MONO).substitute(values)


def palette(tokens: Tokens) -> QPalette:
    """Qt's palette for what the stylesheet does not reach (Fusion's own painting, item text)."""
    role = QPalette.ColorRole
    colours = {
        role.Window: tokens.background,
        role.WindowText: tokens.text,
        role.Base: tokens.surface,
        role.AlternateBase: tokens.background,
        role.ToolTipBase: tokens.raised,
        role.ToolTipText: tokens.text,
        role.PlaceholderText: tokens.muted,
        role.Text: tokens.text,
        role.Button: tokens.raised,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.bad,
        role.Link: tokens.link,
        role.LinkVisited: tokens.link,
        role.Highlight: tokens.accent,
        role.HighlightedText: tokens.on_accent,
        role.Light: tokens.hover,
        role.Midlight: tokens.raised,
        role.Mid: tokens.hairline,
        role.Dark: tokens.outline,
        role.Shadow: tokens.outline,
        role.Accent: tokens.accent,
    }
    result = QPalette()
    for one, colour in colours.items():
        result.setColor(one, QColor(colour))
    for one in (role.WindowText, role.Text, role.ButtonText, role.PlaceholderText):
        result.setColor(QPalette.ColorGroup.Disabled, one, QColor(tokens.disabled))
    return result
