"""PostgreSQL: transactions in greenlets on the event loop, statements pipelined."""

from recollect.stores.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
