"""SQLite: one writer thread with group commit, reader threads, WAL, `synchronous=FULL`."""

from recollect.stores.engines.sqlite.engine import SqliteEngine

__all__ = ["SqliteEngine"]
