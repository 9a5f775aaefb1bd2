"""Backup and restore of everything."""
