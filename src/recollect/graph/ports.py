"""Interface of the store of the graph. An edge is visible exactly if its memory is, so reads take
the same Viewer and filter as reads of memories."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from recollect.db.transaction import Tx
from recollect.graph.fact_patterns import EntityKind
from recollect.graph.model import (
    Entity,
    EntityId,
    EntityRef,
    GraphRelation,
    RelationId,
)
from recollect.kernel.ids import MemoryId, PersonId
from recollect.kernel.space import Space
from recollect.memories.model import MemoryFilter
from recollect.visibility.viewer import Viewer


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """A stored edge of one memory: id, both ends and the relation."""

    id: RelationId
    from_id: EntityId
    relation: str
    to_id: EntityId

    @property
    def triple(self) -> tuple[str, str, str]:
        """Two edges of a memory with the same triple are the same edge."""
        return self.from_id, self.relation, self.to_id


@dataclass(frozen=True, slots=True)
class ListedEntity:
    """An entity with the time of the first edge of it that the reader sees. Names of people are
    missing: the service adds those that the reader may see."""

    entity: Entity
    since: datetime


@dataclass(frozen=True, slots=True)
class GraphContext:
    """Who reads the graph, and a filter for the memories whose edges count."""

    sight: Viewer
    chosen: MemoryFilter = field(default_factory=MemoryFilter)


class GraphStore(Protocol):
    def put_entity(self, tx: Tx, space: Space, thing: EntityRef, *, new_id: EntityId) -> EntityId:
        """The entity of that kind and name in the space, inserted if it is missing, and locked
        until the transaction ends."""
        ...

    def current_edges(self, tx: Tx, memory_id: MemoryId) -> list[StoredEdge]:
        """The current edges of a memory."""
        ...

    def insert(self, tx: Tx, edge: StoredEdge, memory_id: MemoryId, *, at: datetime) -> None: ...

    def retract(self, tx: Tx, edge_id: RelationId, *, at: datetime) -> None:
        """End an edge that the memory no longer states. Reads `as_of` an earlier instant still find
        it.
        """
        ...

    def delete(self, tx: Tx, memory_id: MemoryId) -> None:
        """Delete all edges that a memory ever had, and entities without any other edge."""
        ...

    def neighbours(
        self, tx: Tx, look: GraphContext, ids: Collection[EntityId], *, limit: int
    ) -> list[GraphRelation]:
        """Visible edges at any of these entities, the newest first."""
        ...

    def fetch_entities(self, tx: Tx, ids: Collection[EntityId]) -> dict[EntityId, Entity]:
        """Those of these entities that are not people."""
        ...

    def page(
        self,
        tx: Tx,
        look: GraphContext,
        *,
        kind: EntityKind | None,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[ListedEntity]:
        """Entities with a visible edge, ordered by the time of their first visible edge and id, the
        newest first."""
        ...

    def memories_about(
        self, tx: Tx, look: GraphContext, person_ids: Collection[PersonId], *, limit: int
    ) -> Sequence[tuple[MemoryId, PersonId]]:
        """Visible memories about any of these people, the newest first, without those that changed
        since the filter's `as_of`."""
        ...
