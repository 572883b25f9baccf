"""Deletes edges of the graph, and entities that have no other edge."""

from collections.abc import Sequence

from sqlalchemy import delete, or_, select

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, param
from recollect.db.tables.memories import entities, relations
from recollect.db.transaction import Tx
from recollect.kernel import strict_json

_e, _r = entities.c, relations.c


def remove_edges(tx: Tx, memory_ids: Sequence[str]) -> None:
    """Delete all edges that these memories ever had, and the entities that are left without
    edges."""
    # The entities are locked first, in the order of their ids. `put_entity` locks an entity before
    # an edge to it is inserted. So a concurrent writer either comes first, and its new edge is seen
    # here and keeps the entity; or it waits, finds no entity, and starts again.
    params = {"ids": strict_json.dump(list(memory_ids))}
    tx.lock(_LOCK_ENTITIES, params)
    tx.run(_DELETE_ORPHANS, params)
    tx.run(_DELETE_EDGES, params)


_IDS = param("ids")
_OF_MEMORIES = InTextList(_r.memory_id, _IDS)
_ENDS = _e.id.in_(
    select(_r.from_id).where(_OF_MEMORIES).union(select(_r.to_id).where(_OF_MEMORIES))
)
_IS_END = or_(_r.from_id == _e.id, _r.to_id == _e.id)
_HAS_OTHER_EDGE = select(_r.id).where(~InTextList(_r.memory_id, _IDS), _IS_END).exists()
_LOCK_ENTITIES = Query(select(_e.id).where(_ENDS).order_by(_e.id).with_for_update())
# Before the edges, because the entities are found through them.
_DELETE_ORPHANS = Query(delete(entities).where(_ENDS, ~_HAS_OTHER_EDGE))
_DELETE_EDGES = Query(delete(relations).where(_OF_MEMORIES))
