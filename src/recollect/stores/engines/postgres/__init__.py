"""PostgreSQL: transactions run in greenlets on the event loop, their statements are pipelined."""

from recollect.stores.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
