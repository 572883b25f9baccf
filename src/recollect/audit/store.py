"""The table of the audit log."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select, tuple_, update

from recollect.audit.model import AuditOutcome, Event, EventFilter, EventKind
from recollect.db.engines.expressions import insert_if_absent
from recollect.db.statements import Query, Row, param
from recollect.db.tables.conversations import events
from recollect.db.transaction import Tx
from recollect.kernel import strict_json

_v = events.c
EVENT = tuple(events.columns)


class SqlEvents:
    """EventStore on SQLite and PostgreSQL."""

    def insert(self, tx: Tx, event: Event) -> None:
        tx.run(_INSERT, _to_params(event))

    def insert_once(self, tx: Tx, event: Event) -> None:
        tx.run(_INSERT_ONCE, _to_params(event))

    def fetch(self, tx: Tx, event_id: str) -> Event | None:
        row = tx.fetch_first(_FETCH, {"id": event_id})
        return from_row(row) if row else None

    def page(self, tx: Tx, filters: EventFilter, *, after: Event | None, limit: int) -> list[Event]:
        wanted = {name: getattr(filters, name) for name in FILTERS}
        used = {name: value for name, value in wanted.items() if value is not None}
        params: dict[str, Any] = {**used, "limit": limit}
        if after is not None:
            params |= {"at": after.at, "id": after.id}
        statement = _page_query(frozenset(used), cursor=after is not None)
        return [from_row(row) for row in tx.fetch(statement, params)]

    def add_count(self, tx: Tx, event_id: str, count: int) -> None:
        tx.run(_ADD_COUNT, {"id": event_id, "more": count})

    def delete_before(self, tx: Tx, cutoff: datetime, *, limit: int) -> int:
        return tx.run_and_count(_DELETE_BEFORE, {"cutoff": cutoff, "limit": limit})


def _to_params(event: Event) -> dict[str, Any]:
    params = {column.name: getattr(event, column.name) for column in EVENT}
    params["kind"] = event.kind.value
    params["outcome"] = event.outcome.value
    params["params"] = strict_json.dump(event.params)
    return params


def from_row(row: Row) -> Event:
    """The event of a row with the columns of `EVENT`."""
    values = dict(zip((column.name for column in EVENT), row, strict=True))
    values["kind"] = EventKind(values["kind"])
    values["outcome"] = AuditOutcome(values["outcome"])
    values["params"] = strict_json.load(values["params"])
    return Event(**values)


FILTERS: dict[str, ColumnElement[bool]] = {
    "kind": _v.kind == param("kind", _v.kind),
    "action": _v.action == param("action", _v.action),
    "actor_user_id": _v.actor_user_id == param("actor_user_id", _v.actor_user_id),
    "target_user_id": _v.target_user_id == param("target_user_id", _v.target_user_id),
    "conversation_id": _v.conversation_id == param("conversation_id", _v.conversation_id),
    "memory_id": _v.memory_id == param("memory_id", _v.memory_id),
    "agent_id": _v.agent_id == param("agent_id", _v.agent_id),
    "run_id": _v.run_id == param("run_id", _v.run_id),
    "since": _v.at >= param("since", _v.at),
    "until": _v.at < param("until", _v.at),
}


@cache
def _page_query(used: frozenset[str], *, cursor: bool) -> Query:
    query = select(*EVENT).where(*(FILTERS[name] for name in sorted(used)))
    if cursor:
        here = tuple_(param("at", _v.at), param("id", _v.id))
        query = query.where(tuple_(_v.at, _v.id) < here)
    return Query(query.order_by(_v.at.desc(), _v.id.desc()).limit(param("limit")))


_INSERT = Query(insert(events).values({c.name: param(c.name, c) for c in EVENT}))
_INSERT_ONCE = Query(
    insert_if_absent(events, "id").values({c.name: param(c.name, c) for c in EVENT})
)
_FETCH = Query(select(*EVENT).where(_v.id == param("id", _v.id)))
_ADD_COUNT = Query(
    update(events)
    .where(_v.id == param("id", _v.id))
    .values(count=_v["count"] + param("more", _v["count"]))
)
# Deleted in batches, oldest first: a DELETE without a limit could lock and log for minutes.
_DUE = (
    select(_v.id).where(_v.at < param("cutoff", _v.at)).order_by(_v.at, _v.id).limit(param("limit"))
)
_DELETE_BEFORE = Query(delete(events).where(_v.id.in_(_DUE)))
