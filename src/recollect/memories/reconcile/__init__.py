"""Whether a new memory repeats, replaces or contradicts one that is stored."""
