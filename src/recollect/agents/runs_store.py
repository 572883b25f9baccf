"""The store of runs. `run_ancestors` has a row for every ancestor of every run, so lineage is a
join and needs no recursion."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, insert, literal_column, or_, select, tuple_, union_all, update

from recollect.agents.run import Run, RunLineage, RunStatus
from recollect.db.engines.expressions import insert_if_absent
from recollect.db.statements import Query, Row, literal_word, param
from recollect.db.tables.people import agents, run_ancestors, runs
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.ids import AgentId, RunId
from recollect.kernel.owner import Owner, OwnerKind

_r, _u, _a = runs.c, run_ancestors.c, agents.c
_COLUMNS = tuple(runs.columns)


class RunStore:
    """Runs and their lineage. A run is visible to the readers of its space: the owner of its agent,
    the agent itself, and agents of ancestor and descendant runs."""

    def insert(self, tx: Tx, run: Run) -> bool:
        """Insert a run and its ancestors. False if the id is taken; nothing is written then."""
        if tx.fetch_first(_INSERT, _to_params(run)) is None:
            return False
        if run.parent_run_id is not None:
            tx.run(_INSERT_ANCESTORS, {"id": run.id, "parent_run_id": run.parent_run_id})
        return True

    def fetch(self, tx: Tx, run_id: RunId, *, lock: bool = False) -> Run | None:
        """The run, without a visibility check. With `lock` its row is locked until the transaction
        ends."""
        if lock:
            tx.lock(_LOCK, {"id": run_id})
        row = tx.fetch_first(_FETCH, {"id": run_id})
        return _from_row(row) if row else None

    def fetch_visible(self, tx: Tx, who: Owner, run_id: RunId) -> Run | None:
        """The run if `who` may see it."""
        row = tx.fetch_first(_fetch_visible(who.kind), {"who": who.id, "id": run_id})
        return _from_row(row) if row else None

    def page(
        self,
        tx: Tx,
        who: Owner,
        *,
        agent_id: AgentId | None,
        status: RunStatus | None,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Run]:
        """Runs that `who` may see, the latest start first."""
        params: dict[str, Any] = {"who": who.id, "limit": limit}
        params |= {} if agent_id is None else {"agent_id": agent_id}
        params |= {} if status is None else {"status": status}
        params |= {} if after is None else {"at": after[0], "id": after[1]}
        statement = _page(
            who.kind,
            of_agent=agent_id is not None,
            of_status=status is not None,
            cursor=after is not None,
        )
        return [_from_row(row) for row in tx.fetch(statement, params)]

    def fetch_lineage(self, tx: Tx, who: Owner, run_id: RunId) -> RunLineage:
        """The part of the lineage that `who` may see."""
        params = {"who": who.id, "id": run_id}
        above = tx.fetch(_ancestors(who.kind), params)
        below = tx.fetch(_descendants(who.kind), params)
        return RunLineage([_from_row(row) for row in above], [_from_row(row) for row in below])

    def fetch_tree_ids(self, tx: Tx, root_run_id: RunId) -> list[RunId]:
        """Ids of all runs of a tree, the root included."""
        return [RunId(row[0]) for row in tx.fetch(_TREE, {"id": root_run_id})]

    def complete(self, tx: Tx, run: Run) -> None:
        """Store status, error and `completed_at`."""
        tx.run(_COMPLETE, _to_params(run))


def _to_params(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "agent_id": run.agent_id,
        "parent_run_id": run.parent_run_id,
        "root_run_id": run.root_run_id,
        "status": run.status,
        "error": run.error,
        "started_at": run.started_at,
        "completed_at": run.completed_at,
        "metadata": strict_json.dump(run.metadata),
    }


def _from_row(row: Row) -> Run:
    return Run(
        id=RunId(row[0]),
        agent_id=AgentId(row[1]),
        parent_run_id=row[2],
        root_run_id=RunId(row[3]),
        status=RunStatus(row[4]),
        error=row[5],
        started_at=row[6],
        completed_at=row[7],
        metadata=strict_json.load(row[8]),
    )


def _is_visible(kind: OwnerKind) -> ColumnElement[bool]:
    """The same rule as `_can_read_run` in `visibility/spaces_sql.py`, over `runs`."""
    who = param("who", _r.agent_id)
    owned = select(_a.id).where(_a.owner_kind == literal_word(kind), _a.owner_id == who)
    if kind is not OwnerKind.AGENT:
        return _r.agent_id.in_(owned)
    # Ancestors and descendants of the agent's own runs, as two subqueries that don't depend on the
    # row: they are computed once for a page.
    other, line = runs.alias("other"), run_ancestors.alias("line")
    own = other.c.agent_id == who
    below = select(line.c.run_id).join(other, other.c.id == line.c.ancestor_id).where(own)
    above = select(line.c.ancestor_id).join(other, other.c.id == line.c.run_id).where(own)
    return or_(_r.agent_id == who, _r.agent_id.in_(owned), _r.id.in_(below), _r.id.in_(above))


@cache
def _fetch_visible(kind: OwnerKind) -> Query:
    return Query(select(*_COLUMNS).where(_r.id == _ID, _is_visible(kind)))


@cache
def _page(kind: OwnerKind, *, of_agent: bool, of_status: bool, cursor: bool) -> Query:
    query = select(*_COLUMNS).where(_is_visible(kind))
    if of_agent:
        query = query.where(_r.agent_id == param("agent_id", _r.agent_id))
    if of_status:
        query = query.where(_r.status == param("status", _r.status))
    if cursor:
        here = tuple_(param("at", _r.started_at), _ID)
        query = query.where(tuple_(_r.started_at, _r.id) < here)
    query = query.order_by(_r.started_at.desc(), _r.id.desc())
    return Query(query.limit(param("limit")))


@cache
def _ancestors(kind: OwnerKind) -> Query:
    query = select(*_COLUMNS).join(run_ancestors, _u.ancestor_id == _r.id)
    return Query(query.where(_u.run_id == _ID, _is_visible(kind)).order_by(_u.depth))


@cache
def _descendants(kind: OwnerKind) -> Query:
    query = select(*_COLUMNS).join(run_ancestors, _u.run_id == _r.id)
    query = query.where(_u.ancestor_id == _ID, _is_visible(kind))
    return Query(query.order_by(_u.depth, _r.started_at, _r.id))


def _insert_ancestors() -> Query:
    """Insert the parent, and all ancestors of the parent, as ancestors of the run."""
    parent = param("parent_run_id", _r.parent_run_id)
    one: ColumnElement[int] = literal_column("1")
    rows = union_all(
        select(_ID, parent, one),
        select(_ID, _u.ancestor_id, _u.depth + one).where(_u.run_id == parent),
    )
    return Query(insert(run_ancestors).from_select(["run_id", "ancestor_id", "depth"], rows))


_ID = param("id", _r.id)
_INSERT = Query(
    insert_if_absent(runs, "id")
    .values({column.name: param(column.name, column) for column in _COLUMNS})
    .returning(_r.id)
)
_INSERT_ANCESTORS = _insert_ancestors()
_FETCH = Query(select(*_COLUMNS).where(_r.id == _ID))
_LOCK = Query(select(_r.id).where(_r.id == _ID).with_for_update())
_TREE = Query(select(_r.id).where(_r.root_run_id == _ID).order_by(_r.started_at, _r.id))
_COMPLETE = Query(
    update(runs)
    .where(_r.id == _ID)
    .values({name: param(name, _r[name]) for name in ("status", "error", "completed_at")})
)
