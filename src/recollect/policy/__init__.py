"""Authorization rules: who may do what. Pure functions without clock, database or settings."""
