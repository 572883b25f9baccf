"""The REST adapter alone, over services that only remember what they were asked."""
