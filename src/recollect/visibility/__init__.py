"""Which memories a caller may see: the disclosure rules and their twin in SQL."""
