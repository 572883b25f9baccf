"""Operations and resources of the graph."""

from collections.abc import Callable

from recollect.api.memory.rows import ID, LIST, id_param, memory_operation, nullable_field, resource
from recollect.api.operation import Operation
from recollect.api.params import Param, Schema, enum_param, instant_param, limit_param, query_param
from recollect.api.resources import INSTANT, TEXT
from recollect.domain.graph import HOPS_MAX, PATH_HOPS_MAX
from recollect.domain.sayings import EntityKind
from recollect.domain.spaces import SpaceKind

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
