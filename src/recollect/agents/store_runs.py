"""Deletes the runs of a removed agent, so that a later agent of the same id does not find them."""

from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, literal_column, or_, select, update

from recollect.db.statements import Query, param
from recollect.db.tables.people import run_ancestors, runs
from recollect.db.transaction import Tx
from recollect.kernel.ids import AgentId

_r, _u = runs.c, run_ancestors.c
_own = runs.alias("own")
_ONE: ColumnElement[int] = literal_column("1")


def delete_runs(tx: Tx, agent_id: AgentId) -> None:
    """Delete the agent's runs. Runs of other agents that they started get the nearest remaining
    ancestor as parent, or become roots."""
    # The statements build on each other: first the rows of `run_ancestors` that name deleted runs
    # go; what is left of them tells parent and root of the remaining runs; then the runs go.
    params = {"agent_id": agent_id}
    tx.lock(_LOCK, params)
    for statement in (_DELETE_LINEAGE, _REPARENT, _DELETE):
        tx.run(statement, params)


def _remaining_ancestor(*order: Any) -> Any:
    """The first of the remaining ancestors, in this order."""
    above = select(_u.ancestor_id).where(_u.run_id == _r.id)
    return above.order_by(*order).limit(_ONE).scalar_subquery()


def _select_own(column: Any) -> Select[Any]:
    return select(column).where(_own.c.agent_id == _AGENT_ID)


_AGENT_ID = param("agent_id", _r.agent_id)
_LOCK = Query(select(_r.id).where(_r.agent_id == _AGENT_ID).order_by(_r.id).with_for_update())
_DELETE_LINEAGE = Query(
    delete(run_ancestors).where(
        or_(_u.run_id.in_(_select_own(_own.c.id)), _u.ancestor_id.in_(_select_own(_own.c.id)))
    )
)
_REPARENT = Query(
    update(runs)
    .where(_r.root_run_id.in_(_select_own(_own.c.root_run_id)), _r.agent_id != _AGENT_ID)
    .values(
        parent_run_id=_remaining_ancestor(_u.depth),
        root_run_id=func.coalesce(_remaining_ancestor(_u.depth.desc()), _r.id),
    )
)
_DELETE = Query(delete(runs).where(_r.agent_id == _AGENT_ID))
