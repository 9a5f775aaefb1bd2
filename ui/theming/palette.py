"""Qt's palette, made from tokens."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette

from ui.theming.tokens import Tokens


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
