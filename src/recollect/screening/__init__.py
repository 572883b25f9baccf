"""Detectors for texts: secrets, personal data, sensitive topics, prompt injection.

They are pure; `memories/write/screen.py` applies them to a write.
"""
