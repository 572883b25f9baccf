"""Migrations: a fresh database, a migrated one and the code agree, on every engine."""
