"""Operations and resources of the graph."""

from collections.abc import Callable, Iterable
from typing import Any

from recollect.graph.fact_patterns import EntityKind
from recollect.graph.model import (
    HOPS_MAX,
    PATH_HOPS_MAX,
    Entity,
    EntityId,
    GraphRelation,
)
from recollect.graph.service import GraphService, NeighbourhoodQuery
from recollect.http.call import Call, Handler
from recollect.http.operation import (
    ID,
    LIST,
    Operation,
    id_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import (
    Param,
    Schema,
    enum_param,
    instant_param,
    limit_param,
    query_param,
)
from recollect.http.render import instant_text
from recollect.http.schemas import INSTANT, TEXT
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.space import Space, SpaceKind, to_chat_id
from recollect.kernel.strict_json import dump
from recollect.memories.model import ReadContext

AROUND_LIMIT = 100
PATH_HOPS = 3

_SPACE = resource({"kind": {"type": "string", "enum": [str(kind) for kind in SpaceKind]}, "id": ID})
_ENTITY = resource(
    {
        "id": ID,
        "kind": {"type": "string", "enum": [str(kind) for kind in EntityKind]},
        "name": nullable_field(TEXT),
        "space": nullable_field(_SPACE),
    }
)
_RELATION = resource(
    {
        "id": ID,
        "from_id": ID,
        "to_id": ID,
        "relation": TEXT,
        "memory_id": ID,
        "space": _SPACE,
        "valid_from": nullable_field(INSTANT),
        "valid_until": nullable_field(INSTANT),
        "recorded_at": INSTANT,
        "retracted_at": nullable_field(INSTANT),
    }
)


def _array_of(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


RESOURCES: dict[str, Schema] = {
    "Entity": _ENTITY,
    "Neighbourhood": resource(
        {
            "entity": _ENTITY,
            "entities": _array_of(_ENTITY),
            "relations": _array_of(_RELATION),
            "truncated": {"type": "boolean"},
        }
    ),
    "GraphPath": resource({"relations": _array_of(_RELATION)}),
}


def _number_param(name: str, description: str, *, highest: int, default: int) -> Param:
    schema: Schema = {"type": "integer", "minimum": 1, "maximum": highest, "default": default}
    return Param(name, _integer_parser(highest), schema, description, default)


def _integer_parser(highest: int) -> Callable[[str], int]:
    words = {str(number): number for number in range(1, highest + 1)}

    def read(value: str) -> int:
        if value not in words:
            raise ValueError(f"must be an integer from 1 to {highest}")
        return words[value]

    return read


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
            limit_param(AROUND_LIMIT),
        ),
    ),
    memory_operation(
        "findPath",
        "GET /v1/graph/path",
        200,
        "Find a shortest way between two entities, over relations that the caller may see.",
        response="GraphPath",
        query=(
            id_param("from", "The entity to start from."),
            id_param("to", "The entity to arrive at."),
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
    return call.render_page((dump(_entity_fields(one)) for one in page.items), page.next_cursor)


async def get_entity(call: Call) -> str:
    chat_id = call.query["chat_id"]
    asked = NeighbourhoodQuery(
        hops=call.query["hops"],
        context=ReadContext(to_chat_id(chat_id) if chat_id is not None else None),
        as_of=call.query["as_of"],
        valid_at=call.query["valid_at"],
        limit=call.query["limit"],
    )
    found = await call.services[GraphService].get_neighbourhood(
        call.required_requester, EntityId(call.path["entity_id"]), asked
    )
    return dump(
        {
            "entity": _entity_fields(found.entity),
            "entities": [_entity_fields(one) for one in found.entities],
            "relations": _relation_fields(found.relations),
            "truncated": found.truncated,
        }
    )


async def find_path(call: Call) -> str:
    relations = await call.services[GraphService].find_path(
        call.required_requester,
        _required_entity_id(call, "from"),
        _required_entity_id(call, "to"),
        hops_max=call.query["max_hops"],
    )
    return dump({"relations": _relation_fields(relations)})


def _required_entity_id(call: Call, name: str) -> EntityId:
    if call.query[name] is None:
        raise ValidationFailed.for_field(name, "is needed: the id of an entity")
    return EntityId(call.query[name])


def _entity_fields(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "kind": entity.kind,
        "name": entity.name,
        "space": _space_fields(entity.space) if entity.space is not None else None,
    }


def _relation_fields(relations: Iterable[GraphRelation]) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "from_id": one.from_id,
            "to_id": one.to_id,
            "relation": one.relation,
            "memory_id": one.memory_id,
            "space": _space_fields(one.space),
            "valid_from": instant_text(one.valid_from),
            "valid_until": instant_text(one.valid_until),
            "recorded_at": instant_text(one.recorded_at),
            "retracted_at": instant_text(one.retracted_at),
        }
        for one in relations
    ]


def _space_fields(space: Space) -> dict[str, str]:
    return {"kind": space.kind, "id": space.id}


HANDLERS: dict[str, Handler] = {
    "listEntities": list_entities,
    "getEntity": get_entity,
    "findPath": find_path,
}
