"""The diagnosis, as a command and for the window."""
