"""The REST adapter alone, over services that only remember their calls."""
