"""Which memories a caller may see: the disclosure rules, and the same rules in SQL."""
