"""The database: transactions, statements, tables, encryption of columns and the two engines.

Stores of the subjects build on it. What differs between SQLite and PostgreSQL is in `engines/`.
"""
