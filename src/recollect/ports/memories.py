"""What services ask of storage about memories. Reads for callers take a Sight: there is no way to
ask for rows without saying for whom, where and when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from recollect.domain.agents import AgentId, Owner
from recollect.domain.disclosure import PersonId
from recollect.domain.folding import Folded
from recollect.domain.memories import (
    Kind,
    Memory,
    MemoryId,
    MemoryType,
    Sensitivity,
    Status,
)
from recollect.domain.retention import MemoryScope
from recollect.domain.spaces import ChatId, RunId, Space, SpaceKind, Visibility
from recollect.policy.sight import Sight
from recollect.ports.database import Tx


class Change(StrEnum):
    """What a version came from."""

    CREATED = "created"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    REMOVED = "removed"
    COMPACTED = "compacted"


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory with what is stored beside it and never shown.

    `doc` numbers rows for the search index. `bare_names` are subjects that nobody could resolve.
    `privacy_said`: a subject said who may know, so no rule makes it stricter. `folded` is what was
    made of a text already; of another text than the memory's it counts for nothing.
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
    folded: Folded | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which of the rows that a sight shows are asked for. None and empty mean any.

    `spaces` None is every space that the sight shows. In a space without an id every space of the
    kind is meant. `valid_at` and `as_of` also let superseded rows through, as section 9 of the
    contract tells; `statuses` is what a caller asked for instead of active. `outside_user` leaves
    the space of one user out. `told_in` asks for what is portable, and for what was learned in this
    chat; empty means no chat.
    """

    spaces: tuple[tuple[SpaceKind, str | None], ...] | None = None
    agent_id: AgentId | None = None
    visibility: Visibility | None = None
    scope: MemoryScope | None = None
    run_id: RunId | None = None
    kind: Kind | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    types: tuple[MemoryType, ...] = ()
    subjects: tuple[PersonId, ...] = ()
    stated_by: PersonId | None = None
    sensitivity: Sensitivity | None = None
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    include_expired: bool = False
    created_after: datetime | None = None
    created_before: datetime | None = None
    valid_at: datetime | None = None
    as_of: datetime | None = None
    outside_user: str | None = None
    told_in: str | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a memory: current from `at` until `until`. `snapshot` holds the shown members
    of an older version; of the present one it is the row itself."""

    memory_id: MemoryId
    version: int
    change: Change
    at: datetime
    until: datetime | None
    by: Owner
    status: Status
    snapshot: Mapping[str, Any] | None = field(default=None)


class MemoryStore(Protocol):
    """Memories, their versions and what hangs on them: subjects, tags, sources, links."""

    def insert(self, tx: Tx, stored: Stored) -> Stored | None:
        """With its version 1, subjects, tags, sources and links; the row with its `doc`. None if
        the id is taken, and nothing is written."""
        ...

    def fetch(self, tx: Tx, memory_id: MemoryId, *, lock: bool = False) -> Stored | None:
        """The row as it is, whoever asks and whatever its status: for deciding, never for
        showing. With `lock` it is held until the transaction ends."""
        ...

    def see(self, tx: Tx, sight: Sight, memory_id: MemoryId, chosen: MemoryFilter) -> Stored | None:
        """The row, if the sight shows it and the filter lets it through."""
        ...

    def see_many(
        self,
        tx: Tx,
        sight: Sight,
        memory_ids: Sequence[MemoryId],
        chosen: MemoryFilter,
        *,
        compacted: bool = False,
    ) -> dict[MemoryId, Stored]:
        """Those of these rows that the sight shows; with `compacted` also those whose text went
        long ago."""
        ...

    def page(
        self,
        tx: Tx,
        sight: Sight,
        chosen: MemoryFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Stored]:
        """By `created_at` and id, newest first."""
        ...

    def update(
        self, tx: Tx, before: Stored, after: Memory, *, change: Change, by: Owner, at: datetime
    ) -> Stored:
        """Store the next version (`after.version` is one more) and keep the one before; subjects,
        tags, sources and conflict links follow the row. The caller holds its lock. What `before`
        says beside its memory is stored as it stands."""
        ...

    def delete(self, tx: Tx, memory_id: MemoryId, *, at: datetime) -> bool:
        """The row with its versions, index rows, vectors, edges, links of conflict and approvals.
        Histories of others keep the id. False if it was gone."""
        ...

    def versions(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> list[Version]:
        """All versions of these memories, oldest first."""
        ...

    def predecessors(
        self, tx: Tx, memory_ids: Sequence[MemoryId]
    ) -> dict[MemoryId, list[MemoryId]]:
        """What each of these replaced, directly. A link without a reason counts where both rows
        are there and lie in one space."""
        ...

    def successors(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> set[MemoryId]:
        """What any of these was replaced by, directly."""
        ...

    def removals(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, datetime]:
        """Which of these are gone, and since when."""
        ...

    def link_superseded(
        self, tx: Tx, successor: MemoryId, predecessor: MemoryId, *, at: datetime, reason: str
    ) -> None:
        """Remember who replaced whom; the rows themselves are changed by `update`."""
        ...

    def link_conflict(self, tx: Tx, one: MemoryId, other: MemoryId, *, at: datetime) -> None:
        """Both ways."""
        ...

    def find_same_text(self, tx: Tx, stored: Stored, *, now: datetime) -> list[Stored]:
        """Active statements of the same space whose text is equal after folding, whoever said it of
        whom, the oldest first. Until the transaction ends nobody else gets an answer about that
        text there, so what is not found can be inserted."""
        ...

    def hold_key(self, tx: Tx, space: Space, key: str) -> None:
        """Until the transaction ends nobody else holds this key there."""
        ...

    def find_key(self, tx: Tx, space: Space, key: str, *, now: datetime) -> list[Stored]:
        """Active records of a space under a key, newest first."""
        ...

    def embedding(self, tx: Tx, memory_id: MemoryId) -> list[float] | None:
        """The vector of its text; None while there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What a call says of its context: the chat it is asked in, and for whom an agent asks."""

    chat_id: ChatId | None = None
    asker_id: str | None = None
