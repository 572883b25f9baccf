"""What a text must not bring in: secrets, personal data, sensitive matters, orders to an assistant.

Pure detectors; `memories/write/screen.py` applies them to a write.
"""
