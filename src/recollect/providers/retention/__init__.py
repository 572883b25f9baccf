"""The retention file: terms, policies, caps on personal data and housekeeping, as operators write
them. What the members mean is `domain/retention_file.py`'s part."""
