"""Finding entries and memories, and what an agent should be told now (recall)."""
