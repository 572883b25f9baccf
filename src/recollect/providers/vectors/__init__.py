"""External vector databases."""
