"""Memories, with their types, expiry, subjects, sensitivity, versions and sources."""
