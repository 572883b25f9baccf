"""PostgreSQL: threads with a connection each, statements pipelined."""

from recollect.stores.engines.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
