"""The memory family as a caller sees it, on every engine."""
