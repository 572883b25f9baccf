"""Operations and resources of the graph."""

from dataclasses import replace
from typing import Any

from pydantic import Field

from recollect.graph.fact_patterns import EntityKind
from recollect.graph.model import (
    HOPS_MAX,
    PATH_HOPS_MAX,
    EntityId,
)
from recollect.graph.service import GraphService, NeighbourhoodQuery
from recollect.http.call import Call, Handler
from recollect.http.examples import (
    ENTITY_ID,
    MEMORY_ID,
    RELATION_ID,
    USER_ID,
    USER_PERSON_ID,
)
from recollect.http.operation import (
    LIST,
    Operation,
    id_param,
    memory_operation,
)
from recollect.http.params import (
    Param,
    Schema,
    enum_param,
    instant_param,
    limit_param,
    query_param,
)
from recollect.http.resource import (
    InstantText,
    MarkedResource,
    Resource,
    ResourcePart,
    UnreadableFlag,
    resource_schemas,
)
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.space import SpaceKind, to_chat_id
from recollect.memories.model import ReadContext

NEIGHBOURHOOD_LIMIT = 100
PATH_HOPS = 3


class SpaceFields(ResourcePart):
    """A space as the graph names it."""

    kind: SpaceKind = Field(description="What the space belongs to.", examples=["user"])
    id: str = Field(
        description="The id of the agent, user, chat, run or org that it belongs to.",
        examples=[USER_ID],
    )


class EntityFields(ResourcePart):
    """An entity in an answer about several."""

    id: str = Field(
        description="The id of the entity. That of a person is the person's id.",
        examples=[ENTITY_ID],
    )
    kind: EntityKind = Field(description="What it is.", examples=["place"])
    name: str | None = Field(description="Its name, as a memory spells it.", examples=["Bern"])
    space: SpaceFields | None = Field(
        description="The space whose memories name it; null for a person."
    )
    unreadable: UnreadableFlag | None = None


class EntityResource(EntityFields, MarkedResource):
    """An entity."""


class GraphRelationFields(ResourcePart):
    """A relation of two entities."""

    id: str = Field(description="The id of the relation.", examples=[RELATION_ID])
    from_id: str = Field(description="The entity that it leads from.", examples=[USER_PERSON_ID])
    to_id: str = Field(description="The entity that it leads to.", examples=[ENTITY_ID])
    relation: str = Field(description="What the one is to the other.", examples=["lives_in"])
    memory_id: str = Field(description="The memory that says so.", examples=[MEMORY_ID])
    space: SpaceFields = Field(description="The space of that memory.")
    valid_from: InstantText | None = Field(
        description="From when on it is true; null if nobody said."
    )
    valid_until: InstantText | None = Field(
        description="Until when it is true; null if nobody said."
    )
    recorded_at: InstantText = Field(description="When it was stored.")
    retracted_at: InstantText | None = Field(
        description="When it stopped counting as true; null while it counts."
    )


class NeighbourhoodResource(Resource):
    """An entity with what lies around it."""

    entity: EntityFields = Field(description="The entity that was asked for.")
    entities: list[EntityFields] = Field(description="The entities around it, nearest first.")
    relations: list[GraphRelationFields] = Field(description="The relations between them.")
    truncated: bool = Field(
        description="Whether there are more than `limit` relations.", examples=[False]
    )

    def json_fields(self) -> dict[str, Any]:
        fields = self.model_dump()
        for entity in (fields["entity"], *fields["entities"]):
            if not entity["unreadable"]:
                del entity["unreadable"]
        return fields


class GraphPathResource(Resource):
    """The relations from one entity to another."""

    relations: list[GraphRelationFields] = Field(
        description="The steps of a shortest way, in order; none if there is no way."
    )


RESOURCES = resource_schemas(EntityResource, NeighbourhoodResource, GraphPathResource)


def _number_param(name: str, description: str, *, highest: int, default: int) -> Param:
    schema: Schema = {"type": "integer", "minimum": 1, "maximum": highest, "default": default}
    numbers = {str(number): number for number in range(1, highest + 1)}

    def read(value: str) -> int:
        if value not in numbers:
            raise ValueError(f"must be an integer from 1 to {highest}")
        return numbers[value]

    return Param(name, read, schema, description, default)


def _entity_param(name: str, description: str, example: str) -> Param:
    return replace(id_param(name, description), required=True, example=example)


OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "listEntities",
        "GET /v1/graph/entities",
        200,
        "List the entities that memories name which the caller may read, the latest to appear "
        "first. People are among them if the caller may know their names.",
        response="Entity",
        query=(
            query_param("A part of the name."),
            enum_param("kind", EntityKind, "Only entities of this kind."),
        ),
        paging=LIST,
    ),
    memory_operation(
        "getEntity",
        "GET /v1/graph/entities/{entity_id}",
        200,
        "Get an entity and what lies around it, nearest first. `limit` bounds the relations; "
        "`truncated` tells that there are more.",
        response="Neighbourhood",
        query=(
            _number_param("hops", "How many steps to go.", highest=HOPS_MAX, default=1),
            id_param("chat_id", "The chat in which it is asked."),
            instant_param("as_of", "What was recorded at this instant."),
            instant_param("valid_at", "What was true at this instant."),
            limit_param(NEIGHBOURHOOD_LIMIT),
        ),
    ),
    memory_operation(
        "findPath",
        "GET /v1/graph/path",
        200,
        "Find a shortest way between two entities, over relations that the caller may see.",
        response="GraphPath",
        query=(
            _entity_param("from", "The entity to start from.", USER_PERSON_ID),
            _entity_param("to", "The entity to arrive at.", ENTITY_ID),
            _number_param(
                "max_hops", "How many steps at most.", highest=PATH_HOPS_MAX, default=PATH_HOPS
            ),
        ),
    ),
)


async def list_entities(call: Call) -> bytes:
    page = await call.services[GraphService].list_entities(
        call.required_requester,
        query=call.query["query"],
        kind=call.query["kind"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(EntityResource.render, page.items), page.next_cursor)


async def get_entity(call: Call) -> str:
    chat_id = call.query["chat_id"]
    query = NeighbourhoodQuery(
        hops=call.query["hops"],
        context=ReadContext(to_chat_id(chat_id) if chat_id is not None else None),
        as_of=call.query["as_of"],
        valid_at=call.query["valid_at"],
        limit=call.query["limit"],
    )
    found = await call.services[GraphService].get_neighbourhood(
        call.required_requester, EntityId(call.path["entity_id"]), query
    )
    return NeighbourhoodResource.render(found)


async def find_path(call: Call) -> str:
    relations = await call.services[GraphService].find_path(
        call.required_requester,
        _required_entity_id(call, "from"),
        _required_entity_id(call, "to"),
        hops_max=call.query["max_hops"],
    )
    return GraphPathResource.render({"relations": relations})


def _required_entity_id(call: Call, name: str) -> EntityId:
    if call.query[name] is None:
        raise ValidationFailed.for_field(name, "is needed: the id of an entity")
    return EntityId(call.query[name])


HANDLERS: dict[str, Handler] = {
    "listEntities": list_entities,
    "getEntity": get_entity,
    "findPath": find_path,
}
