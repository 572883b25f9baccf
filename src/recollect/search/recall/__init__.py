"""Recall: what an agent should know now, as a block for its prompt."""
