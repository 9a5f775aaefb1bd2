"""The diagnosis as a command."""
