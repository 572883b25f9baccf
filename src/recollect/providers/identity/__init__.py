"""Authentication: tokens, API keys, asserted user ids, roles and orgs."""
