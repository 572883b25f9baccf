"""PostgreSQL: transactions run in greenlets on the event loop, their statements are pipelined."""

from recollect.db.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
