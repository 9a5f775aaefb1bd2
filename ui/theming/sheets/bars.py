"""Tabs, progress, menus and sliders."""

from __future__ import annotations

TABS = """
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
"""

MENUS = """
QMenu {
    background: $surface; border: 1px solid $outline; border-radius: ${radius}px; padding: 4px; menu-scrollable: 1;
}
QMenu::item { min-height: ${menu_item}px; padding: 0 20px 0 12px; border-radius: 4px; background: transparent; }
QMenu::item:selected { background: $selection; color: $text; }
QMenu::item:disabled { color: $disabled; }
QMenu::icon { padding-left: 10px; }
QMenu::separator { height: 1px; background: $hairline; margin: 4px 8px; }
QMenu::indicator { width: 14px; height: 14px; margin-left: 8px; }
QSlider { min-height: ${target}px; }
"""
