"""Lists, tables and trees, and what is scrolled."""

from __future__ import annotations

ITEMS = """
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
"""

SCROLLING = """
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
"""
