"""Sleep of the computer, as the window sees it."""
