"""Vector databases beside our own."""
