"""Frozen dataclasses and pure rules, on the standard library alone."""
