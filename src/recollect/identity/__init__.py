"""Who calls and what a caller may do: tokens, API keys, roles, actions and access decisions."""
