"""Undoing everything that came from one source."""
