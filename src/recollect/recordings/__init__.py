"""Responses that are being streamed: recorded, replayed, cancelled, found from every node."""
