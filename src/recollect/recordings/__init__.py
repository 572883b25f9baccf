"""Recordings of streamed responses: record, replay, cancel, and find them from every node."""
