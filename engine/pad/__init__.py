"""Gamepads, read from the kernel's input devices by a process of its own, because Qt 6 has no part for them.

Steam shows programs one virtual pad for whatever is in the user's hands; with a keyboard layout it sends keys instead,
and nothing is found here.
"""
