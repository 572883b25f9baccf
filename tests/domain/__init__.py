"""Pure rules, with Hypothesis; no database, no server."""
