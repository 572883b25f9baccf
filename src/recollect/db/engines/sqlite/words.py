"""Adds the words of a new row to an FTS5 index by a statement of its own.

A trigger would do the same at four times the cost: SQLite makes a savepoint before each trigger,
and at a savepoint FTS5 writes out what it has gathered in memory.
"""

from sqlalchemy import text

from recollect.db.statements import Query
from recollect.db.transaction import Tx

# Makes both indexes anew from the rows, as the triggers of the schema do row by row.
REBUILD = """
INSERT INTO entry_words (entry_words) VALUES ('delete-all');
INSERT INTO entry_words (rowid, words) SELECT doc,
  CASE WHEN substr(terms, 1, 1) = char(1) THEN '' ELSE terms END || ' ' || stems FROM entry_index;
INSERT INTO memory_words (memory_words) VALUES ('delete-all');
INSERT INTO memory_words (rowid, words) SELECT doc,
  CASE WHEN substr(terms, 1, 1) = char(1) THEN '' ELSE terms END || ' ' || stems FROM memory_index
  WHERE substr(stems, 1, 1) <> char(1);
"""


class Fts5WordIndex:
    """Must be called right after the row's INSERT: it uses `last_insert_rowid()`.

    `table` is a constant of ours, never a caller's text.
    """

    def __init__(self, table: str) -> None:
        self._insert = Query(
            text(f"INSERT INTO {table} (rowid, words) VALUES (last_insert_rowid(), :words)")  # noqa: S608
        )

    def add(self, tx: Tx, words: str) -> None:
        tx.run(self._insert, {"words": words})
