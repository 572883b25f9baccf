"""Storage port of memories.

Reads on behalf of a caller take a `Viewer`: rows can't be asked for without saying for whom, in
which chat and at what time. `fetch` has none, and is for decisions of the server alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from recollect.domain.agents import AgentId, Owner
from recollect.domain.disclosure import PersonId
from recollect.domain.folding import FoldedText
from recollect.domain.memories import (
    Memory,
    MemoryId,
    MemoryKind,
    MemoryStatus,
    MemoryType,
    Sensitivity,
)
from recollect.domain.retention import MemoryScope
from recollect.domain.spaces import ChatId, RunId, Space, SpaceKind, Visibility
from recollect.policy.sight import Viewer
from recollect.ports.database import Tx


class VersionChange(StrEnum):
    """The change that made a version."""

    CREATED = "created"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    REMOVED = "removed"
    COMPACTED = "compacted"


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory with the columns beside it that are never shown.

    `doc` numbers rows for the search index. `bare_names` are subjects that could not be resolved.
    `privacy_said`: a subject chose the privacy, so no rule makes it stricter. `folded` saves
    folding the text again; it is ignored if it is of another text than the memory's.
    """

    memory: Memory
    written_by: Owner
    doc: int = 0
    bare_names: tuple[str, ...] = ()
    status_at: datetime | None = None
    import_id: str | None = None
    privacy_said: bool = False
    suspicion: float = 0.0
    suspicion_reasons: tuple[str, ...] = ()
    used_at: datetime | None = None
    compacted_at: datetime | None = None
    erasure_id: str | None = None
    folded: FoldedText | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Narrows the rows that a viewer can see. None and empty mean any.

    `spaces` None is every visible space; a space without an id is every space of its kind.
    `valid_at` (true in the world then) and `as_of` (recorded then) also match superseded rows.
    `statuses` replaces the default, active. `outside_user` excludes the space of one user.
    `told_in` matches portable memories and those learned in this chat; an empty text is no chat.
    """

    spaces: tuple[tuple[SpaceKind, str | None], ...] | None = None
    agent_id: AgentId | None = None
    visibility: Visibility | None = None
    scope: MemoryScope | None = None
    run_id: RunId | None = None
    kind: MemoryKind | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    types: tuple[MemoryType, ...] = ()
    subjects: tuple[PersonId, ...] = ()
    stated_by: PersonId | None = None
    sensitivity: Sensitivity | None = None
    statuses: tuple[MemoryStatus, ...] = (MemoryStatus.ACTIVE,)
    include_expired: bool = False
    created_after: datetime | None = None
    created_before: datetime | None = None
    valid_at: datetime | None = None
    as_of: datetime | None = None
    outside_user: str | None = None
    told_in: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """One version of a memory, current from `at` until `until`. `snapshot` holds the fields of an
    older version; it is None for the present one, whose fields are in the row."""

    memory_id: MemoryId
    version: int
    change: VersionChange
    at: datetime
    until: datetime | None
    by: Owner
    status: MemoryStatus
    snapshot: Mapping[str, Any] | None = field(default=None)


class MemoryStore(Protocol):
    """Memories with their versions, subjects, tags, sources and links."""

    def insert(self, tx: Tx, stored: StoredMemory) -> StoredMemory | None:
        """Insert the row with its first version, subjects, tags, sources and links. Returns it with
        its `doc`. Returns None and writes nothing if the id is taken."""
        ...

    def fetch(self, tx: Tx, memory_id: MemoryId, *, lock: bool = False) -> StoredMemory | None:
        """The row in any status, without a check of visibility: for decisions, never to be shown.
        With `lock` it is locked until the transaction ends."""
        ...

    def fetch_visible(
        self, tx: Tx, sight: Viewer, memory_id: MemoryId, chosen: MemoryFilter
    ) -> StoredMemory | None:
        """The row, if the viewer can see it and the filter matches."""
        ...

    def fetch_many_visible(
        self,
        tx: Tx,
        sight: Viewer,
        memory_ids: Sequence[MemoryId],
        chosen: MemoryFilter,
        *,
        compacted: bool = False,
    ) -> dict[MemoryId, StoredMemory]:
        """Those of these rows that the viewer can see and the filter matches; with `compacted` also
        those whose text was dropped."""
        ...

    def page(
        self,
        tx: Tx,
        sight: Viewer,
        chosen: MemoryFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[StoredMemory]:
        """A page of visible rows by `created_at` and id, newest first."""
        ...

    def update(
        self,
        tx: Tx,
        before: StoredMemory,
        after: Memory,
        *,
        change: VersionChange,
        by: Owner,
        at: datetime,
    ) -> StoredMemory:
        """Store the next version (`after.version` is one more) and keep the previous one as a
        snapshot. Subjects, tags, sources and conflict links are updated. The caller holds the lock.
        The columns beside the memory are stored as they are in `before`."""
        ...

    def delete(self, tx: Tx, memory_id: MemoryId, *, at: datetime) -> bool:
        """Delete the row with its versions, index rows, vectors, edges, conflict links and
        approvals. Histories of other memories keep its id. False if it was gone."""
        ...

    def versions(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> list[MemoryVersion]:
        """All versions of these memories, oldest first."""
        ...

    def predecessors(
        self, tx: Tx, memory_ids: Sequence[MemoryId]
    ) -> dict[MemoryId, list[MemoryId]]:
        """What each of these replaced directly. A link without a reason counts only if both rows
        exist and lie in one space."""
        ...

    def successors(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> set[MemoryId]:
        """The memories that directly replaced any of these."""
        ...

    def removals(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, datetime]:
        """Those of these that were removed while a history named them, and when."""
        ...

    def link_superseded(
        self, tx: Tx, successor: MemoryId, predecessor: MemoryId, *, at: datetime, reason: str
    ) -> None:
        """Store the link between successor and predecessor. Their rows are changed by `update`."""
        ...

    def link_conflict(self, tx: Tx, one: MemoryId, other: MemoryId, *, at: datetime) -> None:
        """Link both ways."""
        ...

    def find_same_text(self, tx: Tx, stored: StoredMemory, *, now: datetime) -> list[StoredMemory]:
        """Active statements of the same space whose text is equal after folding, oldest first,
        whatever their speaker and subjects.

        Locks the text in that space until the transaction ends: other writers of an equal text
        wait here. So a text that was not found can be inserted.
        """
        ...

    def lock_key(self, tx: Tx, space: Space, key: str) -> None:
        """Lock a record key of a space until the transaction ends, whether or not a row has it."""
        ...

    def find_by_key(self, tx: Tx, space: Space, key: str, *, now: datetime) -> list[StoredMemory]:
        """Active records of a space with a key, newest first."""
        ...

    def fetch_embedding(self, tx: Tx, memory_id: MemoryId) -> list[float] | None:
        """The vector of its text; None while there is none."""
        ...


@dataclass(frozen=True, slots=True)
class ReadContext:
    """The context of a read: the chat of the request, and for whom an agent asks."""

    chat_id: ChatId | None = None
    asker_id: str | None = None
