"""What is known: memories with types, expiry, subjects, sensitivity, versions and sources."""
