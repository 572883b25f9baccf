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

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import tasks
from recollect.db.tables.memories import (
    entities,
    erasures,
    memories,
    memory_index,
    memory_links,
    relations,
)
from recollect.db.tables.people import people
from recollect.db.transaction import Tx
from recollect.doctor.model import (
    ERASURE_OVERDUE_AFTER,
    ORPHAN_AFTER,
    DoctorCheck,
    SupersessionLink,
)
from recollect.doctor.rows import (
    CheckContext,
    StatementVector,
    StoredTexts,
    TextSource,
    VectorCursor,
    VersionSnapshot,
)
from recollect.doctor.store import checks_sql as sql
from recollect.doctor.store import texts
from recollect.doctor.store import vectors as doctor_vectors
from recollect.doctor.store.people_sql import FIRST, NAMESAKE
from recollect.doctor.store.rules_sql import NOT_BEING_ERASED
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId, PersonId
from recollect.kernel.runtime import Cipher
from recollect.memories.model import OBSERVED_AHEAD_MAX, StoredMemory
from recollect.memories.store import relations as memory_parts
from recollect.memories.store.relations import unlink_superseded
from recollect.memories.store.rows import (
    MEMORY_COLUMNS,
    NO_RELATED_ROWS,
    MemoryRows,
)
from recollect.people.store.merges import redirect_person

_m, _i, _l, _r, _e = (
    table.c for table in (memories, memory_index, memory_links, relations, entities)
)
_p, _t = people.c, tasks.c
_ID_AT = MEMORY_COLUMNS.index(_m.id)
# One older duplicate is enough to fold into, and the first may not qualify.
_OLDER_MAX = 20


class DoctorStore:
    """DoctorStore on SQLite and PostgreSQL."""

    def __init__(self, cipher: Cipher) -> None:
        self._rows = MemoryRows(cipher)

    def find_ids(
        self, tx: Tx, check: DoctorCheck, context: CheckContext, *, after: str, limit: int
    ) -> Sequence[str]:
        """Ids of rows that break the rule of a check, in ascending order."""
        params = _context_params(context) | {"after": after, "limit": limit}
        return [row[0] for row in tx.fetch(_ids_query(check), params)]

    def recheck_ids(
        self, tx: Tx, check: DoctorCheck, context: CheckContext, ids: Sequence[str]
    ) -> Sequence[str]:
        """Those of the ids that still break the rule."""
        params = _context_params(context) | _ids_param(ids)
        return [row[0] for row in tx.fetch(_recheck_query(check), params)]

    def page(self, tx: Tx, *, after_doc: int, limit: int) -> list[StoredMemory]:
        """Memories by their number (`doc`), without compacted ones: they have no text."""
        rows = tx.fetch(_PAGE, {"after_doc": after_doc, "limit": limit})
        related = memory_parts.fetch_related(tx, [row[_ID_AT] for row in rows])
        return [self._rows.from_row(row, related.get(row[_ID_AT], NO_RELATED_ROWS)) for row in rows]

    def supersession_links(
        self, tx: Tx, *, after: tuple[str, str] | None, limit: int
    ) -> list[SupersessionLink]:
        """All `supersedes` links, ordered by the ids of successor and predecessor."""
        successor, predecessor = after or ("", "")
        params = {"from_id": successor, "to_id": predecessor, "limit": limit}
        return [SupersessionLink(row[2], row[0], row[1]) for row in tx.fetch(_LINKS, params)]

    def delete_link(self, tx: Tx, link: SupersessionLink) -> bool:
        """Delete the link; False if it was gone already."""
        return unlink_superseded(tx, link.successor, link.predecessor)

    def older_equals(self, tx: Tx, memory_id: MemoryId, context: CheckContext) -> list[MemoryId]:
        """Older active statements with the same normalised text, space, subjects, speaker and
        origin: a few, oldest first."""
        rows = tx.fetch(_OLDER_EQUALS, {"id": memory_id, "now": context.now})
        return [MemoryId(row[0]) for row in rows]

    def mark_pending(self, tx: Tx, memory_ids: Sequence[str]) -> int:
        """Mark index rows as waiting for a vector; returns how many."""
        return tx.run_and_count(_MARK_PENDING, _ids_param(memory_ids))

    def delete_edges(self, tx: Tx, ids: Sequence[str]) -> int:
        """Delete those of the edges and entities that are orphaned, and entities that lose their
        last edge by that. Returns how many of the given ids were deleted."""
        # Entities at both ends of the edges may lose their last edge, so they are candidates too.
        # All are locked before anything is deleted: a transaction that is drawing an edge to one of
        # them is waited for, and the conditions are then evaluated on what it committed. The given
        # ids are deleted first and counted; entities that follow them are not.
        ends = {end for row in tx.fetch(_EDGE_ENDS, _ids_param(ids)) for end in row}
        touched = _ids_param(sorted({*ids, *ends}))
        tx.lock(_LOCK_ENTITIES, touched)
        gone = tx.run_and_count(_DROP_EDGES, _ids_param(ids)) + tx.run_and_count(
            _DROP_ENTITIES, _ids_param(ids)
        )
        tx.run(_DROP_ENTITIES, touched)
        return gone

    def namesakes(self, tx: Tx, person_id: PersonId) -> list[PersonId]:
        """People of the same name and creator with smaller ids, by id."""
        return [PersonId(row[0]) for row in tx.fetch(_NAMESAKES, {"id": person_id})]

    def redirect_person(self, tx: Tx, person_id: PersonId, *, at: datetime) -> bool:
        """Let a merged id lead to an existing person in one step, and move all references to that
        person. False if no person exists at the end of the chain."""
        chain = _merge_chain(tx, person_id)
        if not chain:
            return False
        # In a cycle the chosen end is itself merged into somebody; it becomes a person again.
        end = chain[-1]
        tx.run(_UNMERGE, {"id": end})
        if end != person_id:
            redirect_person(tx, person_id, end, at=at)
        return True

    def version_snapshots(
        self, tx: Tx, memory_ids: Sequence[str]
    ) -> dict[str, list[VersionSnapshot]]:
        """The snapshots of earlier versions, by memory id, oldest first."""
        return texts.version_snapshots(tx, self._rows, memory_ids)

    def rewrite_snapshot(self, tx: Tx, kept: VersionSnapshot) -> None:
        """Overwrite the snapshot of a version."""
        texts.rewrite_snapshot(tx, self._rows, kept)

    def texts_page(
        self, tx: Tx, source: TextSource, *, after: str, limit: int
    ) -> list[StoredTexts]:
        """A page of texts from one source."""
        return texts.texts_page(tx, source, after=after, limit=limit)

    def vectors(
        self, tx: Tx, context: CheckContext, *, after: VectorCursor | None, limit: int
    ) -> list[StatementVector]:
        """Verified active statements with a vector of the model, by space and time. Without lists
        of messages, and without memories about people who have no id."""
        return doctor_vectors.vectors_page(tx, context, after=after, limit=limit)

    def lost_erasures(self, tx: Tx, ids: Sequence[str]) -> Sequence[str]:
        """Those of the ids that are unfinished erasures without a job."""
        return [row[0] for row in tx.fetch(_LOST_ERASURES, _ids_param(ids))]

    def retry_jobs(self, tx: Tx, job_ids: Sequence[str], *, at: datetime) -> int:
        """Give stuck jobs new attempts; returns how many."""
        return tx.run_and_count(_RETRY_JOBS, _ids_param(job_ids) | {"now": at})


def _context_params(context: CheckContext) -> dict[str, Any]:
    now = context.now
    return {
        "now": now,
        "model": context.model,
        "ahead": now + OBSERVED_AHEAD_MAX,
        "long_ago": now - ORPHAN_AFTER,
        "overdue": now - ERASURE_OVERDUE_AFTER,
    }


def _ids_param(ids: Sequence[str]) -> dict[str, Any]:
    return {"ids": strict_json.dump(list(ids))}


def _merge_chain(tx: Tx, person_id: PersonId) -> list[PersonId]:
    """The ids from a person along `merged_into`, as far as people exist; empty if the person itself
    doesn't. In a cycle the last id is the smallest of it, so that all its members, repaired one
    after the other, get the same end."""
    chain: list[PersonId] = []
    following: PersonId | None = person_id
    while following is not None and following not in chain:
        row = tx.fetch_first(_MERGED_INTO, {"id": following})
        if row is None:
            return chain
        chain.append(following)
        following = row[0]
    if following is not None:
        circle = chain[chain.index(following) :]
        return [*chain, min(circle)]
    return chain


@cache
def _ids_query(check: DoctorCheck) -> Query:
    return sql.ids_query(check)


@cache
def _recheck_query(check: DoctorCheck) -> Query:
    return sql.recheck_query(check)


_IDS = param("ids")
_PAGE = Query(
    select(*MEMORY_COLUMNS)
    .where(_m.doc > param("after_doc", _m.doc), NOT_BEING_ERASED, _m.compacted_at.is_(None))
    .order_by(_m.doc)
    .limit(param("limit"))
)
_SUPERSEDES = _l.kind == literal_word("supersedes")
_FROM, _TO = param("from_id", _l.from_id), param("to_id", _l.to_id)
_LINKS = Query(
    select(_l.from_id, _l.to_id, _l.at)
    .where(_SUPERSEDES, tuple_(_l.from_id, _l.to_id) > tuple_(_FROM, _TO))
    .order_by(_l.from_id, _l.to_id)
    .limit(param("limit"))
)
_OLDER_EQUALS = Query(
    select(sql.OLDER.c.id)
    .select_from(memories.join(sql.OLDER, sql.OLDER_EQUAL))
    .where(_m.id == param("id", _m.id))
    .order_by(sql.OLDER.c.created_at, sql.OLDER.c.id)
    .limit(literal_column(str(_OLDER_MAX)))
)
_MARK_PENDING = Query(
    update(memory_index)
    .where(InTextList(_i.memory_id, _IDS))
    .values(pending=literal_column("true"))
)
_EDGE_ENDS = Query(select(_r.from_id, _r.to_id).where(InTextList(_r.id, _IDS), sql.LOST_EDGE))
_LOCK_ENTITIES = Query(
    select(_e.id).where(InTextList(_e.id, _IDS)).order_by(_e.id).with_for_update()
)
_DROP_EDGES = Query(delete(relations).where(InTextList(_r.id, _IDS), sql.LOST_EDGE))
_DROP_ENTITIES = Query(delete(entities).where(InTextList(_e.id, _IDS), sql.LONE_ENTITY))
_ID = param("id", _p.id)
_NAMESAKES = Query(
    select(FIRST.c.id)
    .select_from(people.join(FIRST, NAMESAKE))
    .where(_p.id == _ID)
    .order_by(FIRST.c.id)
)
_MERGED_INTO = Query(select(_p.merged_into).where(_p.id == _ID))
_UNMERGE = Query(
    update(people).where(_p.id == _ID, _p.merged_into.is_not(None)).values(merged_into=null())
)
_LOST_ERASURES = Query(
    select(erasures.c.id).where(InTextList(erasures.c.id, _IDS), sql.LOST_ERASURE)
)
_RETRY_JOBS = Query(
    update(tasks)
    .where(_t.stuck_at.is_not(None), InTextList(cast(_t.id, Text), _IDS))
    .values(stuck_at=null(), retry_count=literal_column("0"), retry_at=param("now", _t.retry_at))
)
