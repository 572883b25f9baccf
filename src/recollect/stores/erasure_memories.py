"""Memories in an erasure: hide, delete, redact, and count what is left.

Which memories are deleted and which are redacted is decided by the clauses of `erasure_links`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import exists, or_, select, update

from recollect.domain import jsontext
from recollect.domain.erasure import Target
from recollect.domain.retention import RetentionRules
from recollect.ports.database import Tx
from recollect.ports.erasures import Cleaning
from recollect.ports.memories import Stored
from recollect.ports.runtime import Cipher
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.erasure_cleaning import cleaned_memory, cleaned_snapshot
from recollect.stores.erasure_ids import forget_memories
from recollect.stores.erasure_links import (
    EVERYWHERE,
    MEMORY_GOES,
    MEMORY_IN_PLACES,
    MEMORY_STATED,
    NEEDLES,
    PEOPLE,
    by_user,
    is_sealed,
    link_params,
)
from recollect.stores.erasure_needles import holds_any
from recollect.stores.erasure_records import clean_events_of
from recollect.stores.memory_parts import hanging_on, replace_parts
from recollect.stores.memory_removal import remove
from recollect.stores.memory_rows import MEMORY, NOTHING, MemoryRows
from recollect.stores.memory_tables import memories, memory_versions
from recollect.stores.people_tables import people
from recollect.stores.rows import Sealed
from recollect.stores.statements import Row, Statement, param

PAGE = 200
_m, _v, _p = memories.c, memory_versions.c, people.c
_ID_AT = MEMORY.index(_m.id)


class ErasedMemories:
    """The port's MemoryErasureStore, with the counts that verification needs."""

    def __init__(self, cipher: Cipher, rules: RetentionRules) -> None:
        self._rows = MemoryRows(cipher, rules)
        self._snapshot = Sealed(cipher, _v.snapshot)

    def hide(self, tx: Tx, target: Target, erasure_id: str) -> None:
        """Mark people, memories that will be deleted, and statements until they are redacted. Other
        memories of shared chats stay visible."""
        for statement in _HIDE:
            tx.run(statement, link_params(target) | {"erasure_id": erasure_id})

    def remove_memories(self, tx: Tx, cleaning: Cleaning, *, at: datetime, limit: int) -> int:
        """Delete some memories, also those that were written after the request.

        Events are redacted before their memory is deleted: only then is it known that they
        belong to the target. References by an id that contains a name are removed after.
        """
        rows = tx.fetch(_GOING, link_params(cleaning.target) | {"limit": limit})
        if rows:
            ids = [row[0] for row in rows]
            clean_events_of(tx, ids, cleaning)
            remove(tx, ids, at=at)
            forget_memories(tx, ids, cleaning)
        return len(rows)

    def clean_statements(
        self, tx: Tx, cleaning: Cleaning, *, among: Sequence[str] | None, limit: int
    ) -> list[Stored]:
        """Redact some statements. They lose their author, so no later call selects them, and their
        `erasure_id`, so they are visible again."""
        params = link_params(cleaning.target) | {"limit": limit}
        if among is not None:
            params |= {"ids": jsontext.dump(list(among))}
        found = self._stored(tx, _STATED if among is None else _STATED_AMONG, params)
        fresh = [(one, replace(cleaned_memory(one, cleaning), erasure_id=None)) for one in found]
        return [self._put(tx, *both) for both in fresh]

    def clean_places(
        self, tx: Tx, cleaning: Cleaning, *, everywhere: bool, after_doc: int, limit: int
    ) -> tuple[list[Stored], int | None]:
        """Redact a page, ordered by `doc`. The cursor moves past unchanged rows too: they match the
        clause after redaction as before."""
        params = link_params(cleaning.target) | {"after_doc": after_doc, "limit": limit}
        found = self._stored(tx, _page(everywhere=everywhere, held=True), params)
        fresh = [(one, cleaned_memory(one, cleaning)) for one in found]
        changed = [self._put(tx, one, after) for one, after in fresh if after != one]
        return changed, found[-1].doc if len(found) == limit else None

    def clean_versions(self, tx: Tx, cleaning: Cleaning, *, after: str, limit: int) -> str | None:
        """Redact a page of versions, ordered by id; replaces the target as author of versions."""
        tx.run(_VERSIONS_BY, link_params(cleaning.target))
        rows = self._versions(tx, cleaning.target, after=after, limit=limit)
        for id_, fresh in self._dirty(rows, cleaning):
            tx.run(_SET_SNAPSHOT, {"id": id_, "snapshot": self._snapshot.seal(fresh, id_)})
        return str(rows[-1][0]) if len(rows) == limit else None

    def dirty_versions(self, tx: Tx, cleaning: Cleaning) -> int:
        """How many versions a redaction would change."""
        found, after = 0, ""
        while True:
            rows = self._versions(tx, cleaning.target, after=after, limit=PAGE)
            found += len(list(self._dirty(rows, cleaning)))
            if len(rows) < PAGE:
                return found
            after = rows[-1][0]

    def dirty_memories(self, tx: Tx, cleaning: Cleaning) -> int:
        """How many memories should be deleted or would be changed by a redaction. Stops counting
        deletions at one page: any number above zero starts another round."""
        target = cleaning.target
        found = self.linked(tx, target)
        dirty = {one.doc for one in found if cleaned_memory(one, cleaning) != one}
        narrow = cleaning.elsewhere()
        for one in self._pages(tx, target, everywhere=True) if target.everywhere else ():
            dirty |= {one.doc} if cleaned_memory(one, narrow) != one else set()
        params = link_params(target) | {"limit": PAGE}
        return len(dirty) + len(tx.fetch(_GOING, params))

    def linked(self, tx: Tx, target: Target) -> Iterator[Stored]:
        """Linked memories that stay. A statement in a shared chat is yielded twice."""
        params = link_params(target) | {"ids": jsontext.dump(list(target.memories))}
        yield from self._stored(tx, _KNOWN, params)
        yield from self._pages(tx, target, everywhere=False)

    def _pages(self, tx: Tx, target: Target, *, everywhere: bool) -> Iterator[Stored]:
        after = 0
        while True:
            params = link_params(target) | {"after_doc": after, "limit": PAGE}
            found = self._stored(tx, _page(everywhere=everywhere, held=False), params)
            yield from found
            if len(found) < PAGE:
                return
            after = found[-1].doc

    def _dirty(self, rows: Sequence[Row], cleaning: Cleaning) -> Iterator[tuple[str, str]]:
        for id_, linked, key, sealed in rows:
            kept = jsontext.load(self._snapshot.open(sealed, id_) or "{}")
            fresh = cleaned_snapshot(kept, cleaning, linked=bool(linked), key=key)
            if fresh != kept:
                yield id_, jsontext.dump(fresh)

    def _put(self, tx: Tx, before: Stored, after: Stored) -> Stored:
        tx.run(_UPDATE, self._rows.to_params(after))
        replace_parts(tx, before.memory, after.memory, at=after.memory.updated_at)
        return after

    def _versions(self, tx: Tx, target: Target, *, after: str, limit: int) -> Sequence[Row]:
        params = link_params(target) | {
            "after": after,
            "limit": limit,
            "ids": jsontext.dump(list(target.memories)),
        }
        return tx.fetch(_SNAPSHOTS, params)

    def _stored(self, tx: Tx, statement: Statement, params: dict[str, Any]) -> list[Stored]:
        rows = tx.fetch(statement, params)
        hanging = hanging_on(tx, [row[_ID_AT] for row in rows])
        return [self._rows.from_row(row, hanging.get(row[_ID_AT], NOTHING)) for row in rows]


@cache
def _page(*, everywhere: bool, held: bool) -> Statement:
    """A page by `doc`. With `held` the rows are locked, because they will be updated."""
    chosen = _MAY_HOLD if everywhere else MEMORY_IN_PLACES
    query = select(*MEMORY).where(chosen, _m.doc > param("after_doc", _m.doc))
    query = query.order_by(_m.doc).limit(_LIMIT)
    return Statement(query.with_for_update() if held else query)


_ID = param("id", _m.id)
_SEARCHED = (_m.content, _m.value, _m.messages, _m.metadata, _m.tags, _m.key, _m.bare_names)
# A prefilter: SQL compares plain substrings, the matcher then decides by tokens.
_MAY_HOLD = or_(is_sealed(_m.content), *(holds_any(column, EVERYWHERE) for column in _SEARCHED))
_IDS = param("ids")
_LIMIT = param("limit")
_HIDDEN = {"erasure_id": param("erasure_id", _m.erasure_id)}
_HIDE = (
    Statement(update(memories).where(or_(MEMORY_GOES, MEMORY_STATED)).values(_HIDDEN)),
    Statement(update(people).where(AmongTexts(_p.id, PEOPLE)).values(_HIDDEN)),
)
_GOING = Statement(select(_m.id).where(MEMORY_GOES).limit(_LIMIT))
# Locked: a write between this read and the update of the row would be lost.
_THEIRS = select(*MEMORY).where(MEMORY_STATED).limit(_LIMIT).with_for_update()
_STATED = Statement(_THEIRS)
_STATED_AMONG = Statement(_THEIRS.where(AmongTexts(_m.id, _IDS)))
_KNOWN = Statement(select(*MEMORY).where(AmongTexts(_m.id, _IDS)))
_UPDATE = Statement(
    update(memories)
    .where(_m.id == _ID)
    .values({c.name: param(c.name, c) for c in MEMORY if c.name not in ("doc", "id")})
)
_LINKED = or_(
    AmongTexts(_v.memory_id, _IDS), exists().where(_m.id == _v.memory_id, MEMORY_IN_PLACES)
)
_KEY = select(_m.key).where(_m.id == _v.memory_id).scalar_subquery()
# Versions of linked memories, and any other whose snapshot may contain an id of the target. The
# sealed ones have to be read to know.
_SNAPSHOTS = Statement(
    select(_v.id, _LINKED, _KEY, _v.snapshot)
    .where(
        _v.snapshot.is_not(None),
        _v.id > param("after", _v.id),
        or_(_LINKED, is_sealed(_v.snapshot), holds_any(_v.snapshot, NEEDLES)),
    )
    .order_by(_v.id)
    .limit(_LIMIT)
)
_SET_SNAPSHOT = Statement(
    update(memory_versions)
    .where(_v.id == param("id", _v.id))
    .values(snapshot=param("snapshot", _v.snapshot))
)
# One statement for all versions. It runs with every page and has nothing to do after the first.
_VERSIONS_BY = Statement(
    update(memory_versions)
    .where(by_user(_v.by_kind, _v.by_id))
    .values(by_id=param("stand_in", _v.by_id))
)
