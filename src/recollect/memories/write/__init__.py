"""Writing a memory: parse, screen, resolve its space, compare, store."""
