"""SQL store of memories. A read for a caller includes the visibility clause of the viewer in its
statement; a change keeps the previous version."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np
from sqlalchemy import and_, literal_column, or_, select, tuple_, union, update

from recollect.domain import jsontext
from recollect.domain.agents import Owner
from recollect.domain.memories import Memory, MemoryId
from recollect.domain.retention import RetentionRules
from recollect.domain.spaces import Space
from recollect.policy.sight import Sight
from recollect.ports.database import Tx
from recollect.ports.memories import Change, MemoryFilter, Stored, Version
from recollect.ports.runtime import Cipher
from recollect.stores import memory_parts
from recollect.stores.engines.expressions import AmongTexts, HeldName, insert_if_absent
from recollect.stores.memory_filters import FilterShape, filter_clause, filter_params
from recollect.stores.memory_removal import remove
from recollect.stores.memory_rows import MEMORY, NOTHING, MemoryRows, fold_hash
from recollect.stores.memory_tables import (
    memories,
    memory_embeddings,
    memory_links,
    memory_removals,
)
from recollect.stores.memory_versions import MemoryVersions
from recollect.stores.sights import SightShape, sight_clause, sight_params, standing_clause
from recollect.stores.statements import Row, Statement, param, word

_m = memories.c
_WRITTEN = tuple(column for column in MEMORY if column.name != "doc")


class SqlMemories:
    """MemoryStore on both engines."""

    def __init__(self, cipher: Cipher, rules: RetentionRules) -> None:
        self._rows = MemoryRows(cipher, rules)
        self._versions = MemoryVersions(self._rows)

    def insert(self, tx: Tx, stored: Stored) -> Stored | None:
        memory = stored.memory
        row = tx.first(_INSERT, self._rows.to_params(stored))
        if row is None:
            return None
        at = memory.created_at
        self._versions.begin(tx, memory, Change.CREATED, by=stored.written_by, at=at)
        memory_parts.put_parts(tx, memory, at=at)
        return replace(stored, doc=row[0], status_at=stored.status_at or at)

    def fetch(self, tx: Tx, memory_id: MemoryId, *, lock: bool = False) -> Stored | None:
        # Locked by a statement of its own and read afterwards: what is read is then current, also
        # if another transaction changed the row while this one waited.
        if lock:
            tx.lock(_LOCK, {"id": memory_id})
        return _only(self._stored(tx, tx.fetch(_FETCH, {"id": memory_id})))

    def see(self, tx: Tx, sight: Sight, memory_id: MemoryId, chosen: MemoryFilter) -> Stored | None:
        return self.see_many(tx, sight, [memory_id], chosen).get(memory_id)

    def see_many(
        self,
        tx: Tx,
        sight: Sight,
        memory_ids: Sequence[MemoryId],
        chosen: MemoryFilter,
        *,
        compacted: bool = False,
    ) -> dict[MemoryId, Stored]:
        statement = _these(*_shapes(sight, chosen), compacted=compacted)
        params = _seeing(sight, chosen) | {"ids": jsontext.dump(list(memory_ids))}
        found = self._shown(tx, tx.fetch(statement, params), chosen)
        return {stored.memory.id: stored for stored in found}

    def page(
        self,
        tx: Tx,
        sight: Sight,
        chosen: MemoryFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Stored]:
        params = _seeing(sight, chosen) | {"limit": limit}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        rows = tx.fetch(_page(*_shapes(sight, chosen), cursor=after is not None), params)
        return self._shown(tx, rows, chosen)

    def update(
        self, tx: Tx, before: Stored, after: Memory, *, change: Change, by: Owner, at: datetime
    ) -> Stored:
        moved = after.status is not before.memory.status
        changed = replace(before, memory=after, status_at=at if moved else before.status_at)
        tx.run(_UPDATE, self._rows.to_params(changed))
        self._versions.end(tx, before.memory, at=at)
        self._versions.begin(tx, after, change, by=by, at=at)
        memory_parts.replace_parts(tx, before.memory, after, at=at)
        return changed

    def delete(self, tx: Tx, memory_id: MemoryId, *, at: datetime) -> bool:
        return remove(tx, [memory_id], at=at) > 0

    def versions(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> list[Version]:
        return self._versions.all_of(tx, memory_ids)

    def predecessors(
        self, tx: Tx, memory_ids: Sequence[MemoryId]
    ) -> dict[MemoryId, list[MemoryId]]:
        replaced: dict[MemoryId, list[MemoryId]] = {}
        for successor, predecessor in tx.fetch(_PREDECESSORS, _ids(memory_ids)):
            replaced.setdefault(successor, []).append(predecessor)
        return replaced

    def successors(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> set[MemoryId]:
        return {MemoryId(row[0]) for row in tx.fetch(_SUCCESSORS, _ids(memory_ids))}

    def removals(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, datetime]:
        return {MemoryId(id_): at for id_, at in tx.fetch(_REMOVALS, _ids(memory_ids))}

    def link_superseded(
        self, tx: Tx, successor: MemoryId, predecessor: MemoryId, *, at: datetime, reason: str
    ) -> None:
        memory_parts.link_superseded(tx, successor, predecessor, at=at, reason=reason)

    def link_conflict(self, tx: Tx, one: MemoryId, other: MemoryId, *, at: datetime) -> None:
        memory_parts.link_conflict(tx, one, other, at=at)

    def find_same_text(self, tx: Tx, stored: Stored, *, now: datetime) -> list[Stored]:
        memory = stored.memory
        # A name is locked, not a row: there may be none yet. The name begins with kind and hash,
        # which hold no blanks, so no two spaces or texts share a name.
        fold = fold_hash(stored)
        tx.lock(_HOLD, {"name": " ".join([memory.space.kind, fold, memory.space.id])})
        params = _place(memory.space) | {"fold": fold, "id": memory.id, "now": now}
        return self._stored(tx, tx.fetch(_SAME_TEXT, params))

    def hold_key(self, tx: Tx, space: Space, key: str) -> None:
        tx.lock(_HOLD, {"name": jsontext.dump([space.kind, space.id, key])})

    def find_key(self, tx: Tx, space: Space, key: str, *, now: datetime) -> list[Stored]:
        params = _place(space) | {"key": key, "now": now}
        return self._stored(tx, tx.fetch(_BY_KEY, params))

    def embedding(self, tx: Tx, memory_id: MemoryId) -> list[float] | None:
        row = tx.first(_EMBEDDING, {"id": memory_id})
        return None if row is None else np.frombuffer(row[0], dtype=">f4").tolist()

    def _shown(self, tx: Tx, rows: Sequence[Row], chosen: MemoryFilter) -> list[Stored]:
        found = self._stored(tx, rows)
        if chosen.as_of is None:
            return found
        return self._versions.as_of(tx, found, chosen.as_of)

    def _stored(self, tx: Tx, rows: Sequence[Row]) -> list[Stored]:
        hanging = memory_parts.hanging_on(tx, [row[_ID_AT] for row in rows])
        return [self._rows.from_row(row, hanging.get(row[_ID_AT], NOTHING)) for row in rows]


def _only(found: Sequence[Stored]) -> Stored | None:
    return found[0] if found else None


def _ids(memory_ids: Iterable[str]) -> dict[str, Any]:
    return {"ids": jsontext.dump(list(memory_ids))}


def _place(space: Space) -> dict[str, Any]:
    return {"space_kind": space.kind, "space_id": space.id}


def _shapes(sight: Sight, chosen: MemoryFilter) -> tuple[SightShape, FilterShape]:
    return SightShape.of(sight), FilterShape.of(chosen)


def _seeing(sight: Sight, chosen: MemoryFilter) -> dict[str, Any]:
    return {**sight_params(sight), **filter_params(chosen, sight.now)}


@cache
def _these(seen: SightShape, chosen: FilterShape, *, compacted: bool) -> Statement:
    query = select(*MEMORY).where(AmongTexts(_m.id, param("ids")))
    sight = standing_clause(seen) if compacted else sight_clause(seen)
    return Statement(query.where(sight, filter_clause(chosen)))


@cache
def _page(seen: SightShape, chosen: FilterShape, *, cursor: bool) -> Statement:
    query = select(*MEMORY).where(sight_clause(seen), filter_clause(chosen))
    # Keyset pagination: pages stay stable while rows are inserted, and a late page costs no more
    # than the first.
    if cursor:
        here = tuple_(param("at", _m.created_at), param("id", _m.id))
        query = query.where(tuple_(_m.created_at, _m.id) < here)
    query = query.order_by(_m.created_at.desc(), _m.id.desc())
    return Statement(query.limit(param("limit")))


def _values(columns: Iterable[Any]) -> Mapping[str, Any]:
    return {column.name: param(column.name, column) for column in columns}


_ID_AT = MEMORY.index(_m.id)
_ID = param("id", _m.id)
_IN_SPACE = and_(
    _m.space_kind == param("space_kind", _m.space_kind),
    _m.space_id == param("space_id", _m.space_id),
)
_LIVE = and_(
    _m.status == word("active"),
    or_(_m.expires_at.is_(None), _m.expires_at > param("now", _m.expires_at)),
)
_INSERT = Statement(insert_if_absent(memories, "id").values(_values(_WRITTEN)).returning(_m.doc))
_FETCH = Statement(select(*MEMORY).where(_m.id == _ID))
_LOCK = Statement(select(_m.id).where(_m.id == _ID).with_for_update())
_UPDATE = Statement(update(memories).where(_m.id == _ID).values(_values(_WRITTEN)))
_l = memory_links.c
_new, _old = memories.alias("successor").c, memories.alias("predecessor").c
# Links with a reason were written by this server. Those without come from an import, or wait for a
# release from quarantine; they count only between existing rows of one space, so that an import
# can't attach its rows to the history of somebody else's memory.
_BESIDE = and_(_old.space_kind == _new.space_kind, _old.space_id == _new.space_id)
_BELIEVED = or_(
    _l.reason != literal_column("''"),
    select(_new.id).where(_new.id == _l.from_id, _old.id == _l.to_id, _BESIDE).exists(),
)
_PREDECESSORS = Statement(
    select(_l.from_id, _l.to_id)
    .where(AmongTexts(_l.from_id, param("ids")), _l.kind == word("supersedes"), _BELIEVED)
    .order_by(_l.from_id, _l.to_id)
)
_of_link, _of_row = AmongTexts(_l.to_id, param("ids")), AmongTexts(_m.id, param("ids"))
_SUCCESSORS = Statement(
    union(
        select(_l.from_id).where(_of_link, _l.kind == word("supersedes")),
        select(_m.superseded_by).where(_of_row, _m.superseded_by.is_not(None)),
    )
)
_REMOVALS = Statement(
    select(memory_removals.c.memory_id, memory_removals.c.removed_at).where(
        AmongTexts(memory_removals.c.memory_id, param("ids"))
    )
)
_HOLD = Statement(select(HeldName(param("name"))))
_SAME_TEXT = Statement(
    select(*MEMORY)
    .where(
        _IN_SPACE,
        _LIVE,
        _m.fold == param("fold", _m.fold),
        _m.kind == word("statement"),
        _m.id != _ID,
    )
    .order_by(_m.created_at, _m.id)
)
_BY_KEY = Statement(
    select(*MEMORY)
    .where(_IN_SPACE, _LIVE, _m.key == param("key", _m.key), _m.kind == word("record"))
    .order_by(_m.created_at.desc(), _m.id.desc())
)
_e = memory_embeddings.c
_EMBEDDING = Statement(select(_e.embedding).where(_e.memory_id == _ID))
