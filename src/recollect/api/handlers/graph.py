"""Handlers of the graph, shared by REST and gRPC."""

from collections.abc import Iterable
from typing import Any

from recollect.api.calls import Call, Handler
from recollect.api.handlers.shapes import instant
from recollect.domain.graph import Entity, EntityId, Relation
from recollect.domain.jsontext import dump
from recollect.domain.spaces import Space, as_chat_id
from recollect.errors import ValidationFailed
from recollect.ports.memories import Context
from recollect.services.graph_reading import Surroundings


async def list_entities(call: Call) -> bytes:
    page = await call.services.graph.entities(
        call.asker,
        query=call.query["query"],
        kind=call.query["kind"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.to_page((dump(_entity(one)) for one in page.items), page.next_cursor)


async def get_entity(call: Call) -> str:
    chat_id = call.query["chat_id"]
    asked = Surroundings(
        hops=call.query["hops"],
        context=Context(as_chat_id(chat_id) if chat_id is not None else None),
        as_of=call.query["as_of"],
        valid_at=call.query["valid_at"],
        limit=call.query["limit"],
    )
    found = await call.services.graph.around(call.asker, EntityId(call.path["entity_id"]), asked)
    return dump(
        {
            "entity": _entity(found.entity),
            "entities": [_entity(one) for one in found.entities],
            "relations": _relations(found.relations),
            "truncated": found.truncated,
        }
    )


async def find_path(call: Call) -> str:
    relations = await call.services.graph.path(
        call.asker, _end(call, "from"), _end(call, "to"), hops_max=call.query["max_hops"]
    )
    return dump({"relations": _relations(relations)})


def _end(call: Call, name: str) -> EntityId:
    if call.query[name] is None:
        raise ValidationFailed.of(name, "is needed: the id of an entity")
    return EntityId(call.query[name])


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "kind": entity.kind,
        "name": entity.name,
        "space": _space(entity.space) if entity.space is not None else None,
    }


def _relations(relations: Iterable[Relation]) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "from_id": one.from_id,
            "to_id": one.to_id,
            "relation": one.relation,
            "memory_id": one.memory_id,
            "space": _space(one.space),
            "valid_from": instant(one.valid_from),
            "valid_until": instant(one.valid_until),
            "recorded_at": instant(one.recorded_at),
            "retracted_at": instant(one.retracted_at),
        }
        for one in relations
    ]


def _space(space: Space) -> dict[str, str]:
    return {"kind": space.kind, "id": space.id}


HANDLERS: dict[str, Handler] = {
    "listEntities": list_entities,
    "getEntity": get_entity,
    "findPath": find_path,
}
