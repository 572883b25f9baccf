"""Erasing a person: every row and text that names them, and a search that verifies it."""
