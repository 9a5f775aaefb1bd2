"""Conversations as files: exports, imports, backups."""
