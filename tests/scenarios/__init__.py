"""Acceptance scenarios of the memory contract, clause by clause."""
