"""Memories in an erasure: hide, delete, redact, and count what is left.

Which memories are deleted and which are redacted is decided by the clauses of `links_sql`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import exists, or_, select, update

from recollect.db.columns import EncryptedColumn
from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, Row, param
from recollect.db.tables.memories import memories, memory_versions
from recollect.db.tables.people import people
from recollect.db.transaction import Tx
from recollect.erasure.model import ErasureTarget
from recollect.erasure.plan import RedactionPlan
from recollect.erasure.redact_memory import redact_memory, redact_snapshot
from recollect.erasure.store.audit import redact_memory_events
from recollect.erasure.store.custom_ids import remove_memory_references
from recollect.erasure.store.links_sql import (
    DELETED_MEMORY,
    EVERYWHERE,
    MEMORY_IN_CONVERSATIONS,
    NEEDLES,
    PEOPLE,
    STATED_MEMORY,
    link_params,
    sealed_clause,
    user_clause,
)
from recollect.erasure.store.needles_sql import contains_any
from recollect.kernel import strict_json
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.runtime import Cipher
from recollect.memories.model import StoredMemory
from recollect.memories.store.relations import fetch_related, update_related
from recollect.memories.store.removal import remove_memories
from recollect.memories.store.rows import (
    MEMORY_COLUMNS,
    NO_RELATED_ROWS,
    MemoryRows,
    require_readable,
)

PAGE = 200
_m, _v, _p = memories.c, memory_versions.c, people.c
_ID_AT = MEMORY_COLUMNS.index(_m.id)


class MemoryErasureStore:
    """Memories and their versions. Calls handle at most `limit` rows: transactions stay short."""

    def __init__(self, cipher: Cipher, rules: RetentionRules) -> None:
        self._rows = MemoryRows(cipher, rules)
        self._snapshot = EncryptedColumn(cipher, _v.snapshot)

    def hide_linked(self, tx: Tx, target: ErasureTarget, erasure_id: str) -> None:
        """Mark people, memories that will be deleted, and statements until they are redacted. Other
        memories of shared chats stay visible."""
        for statement in _HIDE:
            tx.run(statement, link_params(target) | {"erasure_id": erasure_id})

    def delete_memories(self, tx: Tx, plan: RedactionPlan, *, at: datetime, limit: int) -> int:
        """Delete some memories, also those that were written after the request.

        Events are redacted before their memory is deleted: only then is it known that they
        belong to the target. References by an id that contains a name are removed after.
        """
        rows = tx.fetch(_DELETED_IDS, link_params(plan.target) | {"limit": limit})
        if rows:
            ids = [row[0] for row in rows]
            redact_memory_events(tx, ids, plan)
            remove_memories(tx, ids, at=at)
            remove_memory_references(tx, ids, plan)
        return len(rows)

    def redact_statements(
        self, tx: Tx, plan: RedactionPlan, *, among: Sequence[str] | None, limit: int
    ) -> list[StoredMemory]:
        """Redact some statements. They lose their author, so no later call selects them, and their
        `erasure_id`, so they are visible again."""
        params = link_params(plan.target) | {"limit": limit}
        if among is not None:
            params |= {"ids": strict_json.dump(list(among))}
        found = self._fetch_stored(tx, _STATED if among is None else _STATED_AMONG, params)
        fresh = [(one, replace(redact_memory(one, plan), erasure_id=None)) for one in found]
        return [self._update_row(tx, *both) for both in fresh]

    def redact_page(
        self, tx: Tx, plan: RedactionPlan, *, everywhere: bool, after_doc: int, limit: int
    ) -> tuple[list[StoredMemory], int | None]:
        """Redact a page, ordered by `doc`. The cursor moves past unchanged rows too: they match the
        clause after redaction as before."""
        params = link_params(plan.target) | {"after_doc": after_doc, "limit": limit}
        found = self._fetch_stored(tx, _page_query(everywhere=everywhere, lock=True), params)
        fresh = [(one, redact_memory(one, plan)) for one in found]
        changed = [self._update_row(tx, one, after) for one, after in fresh if after != one]
        return changed, found[-1].doc if len(found) == limit else None

    def redact_versions(self, tx: Tx, plan: RedactionPlan, *, after: str, limit: int) -> str | None:
        """Redact a page of versions, ordered by id; replaces the target as author of versions."""
        tx.run(_VERSIONS_BY, link_params(plan.target))
        rows = self._fetch_versions(tx, plan.target, after=after, limit=limit)
        for id_, fresh in self._changed_snapshots(rows, plan):
            tx.run(_SET_SNAPSHOT, {"id": id_, "snapshot": self._snapshot.seal(fresh, id_)})
        return str(rows[-1][0]) if len(rows) == limit else None

    def count_unredacted_versions(self, tx: Tx, plan: RedactionPlan) -> int:
        """How many versions a redaction would change."""
        found, after = 0, ""
        while True:
            rows = self._fetch_versions(tx, plan.target, after=after, limit=PAGE)
            found += len(list(self._changed_snapshots(rows, plan)))
            if len(rows) < PAGE:
                return found
            after = rows[-1][0]

    def count_unredacted_memories(self, tx: Tx, plan: RedactionPlan) -> int:
        """How many memories should be deleted or would be changed by a redaction. Stops counting
        deletions at one page: any number above zero starts another round."""
        target = plan.target
        found = self.iter_linked(tx, target)
        dirty = {one.doc for one in found if redact_memory(one, plan) != one}
        narrow = plan.for_unlinked_rows()
        for one in (
            self._iter_pages(tx, target, everywhere=True) if target.unambiguous_identifiers else ()
        ):
            dirty |= {one.doc} if redact_memory(one, narrow) != one else set()
        params = link_params(target) | {"limit": PAGE}
        return len(dirty) + len(tx.fetch(_DELETED_IDS, params))

    def iter_linked(self, tx: Tx, target: ErasureTarget) -> Iterator[StoredMemory]:
        """Linked memories that stay. A statement in a shared chat is yielded twice."""
        params = link_params(target) | {"ids": strict_json.dump(list(target.memories))}
        yield from self._fetch_stored(tx, _FETCH_BY_IDS, params)
        yield from self._iter_pages(tx, target, everywhere=False)

    def _iter_pages(
        self, tx: Tx, target: ErasureTarget, *, everywhere: bool
    ) -> Iterator[StoredMemory]:
        after = 0
        while True:
            params = link_params(target) | {"after_doc": after, "limit": PAGE}
            found = self._fetch_stored(tx, _page_query(everywhere=everywhere, lock=False), params)
            yield from found
            if len(found) < PAGE:
                return
            after = found[-1].doc

    def _changed_snapshots(
        self, rows: Sequence[Row], plan: RedactionPlan
    ) -> Iterator[tuple[str, str]]:
        for id_, linked, key, sealed in rows:
            kept = strict_json.load(self._snapshot.open(sealed, id_) or "{}")
            fresh = redact_snapshot(kept, plan, linked=bool(linked), key=key)
            if fresh != kept:
                yield id_, strict_json.dump(fresh)

    def _update_row(self, tx: Tx, before: StoredMemory, after: StoredMemory) -> StoredMemory:
        tx.run(_UPDATE, self._rows.to_params(after))
        update_related(tx, before.memory, after.memory, at=after.memory.updated_at)
        return after

    def _fetch_versions(
        self, tx: Tx, target: ErasureTarget, *, after: str, limit: int
    ) -> Sequence[Row]:
        params = link_params(target) | {
            "after": after,
            "limit": limit,
            "ids": strict_json.dump(list(target.memories)),
        }
        return tx.fetch(_SNAPSHOTS, params)

    def _fetch_stored(self, tx: Tx, statement: Query, params: dict[str, Any]) -> list[StoredMemory]:
        rows = tx.fetch(statement, params)
        related = fetch_related(tx, [row[_ID_AT] for row in rows])
        # An erasure that can't read a text must not report that there are no traces in it.
        return [
            require_readable(self._rows.from_row(row, related.get(row[_ID_AT], NO_RELATED_ROWS)))
            for row in rows
        ]


@cache
def _page_query(*, everywhere: bool, lock: bool) -> Query:
    """A page by `doc`. With `lock` the rows are locked, because they will be updated."""
    condition = _MAY_CONTAIN if everywhere else MEMORY_IN_CONVERSATIONS
    query = select(*MEMORY_COLUMNS).where(condition, _m.doc > param("after_doc", _m.doc))
    query = query.order_by(_m.doc).limit(_LIMIT)
    return Query(query.with_for_update() if lock else query)


_ID = param("id", _m.id)
_SEARCHED = (_m.content, _m.value, _m.messages, _m.metadata, _m.tags, _m.key, _m.bare_names)
# A prefilter: SQL compares plain substrings, the matcher then decides by tokens.
_MAY_CONTAIN = or_(
    sealed_clause(_m.content), *(contains_any(column, EVERYWHERE) for column in _SEARCHED)
)
_IDS = param("ids")
_LIMIT = param("limit")
_HIDDEN_VALUES = {"erasure_id": param("erasure_id", _m.erasure_id)}
_HIDE = (
    Query(update(memories).where(or_(DELETED_MEMORY, STATED_MEMORY)).values(_HIDDEN_VALUES)),
    Query(update(people).where(InTextList(_p.id, PEOPLE)).values(_HIDDEN_VALUES)),
)
_DELETED_IDS = Query(select(_m.id).where(DELETED_MEMORY).limit(_LIMIT))
# Locked: a write between this read and the update of the row would be lost.
_STATED_ROWS = select(*MEMORY_COLUMNS).where(STATED_MEMORY).limit(_LIMIT).with_for_update()
_STATED = Query(_STATED_ROWS)
_STATED_AMONG = Query(_STATED_ROWS.where(InTextList(_m.id, _IDS)))
_FETCH_BY_IDS = Query(select(*MEMORY_COLUMNS).where(InTextList(_m.id, _IDS)))
_UPDATE = Query(
    update(memories)
    .where(_m.id == _ID)
    .values({c.name: param(c.name, c) for c in MEMORY_COLUMNS if c.name not in ("doc", "id")})
)
_LINKED = or_(
    InTextList(_v.memory_id, _IDS), exists().where(_m.id == _v.memory_id, MEMORY_IN_CONVERSATIONS)
)
_KEY = select(_m.key).where(_m.id == _v.memory_id).scalar_subquery()
# Versions of linked memories, and any other whose snapshot may contain an id of the target. The
# sealed ones have to be read to know.
_SNAPSHOTS = Query(
    select(_v.id, _LINKED, _KEY, _v.snapshot)
    .where(
        _v.snapshot.is_not(None),
        _v.id > param("after", _v.id),
        or_(_LINKED, sealed_clause(_v.snapshot), contains_any(_v.snapshot, NEEDLES)),
    )
    .order_by(_v.id)
    .limit(_LIMIT)
)
_SET_SNAPSHOT = Query(
    update(memory_versions)
    .where(_v.id == param("id", _v.id))
    .values(snapshot=param("snapshot", _v.snapshot))
)
# One statement for all versions. It runs with every page and has nothing to do after the first.
_VERSIONS_BY = Query(
    update(memory_versions)
    .where(user_clause(_v.by_kind, _v.by_id))
    .values(by_id=param("stand_in", _v.by_id))
)
