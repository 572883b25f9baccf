"""What services ask of storage to carry everything to another place and back: rows by the members
of their lines (see `domain/portable.py`), whatever table they are in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.domain.memories import MemoryId
from recollect.domain.portable import LineType
from recollect.policy.sight import Sight
from recollect.ports.database import Tx
from recollect.ports.memories import MemoryFilter, Stored

Values = dict[str, Any]
# The sort key of the last row of a page.
Place = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Exported:
    """Which memories an export holds: those that the sight shows in spaces that its callers may
    write. With `everything` it also holds what no memory refers to."""

    sight: Sight
    chosen: MemoryFilter
    everything: bool = False


class PortableStore(Protocol):
    """Pages are in a fixed order and go on behind the place of the last row."""

    def page(
        self, tx: Tx, type_: LineType, exported: Exported, *, after: Place | None, limit: int
    ) -> list[tuple[Place, Values]]:
        """Rows of that type that the memories refer to. Not for memories and what hangs on them."""
        ...

    def memories(
        self, tx: Tx, exported: Exported, *, after: Place | None, limit: int
    ) -> list[tuple[Place, Stored]]:
        """The memories, oldest first."""
        ...

    def of_memories(
        self, tx: Tx, type_: LineType, memory_ids: Sequence[MemoryId]
    ) -> dict[MemoryId, list[Values]]:
        """Versions, relations or approvals of these, in order."""
        ...

    def has(self, tx: Tx, type_: LineType, values: Mapping[str, Any]) -> bool:
        """Is this agent, person, merge, chat, stay or run there already?"""
        ...

    def put(self, tx: Tx, type_: LineType, values: Mapping[str, Any]) -> bool:
        """One row; False, and nothing is written, if it is there already. Versions take the place
        of one of the same number."""
        ...

    def drop(self, tx: Tx, type_: LineType, id_: str) -> None:
        """Take an agent, person or chat out, so that another can be put in its place."""
        ...

    def note_removal(self, tx: Tx, memory_id: MemoryId, at: datetime) -> None:
        """A memory that isn't there was removed; what is known of that already stays."""
        ...

    def forget_removal(self, tx: Tx, memory_id: MemoryId) -> None:
        """A memory that was removed is back."""
        ...
