"""Recall: what an agent should be told now, as a block for its prompt."""
