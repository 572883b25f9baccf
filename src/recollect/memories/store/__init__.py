"""The tables of memories and their versions, as SQL."""
