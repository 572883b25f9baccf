"""How the words of a new row get into an engine's full-text index."""

from typing import Protocol

from recollect.db.transaction import Tx


class WordIndex(Protocol):
    """An engine's full-text index. It follows updates and deletes of rows by itself."""

    def add(self, tx: Tx, words: str) -> None:
        """Index the row that was inserted last in this transaction."""
        ...


class GeneratedWordIndex:
    """PostgreSQL: a generated column of the row is the index."""

    def add(self, tx: Tx, words: str) -> None:
        """Nothing to do."""
