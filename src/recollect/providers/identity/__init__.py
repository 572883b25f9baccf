"""Who is calling: tokens, API keys, asserted users and the roles they hold."""
