"""What the desktop can be told: notifications, progress in the task bar. No Qt here."""
