"""Handlers of the graph, shared by REST and gRPC."""

from collections.abc import Iterable
from typing import Any

from recollect.api.calls import Call, Handler
from recollect.api.handlers.shapes import instant_text
from recollect.domain.graph import Entity, EntityId, GraphRelation
from recollect.domain.jsontext import dump
from recollect.domain.spaces import Space, to_chat_id
from recollect.errors import ValidationFailed
from recollect.ports.memories import ReadContext
from recollect.services.graph_reading import NeighbourhoodQuery


async def list_entities(call: Call) -> bytes:
    page = await call.services.graph.list_entities(
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
    found = await call.services.graph.get_neighbourhood(
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
    relations = await call.services.graph.find_path(
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
