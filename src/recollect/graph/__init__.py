"""Entities and dated relations between them, drawn from memories."""
