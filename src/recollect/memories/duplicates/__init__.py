"""A statement that is stored already: counted, and its fields merged."""
