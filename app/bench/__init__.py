"""Benchmarks: the command, and the service behind the window's page."""
