"""Logs, metrics and the request log."""
