"""Checks of a running system: consistency of the stored rows, their repair, health."""
