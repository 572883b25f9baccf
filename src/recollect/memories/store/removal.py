"""Deletes memories with everything that belongs to them. No other module deletes memories."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, null, or_, select, tuple_, update

from recollect.db.engines.expressions import (
    InTextList,
    JsonTextRows,
    insert_if_absent,
)
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.memories import (
    approvals,
    idempotency_answers,
    idempotency_mentions,
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
from recollect.kernel import strict_json
from recollect.memories.store.graph_edges import remove_edges


def remove_memories(tx: Tx, memory_ids: Sequence[str], *, at: datetime) -> int:
    """Delete these memories and return how many existed. Links of supersession stay, and a memory
    that has some is noted as removed."""
    params = {"ids": strict_json.dump(list(memory_ids)), "at": at}
    removed = tx.run_and_count(_DELETE, params)
    if removed:
        remove_edges(tx, memory_ids)
        for statement in _CLEANUP:
            tx.run(statement, params)
    return removed


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
# Stored idempotency answers hold copies of memories, so answers that mention one are blanked.
_ANSWER_KEY = ("requester_kind", "requester_id", "key")
_BLANK_ANSWERS = Query(
    update(idempotency_answers)
    .where(
        tuple_(*(idempotency_answers.c[name] for name in _ANSWER_KEY)).in_(
            select(*(idempotency_mentions.c[name] for name in _ANSWER_KEY)).where(
                InTextList(idempotency_mentions.c.mentioned_id, _IDS)
            )
        )
    )
    .values(answer=null())
)
# The order matters: stored answers are found by their mentions, so they are blanked first.
_CLEANUP = (
    _removals_statement(),
    _BLANK_ANSWERS,
    Query(
        delete(idempotency_mentions).where(InTextList(idempotency_mentions.c.mentioned_id, _IDS))
    ),
    _CONFLICTS,
    *(Query(delete(t).where(InTextList(t.c.memory_id, _IDS))) for t in _CHILD_TABLES),
)
