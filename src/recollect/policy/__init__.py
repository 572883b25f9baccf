"""Who may do what. Pure: no clock, no database, no settings."""
