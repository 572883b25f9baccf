"""What services ask of storage about the graph. An edge is seen by whoever sees its memory: reads
for callers take the same Sight and filter as reads of memories."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from recollect.domain.disclosure import PersonId
from recollect.domain.graph import Entity, EntityId, Relation, RelationId, Thing
from recollect.domain.memories import MemoryId
from recollect.domain.sayings import EntityKind
from recollect.domain.spaces import Space
from recollect.policy.sight import Sight
from recollect.ports.database import Tx
from recollect.ports.memories import MemoryFilter


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """An edge by what it says: which ends, which relation."""

    id: RelationId
    from_id: EntityId
    relation: str
    to_id: EntityId

    @property
    def said(self) -> tuple[str, str, str]:
        """Two edges that say the same are one."""
        return self.from_id, self.relation, self.to_id


@dataclass(frozen=True, slots=True)
class Listed:
    """An entity with the time of the first edge that the reader sees of it. Of a person it has no
    name."""

    entity: Entity
    since: datetime


@dataclass(frozen=True, slots=True)
class Look:
    """Whose eyes look, and at which memories' edges."""

    sight: Sight
    chosen: MemoryFilter = field(default_factory=MemoryFilter)


class GraphStore(Protocol):
    """Entities and edges."""

    def put_thing(self, tx: Tx, space: Space, thing: Thing, *, new_id: EntityId) -> EntityId:
        """The entity of that kind and name in the space, made if it is not there, and held until
        the transaction ends."""
        ...

    def edges_of(self, tx: Tx, memory_id: MemoryId) -> list[StoredEdge]:
        """What a memory states now."""
        ...

    def insert(self, tx: Tx, edge: StoredEdge, memory_id: MemoryId, *, at: datetime) -> None:
        """One edge more."""
        ...

    def retract(self, tx: Tx, edge_id: RelationId, *, at: datetime) -> None:
        """The memory says it no more; who asks for the record of an earlier instant finds it."""
        ...

    def delete(self, tx: Tx, memory_id: MemoryId) -> None:
        """All edges that a memory ever had, and entities that nothing else holds."""
        ...

    def neighbours(
        self, tx: Tx, look: Look, ids: Collection[EntityId], *, limit: int
    ) -> list[Relation]:
        """Visible edges at any of these entities, the newest first."""
        ...

    def things(self, tx: Tx, ids: Collection[EntityId]) -> dict[EntityId, Entity]:
        """Those of these entities that are no people."""
        ...

    def page(
        self,
        tx: Tx,
        look: Look,
        *,
        kind: EntityKind | None,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Listed]:
        """Entities with at least one visible edge: by the time of the first one and id, newest
        first."""
        ...

    def about(
        self, tx: Tx, look: Look, person_ids: Collection[PersonId], *, limit: int
    ) -> Sequence[tuple[MemoryId, PersonId]]:
        """Visible memories about any of these people, the newest first; without those that have
        changed since the filter's `as_of`."""
        ...
