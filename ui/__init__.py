"""What is seen: widgets, delegates, theme. Reads `app`, never decides."""
