"""SQL for reads of the audit log. Each row of the table in `EventReader` is one clause here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    union,
    union_all,
)

from recollect.audit.model import Event, EventCursor, EventFilter, EventKind
from recollect.audit.policy import EventReader
from recollect.audit.ports import EventBatch, MemoryLocation
from recollect.audit.store import EVENT, FILTERS, from_row
from recollect.db.engines.expressions import AuditEventsBetween, AuditLogHead
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import events
from recollect.db.tables.memories import memories, memory_subjects
from recollect.db.tables.people import agents, person_users, presences
from recollect.db.transaction import Tx
from recollect.kernel.ids import AgentId
from recollect.kernel.owner import OwnerKind
from recollect.kernel.space import AGENT_KINDS, Space, SpaceKind
from recollect.memories.model import Sensitivity

_v, _a, _p, _m, _s = events.c, agents.c, presences.c, memories.c, memory_subjects.c
_ONE: ColumnElement[int] = literal_column("1")
_POSITION: ColumnElement[Any] = literal_column("audit_events.position")
# Sorts behind every event of its position, so that the head includes all of them.
_LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"


class SqlEventReads:
    """EventReads on SQLite and PostgreSQL."""

    def page(
        self,
        tx: Tx,
        reader: EventReader,
        filters: EventFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Event]:
        params = _params(reader, filters) | {"limit": limit}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        statement = _page_query(
            _EventQueryShape.from_reader(reader, filters), cursor=after is not None
        )
        return [from_row(row) for row in tx.fetch(statement, params)]

    def find_memory(self, tx: Tx, memory_id: str) -> MemoryLocation | None:
        row = tx.fetch_first(_FIND_MEMORY, {"id": memory_id})
        if row is None:
            return None
        return MemoryLocation(Space(SpaceKind(row[0]), row[1]), row[2] and AgentId(row[2]))

    def head_cursor(self, tx: Tx) -> EventCursor:
        (row,) = tx.fetch(_HEAD, {})
        return EventCursor(int(row[0] or 0), _LAST_ID)

    def follow(
        self, tx: Tx, reader: EventReader, filters: EventFilter, *, after: EventCursor, limit: int
    ) -> EventBatch:
        # The head is read first and bounds the query; events after it are left to the next call,
        # since others may still be committed before them. If the batch is full the new cursor is
        # that of its last event. Else everything up to the head was read, and the cursor goes
        # there, also if nothing matched; it never goes back.
        head = self.head_cursor(tx)
        params = _params(reader, filters) | {
            "limit": limit,
            "position": str(after.position),
            "place_id": after.event_id,
            "head": str(head.position),
        }
        rows = tx.fetch(_follow_query(_EventQueryShape.from_reader(reader, filters)), params)
        placed = [(EventCursor(int(row[-1]), row[0]), from_row(row[:-1])) for row in rows]
        behind = max(head, after, key=lambda place: place.position)
        return EventBatch(placed, placed[-1][0] if len(placed) == limit else behind)

    def count(
        self,
        tx: Tx,
        *,
        kind: str,
        action: str,
        since: datetime,
        limit: int,
        tags: Sequence[str] = (),
    ) -> int:
        params: dict[str, Any] = {"kind": kind, "action": action, "since": since, "limit": limit}
        # Payloads are JSON text, so a tag is searched for in its quotes. An underscore in a tag is
        # a wildcard of LIKE; a false match would at worst count an event too many.
        params |= {f"tag_{place}": f'%"{tag}"%' for place, tag in enumerate(tags)}
        return int(tx.fetch(_count_query(len(tags)), params)[0][0])


@dataclass(frozen=True, slots=True)
class _EventQueryShape:
    """What of reader and filter changes the text of a query; the rest is bound as parameters. The
    queries are cached by it."""

    everything: bool
    kind: OwnerKind
    acts: bool
    used: frozenset[str]

    @classmethod
    def from_reader(cls, reader: EventReader, filters: EventFilter) -> "_EventQueryShape":
        acts = reader.acting_agent is not None
        return cls(reader.everything, reader.who.kind, acts, frozenset(_filter_params(filters)))

    def filter_clauses(self) -> Iterable[ColumnElement[bool]]:
        """The clauses of the filters that are set."""
        return [FILTERS[name] for name in sorted(self.used)]


def _filter_params(filters: EventFilter) -> dict[str, Any]:
    wanted = {name: getattr(filters, name) for name in FILTERS}
    return {name: value for name, value in wanted.items() if value is not None}


def _params(reader: EventReader, filters: EventFilter) -> dict[str, Any]:
    acting = {"who": reader.who.id, "who_acts": reader.who.spelling}
    return {**_filter_params(filters), **acting}


def _reader_branches(shape: _EventQueryShape) -> tuple[ColumnElement[bool], ...]:
    """One clause for each row of the table in EventReader. They exclude each other, so a UNION ALL
    has no duplicates, and an index serves each."""
    of_agents = [literal_word(kind) for kind in sorted(AGENT_KINDS)]
    by_agent = [literal_word(kind) for kind in (SpaceKind.RUN, SpaceKind.ORG)]
    own = _v.space_id == _WHO if shape.kind is OwnerKind.USER else false()
    return (
        and_(_v.space_kind.in_(of_agents), _v.space_id.in_(_owned_agents(shape))),
        and_(
            or_(_v.space_kind.is_(None), _v.space_kind.in_(by_agent)),
            _v.agent_id.in_(_owned_agents(shape)),
        ),
        and_(_v.space_kind == literal_word(SpaceKind.USER), own),
        and_(
            _v.space_kind == literal_word(SpaceKind.CHAT),
            _v.space_id.in_(_joined_chats(shape)),
            or_(
                _v.kind != literal_word(EventKind.MEMORY),
                _v.actor_user_id == _WHO_ACTS,
                # What the server did with all rows of the chat: numbers without ids.
                and_(_v.actor_user_id.is_(None), _v.memory_id.is_(None)),
                _memory_is_open(shape),
            ),
        ),
    )


def _memory_is_open(shape: _EventQueryShape) -> ColumnElement[bool]:
    """May the reader, who takes part in the chat of the event's memory, read the memory?"""
    ways = [_m.sensitivity == literal_word(Sensitivity.PUBLIC), _m.has_subjects == false()]
    if shape.kind is OwnerKind.USER:
        ways.append(exists().where(_s.memory_id == _m.id, _s.person_id.in_(_OWN_PEOPLE)))
    return exists().where(_m.id == _v.memory_id, or_(*ways))


def _owned_agents(shape: _EventQueryShape) -> Select[Any]:
    """The ids of the reader's agents. A removed agent keeps its owner, who may still read what
    happened to it."""
    owned = and_(_a.owner_kind == literal_word(shape.kind), _a.owner_id == _WHO)
    return select(_a.id).where(or_(owned, _a.id == _WHO) if shape.acts else owned)


def _joined_chats(shape: _EventQueryShape) -> Select[Any]:
    by_id = and_(_p.kind == literal_word(shape.kind), _p.member_id == _WHO)
    if shape.kind is OwnerKind.USER:
        by_person = and_(_p.kind == literal_word("person"), _p.member_id.in_(_OWN_PEOPLE))
        arms = [select(_p.chat_id).where(_p.left_at.is_(None), arm) for arm in (by_id, by_person)]
        return select(union(*arms).subquery("joined").c.chat_id)
    return select(_p.chat_id).where(by_id, _p.left_at.is_(None))


@cache
def _page_query(shape: _EventQueryShape, *, cursor: bool) -> Query:
    query = select(*EVENT).where(*shape.filter_clauses())
    if cursor:
        here = tuple_(param("at", _v.at), param("id", _v.id))
        query = query.where(tuple_(_v.at, _v.id) < here)
    if shape.everything:
        query = query.order_by(_v.at.desc(), _v.id.desc())
        return Query(query.limit(param("limit")))
    # Each branch is a query of its own, sorted by an expression that no index has. With the plain
    # column an engine may scan the index on time backwards through everybody's events, expecting to
    # meet enough of the reader's own soon; for a reader with few events that reads the whole log.
    query = query.order_by(func.coalesce(_v.at, _v.at).desc(), _v.id.desc())
    query = query.limit(param("limit"))
    parts = [select(query.where(branch).subquery()) for branch in _reader_branches(shape)]
    every = union_all(*parts).subquery()
    newest = select(every).order_by(every.c.at.desc(), every.c.id.desc())
    return Query(newest.limit(param("limit")))


@cache
def _follow_query(shape: _EventQueryShape) -> Query:
    between = AuditEventsBetween(param("position"), param("place_id"), param("head"))
    query: Select[Any] = select(*EVENT, _POSITION).where(between, *shape.filter_clauses())
    if not shape.everything:
        query = query.where(or_(*_reader_branches(shape)))
    return Query(query.order_by(_POSITION, _v.id).limit(param("limit")))


@cache
def _count_query(tags: int) -> Query:
    query = select(_ONE).where(FILTERS["kind"], FILTERS["action"], FILTERS["since"])
    if tags:
        patterns = (param(f"tag_{place}", _v.params) for place in range(tags))
        query = query.where(or_(*(_v.params.like(pattern) for pattern in patterns)))
    return Query(select(func.count()).select_from(query.limit(param("limit")).subquery()))


_WHO = param("who", _v.space_id)
_WHO_ACTS = param("who_acts", _v.actor_user_id)
_OWN_PEOPLE = select(person_users.c.person_id).where(person_users.c.user_id == _WHO)
_HEAD = Query(select(AuditLogHead()))
_FIND_MEMORY = Query(
    select(_m.space_kind, _m.space_id, _m.agent_id).where(_m.id == param("id", _m.id))
)
