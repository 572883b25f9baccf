"""Storage for export and import: rows of any table, as values by the fields of their lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId
from recollect.memories.model import MemoryFilter, StoredMemory
from recollect.portability.lines import LineType
from recollect.visibility.viewer import Viewer

LineValues = dict[str, Any]
# The sort key of the last row of a page.
ExportCursor = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ExportScope:
    """Which memories an export holds: those that the viewer may see, in spaces that they may write.
    With `everything` it also has rows of other types that no memory refers to."""

    sight: Viewer
    chosen: MemoryFilter
    everything: bool = False


class PortableStore(Protocol):
    """Pages are in a fixed order and continue after the cursor of the last row."""

    def page(
        self,
        tx: Tx,
        type_: LineType,
        exported: ExportScope,
        *,
        after: ExportCursor | None,
        limit: int,
    ) -> list[tuple[ExportCursor, LineValues]]:
        """Rows of a type other than memories and their parts, to which the memories refer."""
        ...

    def memory_page(
        self, tx: Tx, exported: ExportScope, *, after: ExportCursor | None, limit: int
    ) -> list[tuple[ExportCursor, StoredMemory]]:
        """The memories, oldest first."""
        ...

    def parts_of_memories(
        self, tx: Tx, type_: LineType, memory_ids: Sequence[MemoryId]
    ) -> dict[MemoryId, list[LineValues]]:
        """Versions, relations or approvals by memory id, in a fixed order."""
        ...

    def has(self, tx: Tx, type_: LineType, values: Mapping[str, Any]) -> bool:
        """Whether the agent, person, merge, chat, participation or run exists."""
        ...

    def put(self, tx: Tx, type_: LineType, values: Mapping[str, Any]) -> bool:
        """Insert a row. False if it exists, and nothing is written then. A version replaces the one
        of the same number: inserting its memory has created version 1 already."""
        ...

    def delete(self, tx: Tx, type_: LineType, id_: str) -> None:
        """Delete an agent, person or chat, so that an imported one can take its id."""
        ...

    def record_removal(self, tx: Tx, memory_id: MemoryId, at: datetime) -> None:
        """Record when a memory that doesn't exist was removed; an earlier record stays."""
        ...

    def delete_removal(self, tx: Tx, memory_id: MemoryId) -> None:
        """Delete the removal record of a memory that is about to exist again."""
        ...
