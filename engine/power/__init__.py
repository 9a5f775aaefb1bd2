"""Sleep of the computer, without Qt."""
