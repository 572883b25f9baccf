"""Frozen dataclasses and pure rules. Standard library only."""
