"""Reads the retention file as operators write it: TTLs, policies, caps on personal data, cleanup.
`parse_rules` says what its fields mean."""
