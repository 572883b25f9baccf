"""The tables, once for both engines."""
