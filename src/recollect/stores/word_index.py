"""How an engine learns the words of a new row."""

from typing import Protocol

from recollect.ports.database import Tx


class WordIndex(Protocol):
    """The full-text index of an engine. Changed and removed rows it sees to itself."""

    def add(self, tx: Tx, words: str) -> None:
        """Index the row that was inserted last in this transaction."""
        ...


class GeneratedWords:
    """The engine makes its index from the row."""

    def add(self, tx: Tx, words: str) -> None:
        """Nothing to do."""
