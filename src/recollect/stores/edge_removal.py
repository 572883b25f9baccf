"""Deletes edges of the graph, and entities that have no other edge."""

from collections.abc import Sequence

from sqlalchemy import delete, or_, select

from recollect.domain import jsontext
from recollect.ports.database import Tx
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.memory_tables import entities, relations
from recollect.stores.statements import Statement, param

_e, _r = entities.c, relations.c


def remove_edges(tx: Tx, memory_ids: Sequence[str]) -> None:
    """Delete all edges that these memories ever had, and the entities that are left without
    edges."""
    # The entities are locked first, in the order of their ids. `put_entity` locks an entity before
    # an edge to it is inserted. So a concurrent writer either comes first, and its new edge is seen
    # here and keeps the entity; or it waits, finds no entity, and starts again.
    params = {"ids": jsontext.dump(list(memory_ids))}
    tx.lock(_HOLD, params)
    tx.run(_DROP_LONE, params)
    tx.run(_DROP, params)


_IDS = param("ids")
_OURS = AmongTexts(_r.memory_id, _IDS)
_ENDS = _e.id.in_(select(_r.from_id).where(_OURS).union(select(_r.to_id).where(_OURS)))
_HELD = or_(_r.from_id == _e.id, _r.to_id == _e.id)
_ELSEWHERE = select(_r.id).where(~AmongTexts(_r.memory_id, _IDS), _HELD).exists()
_HOLD = Statement(select(_e.id).where(_ENDS).order_by(_e.id).with_for_update())
# Before the edges, because the entities are found through them.
_DROP_LONE = Statement(delete(entities).where(_ENDS, ~_ELSEWHERE))
_DROP = Statement(delete(relations).where(_OURS))
