"""Deletes memories with everything that belongs to them. Every deletion goes through here."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, null, or_, select, tuple_, update

from recollect.domain import jsontext
from recollect.ports.database import Tx
from recollect.stores.edge_removal import remove_edges
from recollect.stores.engines.expressions import AmongTexts, ListedTexts, insert_if_absent
from recollect.stores.memory_tables import (
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
from recollect.stores.statements import Statement, param, word


def remove(tx: Tx, memory_ids: Sequence[str], *, at: datetime) -> int:
    """Delete these memories and return how many existed. Links of supersession stay, and a memory
    that has some is noted as removed."""
    params = {"ids": jsontext.dump(list(memory_ids)), "at": at}
    removed = tx.change(_DELETE, params)
    if removed:
        remove_edges(tx, memory_ids)
        for statement in _TRACES:
            tx.run(statement, params)
    return removed


def _note_removals() -> Statement:
    """Notes those that a history names as removed. Ids that were removed earlier keep their first
    note."""
    links, listed = memory_links.c, ListedTexts(param("ids")).table_valued("value", "place")
    gone = listed.c.value
    named = select(links.from_id).where(
        links.kind == word("supersedes"), or_(links.from_id == gone, links.to_id == gone)
    )
    rows = select(gone, param("at", memory_removals.c.removed_at)).where(named.exists())
    removal = insert_if_absent(memory_removals, "memory_id")
    return Statement(removal.from_select(["memory_id", "removed_at"], rows))


_IDS = param("ids")
_DELETE = Statement(delete(memories).where(AmongTexts(memories.c.id, _IDS)))
_CONFLICTS = Statement(
    delete(memory_links).where(
        memory_links.c.kind == word("conflict"),
        or_(AmongTexts(memory_links.c.from_id, _IDS), AmongTexts(memory_links.c.to_id, _IDS)),
    )
)
_CHILDREN = (
    memory_versions,
    memory_subjects,
    memory_tags,
    memory_sources,
    memory_index,
    memory_embeddings,
    approvals,
)
# Stored idempotency answers hold copies of memories, so answers that mention one are blanked.
_KEYS = ("requester_kind", "requester_id", "key")
_BLANK_ANSWERS = Statement(
    update(idempotency_answers)
    .where(
        tuple_(*(idempotency_answers.c[name] for name in _KEYS)).in_(
            select(*(idempotency_mentions.c[name] for name in _KEYS)).where(
                AmongTexts(idempotency_mentions.c.mentioned_id, _IDS)
            )
        )
    )
    .values(answer=null())
)
# The order matters: stored answers are found by their mentions, so they are blanked first.
_TRACES = (
    _note_removals(),
    _BLANK_ANSWERS,
    Statement(
        delete(idempotency_mentions).where(AmongTexts(idempotency_mentions.c.mentioned_id, _IDS))
    ),
    _CONFLICTS,
    *(Statement(delete(t).where(AmongTexts(t.c.memory_id, _IDS))) for t in _CHILDREN),
)
