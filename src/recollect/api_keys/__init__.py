"""API keys that the server issues, beside those of the settings."""
