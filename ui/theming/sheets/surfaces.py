"""Windows, frames, labels and splitters."""

from __future__ import annotations

SURFACES = """
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
