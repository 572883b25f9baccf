"""Finding entries and memories, and what an agent should know now (recall)."""
