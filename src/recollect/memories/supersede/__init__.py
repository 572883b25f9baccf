"""Replacing a memory by a newer one, at once or when it becomes valid."""
