"""The store of the graph: entities of spaces, and edges between them and people."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from recollect.db.columns import EncryptedColumn
from recollect.db.statements import Row
from recollect.db.tables.memories import entities
from recollect.db.transaction import RetryTransaction, Tx
from recollect.graph import store_sql as sql
from recollect.graph.fact_patterns import EntityKind
from recollect.graph.model import (
    Entity,
    EntityId,
    EntityRef,
    GraphContext,
    GraphRelation,
    ListedEntity,
    RelationId,
    StoredEdge,
)
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId, PersonId
from recollect.kernel.runtime import Cipher
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.store.filters_sql import FilterShape, filter_params
from recollect.memories.store.graph_edges import remove_edges
from recollect.people.model import normal_form
from recollect.visibility.sql import ViewerShape, viewer_params


class GraphStore:
    """Names are encrypted like the texts they come from, and are compared by a hash of their normal
    form."""

    def __init__(self, cipher: Cipher) -> None:
        self._name = EncryptedColumn(cipher, entities.c.name)

    def put_entity(self, tx: Tx, space: Space, thing: EntityRef, *, new_id: EntityId) -> EntityId:
        """The entity of that kind and name in the space, inserted if it is missing, and locked
        until the transaction ends."""
        params = {
            "id": new_id,
            "kind": thing.kind,
            "name": self._name.seal(thing.name, new_id),
            "fold": sha256(normal_form(thing.name).encode()).hexdigest(),
            "space_kind": space.kind,
            "space_id": space.id,
        }
        tx.run(sql.PUT_ENTITY, params)
        # Locked against `remove_edges`, which deletes an entity with its last edge. If that came
        # first, the entity is gone after the wait.
        tx.lock(sql.LOCK_ENTITY, params)
        found = tx.fetch_first(sql.FIND_ENTITY, params)
        if found is None:
            raise RetryTransaction("the entity was removed meanwhile")
        return EntityId(found[0])

    def current_edges(self, tx: Tx, memory_id: MemoryId) -> list[StoredEdge]:
        """The current edges of a memory."""
        rows = tx.fetch(sql.CURRENT_EDGES, {"memory_id": memory_id})
        return [StoredEdge(RelationId(row[0]), row[1], row[2], row[3]) for row in rows]

    def insert(self, tx: Tx, edge: StoredEdge, memory_id: MemoryId, *, at: datetime) -> None:
        params = {
            "id": edge.id,
            "from_id": edge.from_id,
            "to_id": edge.to_id,
            "relation": edge.relation,
            "memory_id": memory_id,
            "recorded_at": at,
        }
        tx.run(sql.INSERT_EDGE, params)

    def retract(self, tx: Tx, edge_id: RelationId, *, at: datetime) -> None:
        """End an edge that the memory no longer states. Reads `as_of` an earlier instant still find
        it.
        """
        tx.run(sql.RETRACT_EDGE, {"id": edge_id, "at": at})

    def delete(self, tx: Tx, memory_id: MemoryId) -> None:
        """Delete all edges that a memory ever had, and entities without any other edge."""
        remove_edges(tx, [memory_id])

    def neighbours(
        self, tx: Tx, context: GraphContext, ids: Collection[EntityId], *, limit: int
    ) -> list[GraphRelation]:
        """Visible edges at any of these entities, the newest first."""
        params = _context_params(context) | {"ids": _json_list(ids), "limit": limit}
        return [
            _relation_from_row(row) for row in tx.fetch(sql.neighbours(*_shapes(context)), params)
        ]

    def fetch_entities(self, tx: Tx, ids: Collection[EntityId]) -> dict[EntityId, Entity]:
        """Those of these entities that are not people."""
        rows = tx.fetch(sql.FETCH_ENTITIES, {"ids": _json_list(ids)}) if ids else ()
        return {row[0]: self._to_entity(row) for row in rows}

    def page(
        self,
        tx: Tx,
        context: GraphContext,
        *,
        kind: EntityKind | None,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[ListedEntity]:
        """Entities with a visible edge, ordered by the time of their first visible edge and id, the
        newest first."""
        params = _context_params(context) | {"kind": kind, "limit": limit}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        statement = sql.entity_page(*_shapes(context), kind=kind, cursor=after is not None)
        return [ListedEntity(self._to_entity(row), row[-1]) for row in tx.fetch(statement, params)]

    def memories_about(
        self, tx: Tx, context: GraphContext, person_ids: Collection[PersonId], *, limit: int
    ) -> Sequence[tuple[MemoryId, PersonId]]:
        """Visible memories about any of these people, the newest first, without those that changed
        since the filter's `as_of`."""
        params = _context_params(context) | {"ids": _json_list(person_ids), "limit": limit}
        return [(row[0], row[1]) for row in tx.fetch(sql.memories_about(*_shapes(context)), params)]

    def _to_entity(self, row: Row) -> Entity:
        """A row without a kind was not found in `entities`, so it is a person; names of people are
        read elsewhere."""
        id_, kind, name, space_kind, space_id = row[:5]
        if kind is None:
            return Entity(EntityId(id_), EntityKind.PERSON, None)
        space = Space(SpaceKind(space_kind), space_id)
        opened = self._name.open_to_show(name, id_)
        return Entity(
            EntityId(id_), EntityKind(kind), opened.text, space, unreadable=opened.unreadable
        )


def _shapes(context: GraphContext) -> tuple[ViewerShape, FilterShape]:
    return ViewerShape.from_viewer(context.viewer), FilterShape.from_filter(context.filters)


def _context_params(context: GraphContext) -> dict[str, Any]:
    return {**viewer_params(context.viewer), **filter_params(context.filters, context.viewer.now)}


def _json_list(ids: Iterable[str]) -> str:
    return strict_json.dump(sorted(ids))


def _relation_from_row(row: Row) -> GraphRelation:
    return GraphRelation(
        id=RelationId(row[0]),
        from_id=EntityId(row[1]),
        to_id=EntityId(row[2]),
        relation=row[3],
        memory_id=MemoryId(row[4]),
        space=Space(SpaceKind(row[5]), row[6]),
        valid_from=row[7],
        valid_until=row[8],
        recorded_at=row[9],
        retracted_at=row[10],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStores(MemoryStores):
    """The stores of this package and of those below."""

    graph: GraphStore
