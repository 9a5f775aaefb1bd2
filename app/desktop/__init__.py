"""Tells the desktop what the user should see while no window of the program is looked at."""
