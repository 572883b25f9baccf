"""Backups: all rows of a database in one file, and back into an empty database of either engine."""
