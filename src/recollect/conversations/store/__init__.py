"""The tables of conversations, entries, memberships and transfers, as SQL."""
