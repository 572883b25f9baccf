"""Entries: appending, reading and syncing them, and their epochs and channels."""
