"""Replacing a memory by a newer one, at once or when a quarantined one is released."""
