"""What is in folders, for pickers inside the window."""
