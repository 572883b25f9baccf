"""Search over memories."""
