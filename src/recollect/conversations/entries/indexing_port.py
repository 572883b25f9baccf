"""What an append needs of the search index."""

from datetime import datetime
from typing import Protocol

from recollect.conversations.entries.entry import Entry
from recollect.db.transaction import Tx
from recollect.search.model import IndexedWords


class EntryIndexing(Protocol):
    """Indexes entries in the transaction that writes them. Search implements it, above this
    package."""

    def indexed_at(self, at: datetime) -> datetime | None:
        """The `indexed_at` of a text that is written now: None if its vector is still to come."""
        ...

    def add(self, tx: Tx, entry: Entry, found: IndexedWords) -> None:
        """Index a new entry. The caller holds the tree's lock."""
        ...

    def remove(self, tx: Tx, entry: Entry) -> None:
        """Remove an entry and what was made of its text, also in vectors of its neighbours. The
        caller holds the tree's lock."""
        ...
