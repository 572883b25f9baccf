"""What storage tells about statements that may say the same as another, or something else instead.
For deciding, never for showing: no sight narrows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from recollect.domain.memories import MemoryId
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.search import Vector


class Near(NamedTuple):
    """A statement and the cosine of its vector with that of another."""

    memory_id: MemoryId
    similarity: float


class Comparison(NamedTuple):
    """What is compared, at which instant and by vectors of which model; `limit` are enough."""

    stored: Stored
    vector: Vector
    model: str
    now: datetime
    limit: int


class ComparingStore(Protocol):
    """Finds statements that are active, not due, of known people and no lists of messages."""

    def ids(self, tx: Tx, docs: Sequence[int]) -> list[MemoryId]:
        """The memories with these numbers, the oldest first."""
        ...

    def beside(self, tx: Tx, what: Comparison) -> list[Near]:
        """The nearest of its space that have a subject in common, or none if it has none."""
        ...

    def afar(self, tx: Tx, what: Comparison) -> list[Near]:
        """In other spaces: of one's word about oneself, the nearest hearsay about them; of hearsay
        about somebody, the nearest that they said about themself. Of anything else, nothing."""
        ...

    def kept_in(self, tx: Tx, memory_id: MemoryId) -> MemoryId | None:
        """The memory that this one turned out to repeat, if it did."""
        ...
