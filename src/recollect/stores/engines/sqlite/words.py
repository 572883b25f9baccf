"""The words of a new row in FTS5. A trigger would do as well, but at four times the cost: before
each one SQLite makes a savepoint, at which FTS5 writes out what it has gathered."""

from sqlalchemy import text

from recollect.ports.database import Tx
from recollect.stores.statements import Statement


class Fts5Words:
    """One statement behind the row's own. `table` is one of ours, never a caller's word."""

    def __init__(self, table: str) -> None:
        self._insert = Statement(
            text(f"INSERT INTO {table} (rowid, words) VALUES (last_insert_rowid(), :words)")  # noqa: S608
        )

    def add(self, tx: Tx, words: str) -> None:
        tx.run(self._insert, {"words": words})
