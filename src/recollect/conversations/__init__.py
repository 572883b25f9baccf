"""Conversations: trees of them, with their entries, forks and members."""
