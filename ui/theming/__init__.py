"""Looks: tokens, the stylesheet made from them, icons. `ui.theme` is the door."""
