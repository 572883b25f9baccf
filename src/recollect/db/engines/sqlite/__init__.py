"""SQLite: one writer thread with group commit, reader threads, WAL, `synchronous=FULL`."""

from recollect.db.engines.sqlite.engine import SqliteEngine

__all__ = ["SqliteEngine"]
