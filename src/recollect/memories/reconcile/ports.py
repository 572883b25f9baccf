"""Storage port of reconciliation: finds statements by the similarity of their vectors.

Results are for decisions of the server and are never shown: no visibility filter applies.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from recollect.db.transaction import Tx
from recollect.embedding.port import Vector
from recollect.kernel.ids import MemoryId
from recollect.memories.model import StoredMemory


class SimilarMemory(NamedTuple):
    """A statement and the cosine similarity of its vector to the compared one."""

    memory_id: MemoryId
    similarity: float


class ComparisonQuery(NamedTuple):
    """The compared statement with its vector, at an instant. Finds at most `limit` others, among
    vectors of the same model."""

    stored: StoredMemory
    vector: Vector
    model: str
    now: datetime
    limit: int


class SimilarityStore(Protocol):
    """Finds active, unexpired statements whose subjects are resolved. Lists of messages are left
    out."""

    def fetch_ids(self, tx: Tx, docs: Sequence[int]) -> list[MemoryId]:
        """The memories with these `doc` numbers, in the order of the numbers: oldest row first."""
        ...

    def nearest_in_space(self, tx: Tx, what: ComparisonQuery) -> list[SimilarMemory]:
        """The nearest in the same space with a common subject; without subjects if it has none."""
        ...

    def nearest_elsewhere(self, tx: Tx, what: ComparisonQuery) -> list[SimilarMemory]:
        """The nearest in other spaces that could replace it or be replaced by it.

        For a statement about oneself: hearsay about that person. For hearsay about one person: what
        that person said of themself. For anything else nothing.
        """
        ...

    def find_original(self, tx: Tx, memory_id: MemoryId) -> MemoryId | None:
        """The memory that this one was merged into as a duplicate, if it was."""
        ...
