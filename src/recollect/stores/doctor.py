"""SQL behind the doctor: pages of broken ids and texts, and repairs."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    Text,
    cast,
    delete,
    literal_column,
    null,
    select,
    tuple_,
    update,
)

from recollect.domain import jsontext
from recollect.domain.disclosure import PersonId
from recollect.domain.doctor import ERASURE_WITHIN, ORPHAN_AFTER, Check, SupersessionLink
from recollect.domain.memories import OBSERVED_AHEAD_MAX, MemoryId
from recollect.ports.database import Tx
from recollect.ports.doctor import Kept, Looking, Shelf, SpacedVector, SpacePlace, Written
from recollect.ports.memories import Stored
from recollect.ports.runtime import Cipher
from recollect.stores import doctor_checks as sql
from recollect.stores import doctor_texts, doctor_vectors, memory_parts
from recollect.stores.doctor_people import FIRST, NAMESAKE
from recollect.stores.doctor_rules import STAYING
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.memory_rows import MEMORY, NOTHING, MemoryRows
from recollect.stores.memory_tables import (
    entities,
    erasures,
    memories,
    memory_index,
    memory_links,
    relations,
)
from recollect.stores.merging import lead
from recollect.stores.people_tables import people
from recollect.stores.statements import Statement, param, word
from recollect.stores.tables import tasks

_m, _i, _l, _r, _e = (
    table.c for table in (memories, memory_index, memory_links, relations, entities)
)
_p, _t = people.c, tasks.c
_ID_AT = MEMORY.index(_m.id)
# One older duplicate is enough to fold into, and the first may not qualify.
_OLDER_MAX = 20


class SqlDoctor:
    """DoctorStore on SQLite and PostgreSQL."""

    def __init__(self, cipher: Cipher) -> None:
        self._rows = MemoryRows(cipher)

    def ids(
        self, tx: Tx, check: Check, looking: Looking, *, after: str, limit: int
    ) -> Sequence[str]:
        params = _looking(looking) | {"after": after, "limit": limit}
        return [row[0] for row in tx.fetch(_found(check), params)]

    def still(self, tx: Tx, check: Check, looking: Looking, ids: Sequence[str]) -> Sequence[str]:
        params = _looking(looking) | _listed(ids)
        return [row[0] for row in tx.fetch(_still_found(check), params)]

    def page(self, tx: Tx, *, after_doc: int, limit: int) -> list[Stored]:
        rows = tx.fetch(_PAGE, {"after_doc": after_doc, "limit": limit})
        hanging = memory_parts.hanging_on(tx, [row[_ID_AT] for row in rows])
        return [self._rows.from_row(row, hanging.get(row[_ID_AT], NOTHING)) for row in rows]

    def links(self, tx: Tx, *, after: tuple[str, str] | None, limit: int) -> list[SupersessionLink]:
        successor, predecessor = after or ("", "")
        params = {"from_id": successor, "to_id": predecessor, "limit": limit}
        return [SupersessionLink(row[2], row[0], row[1]) for row in tx.fetch(_LINKS, params)]

    def cut(self, tx: Tx, link: SupersessionLink) -> bool:
        params = {"from_id": link.successor, "to_id": link.predecessor}
        return tx.change(_CUT, params) > 0

    def older_equals(self, tx: Tx, memory_id: MemoryId, looking: Looking) -> list[MemoryId]:
        rows = tx.fetch(_OLDER_EQUALS, {"id": memory_id, "now": looking.now})
        return [MemoryId(row[0]) for row in rows]

    def wait_for_vectors(self, tx: Tx, memory_ids: Sequence[str]) -> int:
        return tx.change(_WAIT, _listed(memory_ids))

    def delete_edges(self, tx: Tx, ids: Sequence[str]) -> int:
        # Entities at both ends of the edges may lose their last edge, so they are candidates too.
        # All are locked before anything is deleted: a transaction that is drawing an edge to one of
        # them is waited for, and the conditions are then evaluated on what it committed. The given
        # ids are deleted first and counted; entities that follow them are not.
        ends = {end for row in tx.fetch(_ENDS, _listed(ids)) for end in row}
        touched = _listed(sorted({*ids, *ends}))
        tx.lock(_HOLD_ENTITIES, touched)
        gone = tx.change(_DROP_EDGES, _listed(ids)) + tx.change(_DROP_ENTITIES, _listed(ids))
        tx.run(_DROP_ENTITIES, touched)
        return gone

    def namesakes(self, tx: Tx, person_id: PersonId) -> list[PersonId]:
        return [PersonId(row[0]) for row in tx.fetch(_NAMESAKES, {"id": person_id})]

    def redirect(self, tx: Tx, person_id: PersonId, *, at: datetime) -> bool:
        chain = _chain(tx, person_id)
        if not chain:
            return False
        # In a cycle the chosen end is itself merged into somebody; it becomes a person again.
        end = chain[-1]
        tx.run(_STANDS, {"id": end})
        if end != person_id:
            lead(tx, person_id, end, at=at)
        return True

    def earlier(self, tx: Tx, memory_ids: Sequence[str]) -> dict[str, list[Kept]]:
        return doctor_texts.earlier(tx, self._rows, memory_ids)

    def rewrite(self, tx: Tx, kept: Kept) -> None:
        doctor_texts.rewrite(tx, self._rows, kept)

    def written(self, tx: Tx, shelf: Shelf, *, after: str, limit: int) -> list[Written]:
        return doctor_texts.written(tx, shelf, after=after, limit=limit)

    def vectors(
        self, tx: Tx, looking: Looking, *, after: SpacePlace | None, limit: int
    ) -> list[SpacedVector]:
        return doctor_vectors.page(tx, looking, after=after, limit=limit)

    def lost_erasures(self, tx: Tx, ids: Sequence[str]) -> Sequence[str]:
        return [row[0] for row in tx.fetch(_LOST_ERASURES, _listed(ids))]

    def revive(self, tx: Tx, job_ids: Sequence[str], *, at: datetime) -> int:
        return tx.change(_REVIVE, _listed(job_ids) | {"now": at})


def _looking(looking: Looking) -> dict[str, Any]:
    now = looking.now
    return {
        "now": now,
        "model": looking.model,
        "ahead": now + OBSERVED_AHEAD_MAX,
        "long_ago": now - ORPHAN_AFTER,
        "overdue": now - ERASURE_WITHIN,
    }


def _listed(ids: Sequence[str]) -> dict[str, Any]:
    return {"ids": jsontext.dump(list(ids))}


def _chain(tx: Tx, person_id: PersonId) -> list[PersonId]:
    """The ids from a person along `merged_into`, as far as people exist; empty if the person itself
    doesn't. In a cycle the last id is the smallest of it, so that all its members, repaired one
    after the other, get the same end."""
    chain: list[PersonId] = []
    following: PersonId | None = person_id
    while following is not None and following not in chain:
        row = tx.first(_LEADS_TO, {"id": following})
        if row is None:
            return chain
        chain.append(following)
        following = row[0]
    if following is not None:
        circle = chain[chain.index(following) :]
        return [*chain, min(circle)]
    return chain


@cache
def _found(check: Check) -> Statement:
    return sql.found(check)


@cache
def _still_found(check: Check) -> Statement:
    return sql.still_found(check)


_IDS = param("ids")
_PAGE = Statement(
    select(*MEMORY)
    .where(_m.doc > param("after_doc", _m.doc), STAYING, _m.compacted_at.is_(None))
    .order_by(_m.doc)
    .limit(param("limit"))
)
_SUPERSEDES = _l.kind == word("supersedes")
_FROM, _TO = param("from_id", _l.from_id), param("to_id", _l.to_id)
_LINKS = Statement(
    select(_l.from_id, _l.to_id, _l.at)
    .where(_SUPERSEDES, tuple_(_l.from_id, _l.to_id) > tuple_(_FROM, _TO))
    .order_by(_l.from_id, _l.to_id)
    .limit(param("limit"))
)
_CUT = Statement(delete(memory_links).where(_SUPERSEDES, _l.from_id == _FROM, _l.to_id == _TO))
_OLDER_EQUALS = Statement(
    select(sql.OLD.c.id)
    .select_from(memories.join(sql.OLD, sql.OLDER_EQUAL))
    .where(_m.id == param("id", _m.id))
    .order_by(sql.OLD.c.created_at, sql.OLD.c.id)
    .limit(literal_column(str(_OLDER_MAX)))
)
_WAIT = Statement(
    update(memory_index)
    .where(AmongTexts(_i.memory_id, _IDS))
    .values(pending=literal_column("true"))
)
_ENDS = Statement(select(_r.from_id, _r.to_id).where(AmongTexts(_r.id, _IDS), sql.LOST_EDGE))
_HOLD_ENTITIES = Statement(
    select(_e.id).where(AmongTexts(_e.id, _IDS)).order_by(_e.id).with_for_update()
)
_DROP_EDGES = Statement(delete(relations).where(AmongTexts(_r.id, _IDS), sql.LOST_EDGE))
_DROP_ENTITIES = Statement(delete(entities).where(AmongTexts(_e.id, _IDS), sql.LONE_ENTITY))
_ID = param("id", _p.id)
_NAMESAKES = Statement(
    select(FIRST.c.id)
    .select_from(people.join(FIRST, NAMESAKE))
    .where(_p.id == _ID)
    .order_by(FIRST.c.id)
)
_LEADS_TO = Statement(select(_p.merged_into).where(_p.id == _ID))
_STANDS = Statement(
    update(people).where(_p.id == _ID, _p.merged_into.is_not(None)).values(merged_into=null())
)
_LOST_ERASURES = Statement(
    select(erasures.c.id).where(AmongTexts(erasures.c.id, _IDS), sql.LOST_ERASURE)
)
_REVIVE = Statement(
    update(tasks)
    .where(_t.stuck_at.is_not(None), AmongTexts(cast(_t.id, Text), _IDS))
    .values(stuck_at=null(), retry_count=literal_column("0"), retry_at=param("now", _t.retry_at))
)
