"""Reads of the audit log for those whom it tells of, by the table in `policy/events.py`."""

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
)

from recollect.domain.agents import OwnerKind
from recollect.domain.events import Event, EventFilter, EventPlace
from recollect.domain.spaces import AGENT_KINDS, SpaceKind
from recollect.policy.events import EventReader
from recollect.ports.database import Tx
from recollect.ports.events import Followed
from recollect.stores.engines.expressions import EventHead, EventsBetween
from recollect.stores.events import EVENT, FILTERS, from_row
from recollect.stores.people_tables import agents, presences
from recollect.stores.statements import Statement, param, word
from recollect.stores.tables import events

_v, _a, _p = events.c, agents.c, presences.c
_ONE: ColumnElement[int] = literal_column("1")
_POSITION: ColumnElement[Any] = literal_column("audit_events.position")
_LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"


class SqlEventReads:
    """The port's EventReads on both engines."""

    def page(
        self,
        tx: Tx,
        reader: EventReader,
        chosen: EventFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Event]:
        params = _params(reader, chosen) | {"limit": limit}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        statement = _page(_Shape.of(reader, chosen), cursor=after is not None)
        return [from_row(row) for row in tx.fetch(statement, params)]

    def head(self, tx: Tx) -> EventPlace:
        (row,) = tx.fetch(_HEAD, {})
        return EventPlace(int(row[0] or 0), _LAST_ID)

    def follow(
        self, tx: Tx, reader: EventReader, chosen: EventFilter, *, after: EventPlace, limit: int
    ) -> Followed:
        head = self.head(tx)
        params = _params(reader, chosen) | {
            "limit": limit,
            "position": str(after.position),
            "place_id": after.event_id,
            "head": str(head.position),
        }
        rows = tx.fetch(_follow(_Shape.of(reader, chosen)), params)
        placed = [(EventPlace(int(row[-1]), row[0]), from_row(row[:-1])) for row in rows]
        behind = max(head, after, key=lambda place: place.position)
        return Followed(placed, placed[-1][0] if len(placed) == limit else behind)

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
        params |= {f"tag_{place}": f'%"{tag}"%' for place, tag in enumerate(tags)}
        return int(tx.fetch(_count(len(tags)), params)[0][0])


@dataclass(frozen=True, slots=True)
class _Shape:
    """What of a reader and a filter is in a statement's text."""

    everything: bool
    kind: OwnerKind
    acts: bool
    used: frozenset[str]

    @classmethod
    def of(cls, reader: EventReader, chosen: EventFilter) -> "_Shape":
        acts = reader.acting is not None
        return cls(reader.everything, reader.who.kind, acts, frozenset(_used(chosen)))

    def clauses(self) -> Iterable[ColumnElement[bool]]:
        """Of the filter, and of the reader unless that is everybody's."""
        clauses = [FILTERS[name] for name in sorted(self.used)]
        return clauses if self.everything else [*clauses, _readable(self)]


def _used(chosen: EventFilter) -> dict[str, Any]:
    wanted = {name: getattr(chosen, name) for name in FILTERS}
    return {name: value for name, value in wanted.items() if value is not None}


def _params(reader: EventReader, chosen: EventFilter) -> dict[str, Any]:
    return {**_used(chosen), "who": reader.who.id}


def _readable(shape: _Shape) -> ColumnElement[bool]:
    by_agent = [word(kind) for kind in (SpaceKind.RUN, SpaceKind.ORG)]
    return or_(
        and_(_v.space_kind.in_([word(k) for k in sorted(AGENT_KINDS)]), _mine(shape, _v.space_id)),
        and_(
            or_(_v.space_kind.is_(None), _v.space_kind.in_(by_agent)),
            _v.agent_id.is_not(None),
            _mine(shape, _v.agent_id),
        ),
        and_(_v.space_kind == word(SpaceKind.USER), _own_user(shape)),
        and_(_v.space_kind == word(SpaceKind.CHAT), _takes_part(shape)),
    )


def _mine(shape: _Shape, agent_id: ColumnElement[Any]) -> ColumnElement[bool]:
    owner = select(_ONE).where(
        _a.id == agent_id, _a.owner_kind == word(shape.kind), _a.owner_id == _WHO
    )
    owns = exists(owner.correlate(events))
    return or_(owns, agent_id == _WHO) if shape.acts else owns


def _own_user(shape: _Shape) -> ColumnElement[bool]:
    return _v.space_id == _WHO if shape.kind is OwnerKind.USER else false()


def _takes_part(shape: _Shape) -> ColumnElement[bool]:
    seat = select(_ONE).where(
        _p.chat_id == _v.space_id,
        _p.kind == word(shape.kind),
        _p.member_id == _WHO,
        _p.left_at.is_(None),
    )
    return exists(seat.correlate(events))


@cache
def _page(shape: _Shape, *, cursor: bool) -> Statement:
    query = select(*EVENT).where(*shape.clauses())
    if cursor:
        here = tuple_(param("at", _v.at), param("id", _v.id))
        query = query.where(tuple_(_v.at, _v.id) < here)
    return Statement(query.order_by(_v.at.desc(), _v.id.desc()).limit(param("limit")))


@cache
def _follow(shape: _Shape) -> Statement:
    between = EventsBetween(param("position"), param("place_id"), param("head"))
    query: Select[Any] = select(*EVENT, _POSITION).where(between, *shape.clauses())
    return Statement(query.order_by(_POSITION, _v.id).limit(param("limit")))


@cache
def _count(tags: int) -> Statement:
    query = select(_ONE).where(FILTERS["kind"], FILTERS["action"], FILTERS["since"])
    if tags:
        patterns = (param(f"tag_{place}", _v.params) for place in range(tags))
        query = query.where(or_(*(_v.params.like(pattern) for pattern in patterns)))
    return Statement(select(func.count()).select_from(query.limit(param("limit")).subquery()))


_WHO = param("who", _v.space_id)
_HEAD = Statement(select(EventHead()))
