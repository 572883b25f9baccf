"""Deletes memories with everything that belongs to them. No other module deletes memories."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, exists, or_, select

from recollect.db.engines.expressions import (
    InTextList,
    JsonTextRows,
    insert_if_absent,
)
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.memories import (
    approvals,
    memories,
    memory_embeddings,
    memory_index,
    memory_links,
    memory_removals,
    memory_sources,
    memory_subjects,
    memory_tags,
    memory_versions,
)
from recollect.db.transaction import Tx
from recollect.idempotency.store import blank_answers
from recollect.kernel import strict_json
from recollect.memories.store.graph_edges import remove_edges


def remove_memories(tx: Tx, memory_ids: Sequence[str], *, at: datetime) -> int:
    """Delete these memories and return how many existed. Links of supersession stay, and a memory
    that has some is noted as removed."""
    params = {"ids": strict_json.dump(list(memory_ids)), "at": at}
    removed = tx.run_and_count(_DELETE, params)
    if removed:
        remove_edges(tx, memory_ids)
        blank_answers(tx, memory_ids)
        for statement in _CLEANUP:
            tx.run(statement, params)
    return removed


def remove_drawn_from(tx: Tx, entry_id: str, *, at: datetime) -> int:
    """Delete the memories that have no other source than this entry, those that were drawn from
    nothing but these memories, and so on; take the entry from the sources of the others. A memory
    that is gone, moved ones included, is no source. Returns how many were deleted."""
    count, rows = 0, tx.fetch(_DRAWN_FROM_ENTRY, {"id": entry_id})
    tx.run(_DELETE_SOURCE, {"id": entry_id})
    while rows:
        ids = [row[0] for row in rows]
        count += remove_memories(tx, ids, at=at)
        rows = tx.fetch(_DRAWN_FROM_MEMORIES, {"ids": strict_json.dump(ids)})
    return count


def _removals_statement() -> Query:
    """Notes those that a history names as removed. Ids that were removed earlier keep their first
    note."""
    links, listed = memory_links.c, JsonTextRows(param("ids")).table_valued("value", "place")
    gone = listed.c.value
    named = select(links.from_id).where(
        links.kind == literal_word("supersedes"), or_(links.from_id == gone, links.to_id == gone)
    )
    rows = select(gone, param("at", memory_removals.c.removed_at)).where(named.exists())
    removal = insert_if_absent(memory_removals, "memory_id")
    return Query(removal.from_select(["memory_id", "removed_at"], rows))


_IDS = param("ids")
_DELETE = Query(delete(memories).where(InTextList(memories.c.id, _IDS)))
_CONFLICTS = Query(
    delete(memory_links).where(
        memory_links.c.kind == literal_word("conflict"),
        or_(InTextList(memory_links.c.from_id, _IDS), InTextList(memory_links.c.to_id, _IDS)),
    )
)
_CHILD_TABLES = (
    memory_versions,
    memory_subjects,
    memory_tags,
    memory_sources,
    memory_index,
    memory_embeddings,
    approvals,
)
_CLEANUP = (
    _removals_statement(),
    _CONFLICTS,
    *(Query(delete(t).where(InTextList(t.c.memory_id, _IDS))) for t in _CHILD_TABLES),
)
_other, _present = memory_sources.alias("other"), memories.alias("present")
_s, _o = memory_sources.c, _other.c
_IS_ENTRY = (_s.kind == literal_word("entry"), _s.source_id == param("id", _s.source_id))
_IS_MEMORY = (_s.kind == literal_word("memory"), InTextList(_s.source_id, _IDS))
_IS_PRESENT = exists().where(_present.c.id == _o.source_id)
_HAS_OTHER = exists().where(
    _o.memory_id == _s.memory_id,
    or_(_o.kind != _s.kind, _o.source_id != _s.source_id),
    or_(_o.kind == literal_word("entry"), _IS_PRESENT),
)
_DRAWN_FROM_ENTRY = Query(select(_s.memory_id).where(*_IS_ENTRY, ~_HAS_OTHER))
_DRAWN_FROM_MEMORIES = Query(select(_s.memory_id).distinct().where(*_IS_MEMORY, ~_HAS_OTHER))
_DELETE_SOURCE = Query(delete(memory_sources).where(*_IS_ENTRY))
