"""Reads the graph: lists entities, the neighbourhood of one, and paths between two. A caller sees
those edges whose memories the caller may see."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.graph.edges import VisibleEdges
from recollect.graph.fact_patterns import EntityKind
from recollect.graph.model import Entity, EntityId, GraphContext, GraphRelation, ListedEntity
from recollect.graph.store import GraphStores
from recollect.graph.walk import shortest_path, walk_graph
from recollect.identity.requester import Requester
from recollect.kernel.errors import NotFound
from recollect.kernel.ids import PersonId
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.memories.model import MemoryFilter, ReadContext
from recollect.people.model import normal_form
from recollect.people.name_candidates import visible_people
from recollect.visibility.viewers import ViewerFactory

_LIST = "entities"
_ROWS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourhoodQuery:
    """How far to read around an entity, in which chat, and at which instants."""

    hops: int = 1
    context: ReadContext = field(default_factory=ReadContext)
    as_of: datetime | None = None
    valid_at: datetime | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """An entity with the entities and relations around it, nearest first. `truncated`: there are
    more relations within the hops."""

    entity: Entity
    entities: list[Entity]
    relations: list[GraphRelation]
    truncated: bool


class GraphService:
    def __init__(self, context: ServiceContext[GraphStores], viewers: ViewerFactory) -> None:
        self._database = context.database
        self._stores = context.stores
        self._viewers = viewers
        self._edges = VisibleEdges(context.stores)

    async def list_entities(
        self,
        requester: Requester,
        *,
        query: str | None,
        kind: EntityKind | None,
        after: str | None,
        limit: int,
    ) -> Page[Entity]:
        """Entities in memories that the caller may read and whose names the caller may see, the
        latest first."""
        after_key = decode_key(_LIST, after) if after else None
        form = normal_form(query or "")

        def select_entities(tx: Tx) -> list[ListedEntity]:
            found = self._named_entities(tx, requester, kind=kind, after=after_key)
            fitting = (one for one in found if form in normal_form(one.entity.name or ""))
            return list(islice(fitting, limit + 1))

        found = await self._database.scan(select_entities)
        page = found[:limit]
        more = len(found) > limit
        cursor = encode_key(_LIST, page[-1].since, page[-1].entity.id) if more else None
        return Page([one.entity for one in page], cursor)

    async def get_neighbourhood(
        self, requester: Requester, entity_id: EntityId, query: NeighbourhoodQuery
    ) -> Neighbourhood:
        """NotFound if the caller sees no edge of the entity, or does not take part in the chat."""
        return await self._database.scan(
            lambda tx: self._load_neighbourhood(tx, requester, entity_id, query)
        )

    async def find_path(
        self, requester: Requester, start: EntityId, goal: EntityId, *, hops_max: int
    ) -> list[GraphRelation]:
        """A shortest path over edges that the caller may see; empty if there is none."""

        def work(tx: Tx) -> list[GraphRelation]:
            context = GraphContext(self._viewers.viewer_for(tx, requester))
            ends = self._canonical_id(tx, start), self._canonical_id(tx, goal)
            return shortest_path(
                *ends, hops_max=hops_max, neighbours=self._edges.neighbour_fetcher(tx, context)
            )

        return await self._database.scan(work)

    def _load_neighbourhood(
        self, tx: Tx, requester: Requester, entity_id: EntityId, query: NeighbourhoodQuery
    ) -> Neighbourhood:
        viewer = self._viewers.viewer_for(tx, requester, query.context)
        context = GraphContext(viewer, MemoryFilter(as_of=query.as_of, valid_at=query.valid_at))
        start = self._canonical_id(tx, entity_id)
        found = walk_graph(
            [start],
            hops=query.hops,
            limit=query.limit,
            neighbours=self._edges.neighbour_fetcher(tx, context),
        )
        # An entity without a visible edge is treated like an unknown id, even if it exists.
        if not found.relations:
            raise NotFound("entity", entity_id)
        first, *others = self._visible_entities(tx, requester, found.depths)
        return Neighbourhood(first, others, found.relations, found.truncated)

    def _canonical_id(self, tx: Tx, entity_id: EntityId) -> EntityId:
        """For a person who was merged away, the canonical person."""
        person = self._stores.people.fetch(tx, PersonId(entity_id))
        return entity_id if person is None else EntityId(person.id)

    def _visible_entities(
        self, tx: Tx, requester: Requester, ids: Collection[EntityId]
    ) -> list[Entity]:
        """The entities in the order of the ids. People whose names the caller may not see have None
        as name."""
        things = self._stores.graph.fetch_entities(tx, ids)
        names = self._person_names(tx, requester, [one for one in ids if one not in things])
        return [
            things.get(one) or Entity(one, EntityKind.PERSON, names.get(PersonId(one)))
            for one in ids
        ]

    def _person_names(
        self, tx: Tx, requester: Requester, ids: Iterable[EntityId]
    ) -> dict[PersonId, str]:
        people = visible_people(tx, self._stores, requester, [PersonId(one) for one in ids])
        return {id_: person.name for id_, person in people.items()}

    def _named_entities(
        self,
        tx: Tx,
        requester: Requester,
        *,
        kind: EntityKind | None,
        after: tuple[datetime, str] | None,
    ) -> Iterator[ListedEntity]:
        """All entities whose names the caller may see, read in batches. Names are encrypted, so SQL
        can't filter by them; the caller of this method does."""
        context = GraphContext(self._viewers.viewer_for(tx, requester))
        while True:
            found = self._stores.graph.page(
                tx, context, kind=kind, after=after, limit=_ROWS_AT_ONCE
            )
            people = [one.entity.id for one in found if one.entity.kind is EntityKind.PERSON]
            names = self._person_names(tx, requester, people) if people else {}
            for one in found:
                name = one.entity.name or names.get(PersonId(one.entity.id))
                if name is not None or one.entity.unreadable:
                    yield replace(one, entity=replace(one.entity, name=name))
            if len(found) < _ROWS_AT_ONCE:
                return
            after = (found[-1].since, found[-1].entity.id)
