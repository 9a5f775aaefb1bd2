"""Gamepads and Steam's on-screen keyboard, for Game Mode."""
