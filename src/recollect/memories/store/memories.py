"""SQL store of memories. A read for a caller includes the visibility clause of the viewer in its
statement; a change keeps the previous version."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, and_, literal_column, or_, select, union, update

from recollect.db.engines.expressions import (
    AdvisoryLock,
    InTextList,
    insert_if_absent,
)
from recollect.db.statements import Query, Row, literal_word, param
from recollect.db.tables.memories import (
    memories,
    memory_embeddings,
    memory_links,
    memory_removals,
)
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.runtime import Cipher
from recollect.kernel.space import Space
from recollect.memories.model import (
    Memory,
    MemoryFilter,
    MemoryVersion,
    StoredMemory,
    VersionChange,
)
from recollect.memories.store import relations
from recollect.memories.store.filters_sql import (
    FilterShape,
    filter_clause,
    filter_params,
)
from recollect.memories.store.pages import PageShape, PermittedClause, fetch_page
from recollect.memories.store.prefilter_sql import PageOrder
from recollect.memories.store.removal import remove_memories
from recollect.memories.store.rows import (
    MEMORY_COLUMNS,
    NO_RELATED_ROWS,
    MemoryRows,
    fold_hash,
)
from recollect.memories.store.versions import MemoryVersions
from recollect.visibility.model import Closeness
from recollect.visibility.sql import (
    ViewerShape,
    closeness_clause,
    viewer_params,
    visible_by_id_clause,
    visible_clause,
    visible_or_compacted_clause,
)
from recollect.visibility.viewer import Viewer

_m = memories.c
_WRITTEN_COLUMNS = tuple(column for column in MEMORY_COLUMNS if column.name != "doc")


class MemoryStore:
    """Memories with their versions, subjects, tags, sources and links."""

    def __init__(self, cipher: Cipher, rules: RetentionRules) -> None:
        self._rows = MemoryRows(cipher, rules)
        self._versions = MemoryVersions(self._rows)

    def insert(self, tx: Tx, stored: StoredMemory) -> StoredMemory | None:
        """Insert the row with its first version, subjects, tags, sources and links. Returns it with
        its `doc`. Returns None and writes nothing if the id is taken."""
        memory = stored.memory
        row = tx.fetch_first(_INSERT, self._rows.to_params(stored))
        if row is None:
            return None
        at = memory.created_at
        self._versions.start_version(tx, memory, VersionChange.CREATED, by=stored.written_by, at=at)
        relations.insert_related(tx, memory, at=at)
        return replace(stored, doc=row[0], status_at=stored.status_at or at)

    def fetch(self, tx: Tx, memory_id: MemoryId, *, lock: bool = False) -> StoredMemory | None:
        """The row in any status, without a check of visibility: for decisions, never to be shown.
        With `lock` it is locked until the transaction ends."""
        # Locked by a statement of its own and read afterwards: what is read is then current, also
        # if another transaction changed the row while this one waited.
        if lock:
            tx.lock(_LOCK, {"id": memory_id})
        return _first_or_none(self._load_rows(tx, tx.fetch(_FETCH, {"id": memory_id})))

    def fetch_many(
        self, tx: Tx, memory_ids: Sequence[MemoryId], *, lock: bool = False
    ) -> list[StoredMemory]:
        """These rows ordered by id; with `lock` they are locked until the transaction ends."""
        params = {"ids": strict_json.dump(sorted(memory_ids))}
        if lock:
            tx.lock(_LOCK_MANY, params)
        return self._load_rows(tx, tx.fetch(_FETCH_MANY, params))

    def fetch_visible(
        self, tx: Tx, viewer: Viewer, memory_id: MemoryId, filters: MemoryFilter
    ) -> StoredMemory | None:
        """The row, if the viewer can see it and the filter matches."""
        return self.fetch_many_visible(tx, viewer, [memory_id], filters).get(memory_id)

    def fetch_visible_by_id(
        self, tx: Tx, viewer: Viewer, memory_id: MemoryId, filters: MemoryFilter
    ) -> StoredMemory | None:
        """The same, and an expired row that the filter asks for is not for writers alone."""
        statement = _visible_query(
            *_query_shapes(viewer, filters), viewer_clause=visible_by_id_clause
        )
        found = self._fetch_by_ids(tx, statement, viewer, [memory_id], filters)
        return _first_or_none(found)

    def fetch_many_visible(
        self,
        tx: Tx,
        viewer: Viewer,
        memory_ids: Sequence[MemoryId],
        filters: MemoryFilter,
        *,
        compacted: bool = False,
    ) -> dict[MemoryId, StoredMemory]:
        """Those of these rows that the viewer can see and the filter matches; with `compacted` also
        those whose text was dropped."""
        clause = visible_or_compacted_clause if compacted else visible_clause
        statement = _visible_query(*_query_shapes(viewer, filters), viewer_clause=clause)
        found = self._fetch_by_ids(tx, statement, viewer, memory_ids, filters)
        return {stored.memory.id: stored for stored in found}

    def page(
        self,
        tx: Tx,
        viewer: Viewer,
        filters: MemoryFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
        closeness: Closeness | None = None,
    ) -> list[StoredMemory]:
        """A page of visible rows by `created_at` and id, newest first; all, or those that are as
        close to the viewer as this."""
        shape = PageShape(
            *_query_shapes(viewer, filters), PageOrder.NEWEST_FIRST, _permitted_by(closeness)
        )
        params = _read_params(viewer, filters)
        rows = fetch_page(tx, shape, params, after=after, limit=limit)
        return self._load_as_of(tx, rows, filters)

    def update(
        self,
        tx: Tx,
        before: StoredMemory,
        after: Memory,
        *,
        change: VersionChange,
        by: Owner,
        at: datetime,
    ) -> StoredMemory:
        """Store the next version (`after.version` is one more) and keep the previous one as a
        snapshot. Subjects, tags, sources and conflict links are updated. The caller holds the lock.
        The columns beside the memory are stored as they are in `before`."""
        moved = after.status is not before.memory.status
        changed = replace(before, memory=after, status_at=at if moved else before.status_at)
        tx.run(_UPDATE, self._rows.to_params(changed))
        self._versions.close_version(tx, before.memory, at=at)
        self._versions.start_version(tx, after, change, by=by, at=at)
        relations.update_related(tx, before.memory, after, at=at)
        return changed

    def delete(self, tx: Tx, memory_id: MemoryId, *, at: datetime) -> bool:
        """Delete the row with its versions, index rows, vectors, edges, conflict links and
        approvals. Histories of other memories keep its id. False if it was gone."""
        return remove_memories(tx, [memory_id], at=at) > 0

    def versions(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> list[MemoryVersion]:
        """All versions of these memories, oldest first."""
        return self._versions.fetch_all(tx, memory_ids)

    def predecessors(
        self, tx: Tx, memory_ids: Sequence[MemoryId]
    ) -> dict[MemoryId, list[MemoryId]]:
        """What each of these replaced directly. A link without a reason counts only if both rows
        exist and lie in one space."""
        replaced: dict[MemoryId, list[MemoryId]] = {}
        for successor, predecessor in tx.fetch(_PREDECESSORS, _ids_param(memory_ids)):
            replaced.setdefault(successor, []).append(predecessor)
        return replaced

    def successors(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> set[MemoryId]:
        """The memories that directly replaced any of these."""
        return {MemoryId(row[0]) for row in tx.fetch(_SUCCESSORS, _ids_param(memory_ids))}

    def removals(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, datetime]:
        """Those of these that were removed while a history named them, and when."""
        return {MemoryId(id_): at for id_, at in tx.fetch(_REMOVALS, _ids_param(memory_ids))}

    def link_superseded(
        self, tx: Tx, successor: MemoryId, predecessor: MemoryId, *, at: datetime, reason: str
    ) -> None:
        """Store the link between successor and predecessor. Their rows are changed by `update`."""
        relations.link_superseded(tx, successor, predecessor, at=at, reason=reason)

    def unlink_superseded(self, tx: Tx, successor: MemoryId, predecessor: MemoryId) -> None:
        """Delete the link between successor and predecessor."""
        relations.unlink_superseded(tx, successor, predecessor)

    def link_conflict(self, tx: Tx, one: MemoryId, other: MemoryId, *, at: datetime) -> None:
        """Link both ways."""
        relations.link_conflict(tx, one, other, at=at)

    def find_same_text(self, tx: Tx, stored: StoredMemory, *, now: datetime) -> list[StoredMemory]:
        """Active statements of the same space whose text is equal after folding, oldest first,
        whatever their speaker and subjects.

        Locks the text in that space until the transaction ends: other writers of an equal text
        wait here. So a text that was not found can be inserted.
        """
        memory = stored.memory
        # A name is locked, not a row: there may be none yet. The name begins with kind and hash,
        # which hold no blanks, so no two spaces or texts share a name.
        fold = fold_hash(stored)
        tx.lock(_LOCK_NAME, {"name": " ".join([memory.space.kind, fold, memory.space.id])})
        params = _space_params(memory.space) | {"fold": fold, "id": memory.id, "now": now}
        # An unreadable one does not stand in for a text that its writer wants to read again.
        found = self._load_rows(tx, tx.fetch(_SAME_TEXT, params))
        return [one for one in found if not one.unreadable]

    def lock_key(self, tx: Tx, space: Space, key: str) -> None:
        """Lock a record key of a space until the transaction ends, whether or not a row has it."""
        tx.lock(_LOCK_NAME, {"name": strict_json.dump([space.kind, space.id, key])})

    def find_by_key(self, tx: Tx, space: Space, key: str, *, now: datetime) -> list[StoredMemory]:
        """Active records of a space with a key, newest first."""
        params = _space_params(space) | {"key": key, "now": now}
        return self._load_rows(tx, tx.fetch(_BY_KEY, params))

    def fetch_embedding(self, tx: Tx, memory_id: MemoryId) -> list[float] | None:
        """The vector of its text; None while there is none."""
        row = tx.fetch_first(_EMBEDDING, {"id": memory_id})
        return None if row is None else np.frombuffer(row[0], dtype=">f4").tolist()

    def _fetch_by_ids(
        self,
        tx: Tx,
        statement: Query,
        viewer: Viewer,
        memory_ids: Sequence[MemoryId],
        filters: MemoryFilter,
    ) -> list[StoredMemory]:
        params = _read_params(viewer, filters) | _ids_param(memory_ids)
        return self._load_as_of(tx, tx.fetch(statement, params), filters)

    def _load_as_of(self, tx: Tx, rows: Sequence[Row], filters: MemoryFilter) -> list[StoredMemory]:
        found = self._load_rows(tx, rows)
        if filters.as_of is None:
            return found
        return self._versions.restore_as_of(tx, found, filters.as_of)

    def _load_rows(self, tx: Tx, rows: Sequence[Row]) -> list[StoredMemory]:
        related = relations.fetch_related(tx, [row[_ID_INDEX] for row in rows])
        return [
            self._rows.from_row(row, related.get(row[_ID_INDEX], NO_RELATED_ROWS)) for row in rows
        ]


def _first_or_none(found: Sequence[StoredMemory]) -> StoredMemory | None:
    return found[0] if found else None


def _ids_param(memory_ids: Iterable[str]) -> dict[str, Any]:
    return {"ids": strict_json.dump(list(memory_ids))}


def _space_params(space: Space) -> dict[str, Any]:
    return {"space_kind": space.kind, "space_id": space.id}


def _query_shapes(viewer: Viewer, filters: MemoryFilter) -> tuple[ViewerShape, FilterShape]:
    return ViewerShape.from_viewer(viewer), FilterShape.from_filter(filters)


def _read_params(viewer: Viewer, filters: MemoryFilter) -> dict[str, Any]:
    return {**viewer_params(viewer), **filter_params(filters, viewer.now)}


@cache
def _visible_query(
    shape: ViewerShape,
    filters: FilterShape,
    *,
    viewer_clause: Callable[[ViewerShape], ColumnElement[bool]],
) -> Query:
    query = select(*MEMORY_COLUMNS).where(InTextList(_m.id, param("ids")))
    return Query(query.where(viewer_clause(shape), filter_clause(filters)))


@cache
def _permitted_by(closeness: Closeness | None) -> PermittedClause:
    """One function for each closeness, since it is part of the key of a statement."""

    def clause(shape: ViewerShape, filters: FilterShape) -> ColumnElement[bool]:
        permitted = and_(visible_clause(shape), filter_clause(filters))
        if closeness is None:
            return permitted
        return and_(permitted, closeness_clause(shape, closeness))

    return clause


def _column_params(columns: Iterable[Any]) -> Mapping[str, Any]:
    return {column.name: param(column.name, column) for column in columns}


_ID_INDEX = MEMORY_COLUMNS.index(_m.id)
_ID = param("id", _m.id)
_IN_SPACE = and_(
    _m.space_kind == param("space_kind", _m.space_kind),
    _m.space_id == param("space_id", _m.space_id),
)
_LIVE = and_(
    _m.status == literal_word("active"),
    or_(_m.expires_at.is_(None), _m.expires_at > param("now", _m.expires_at)),
)
_INSERT = Query(
    insert_if_absent(memories, "id").values(_column_params(_WRITTEN_COLUMNS)).returning(_m.doc)
)
_FETCH = Query(select(*MEMORY_COLUMNS).where(_m.id == _ID))
_LOCK = Query(select(_m.id).where(_m.id == _ID).with_for_update())
_UPDATE = Query(update(memories).where(_m.id == _ID).values(_column_params(_WRITTEN_COLUMNS)))
_l = memory_links.c
_new, _old = memories.alias("successor").c, memories.alias("predecessor").c
# Links with a reason were written by this server. Those without come from an import, or wait for a
# release from quarantine; they count only between existing rows of one space, so that an import
# can't attach its rows to the history of somebody else's memory.
_SAME_SPACE = and_(_old.space_kind == _new.space_kind, _old.space_id == _new.space_id)
_TRUSTED_LINK = or_(
    _l.reason != literal_column("''"),
    select(_new.id).where(_new.id == _l.from_id, _old.id == _l.to_id, _SAME_SPACE).exists(),
)
_PREDECESSORS = Query(
    select(_l.from_id, _l.to_id)
    .where(
        InTextList(_l.from_id, param("ids")), _l.kind == literal_word("supersedes"), _TRUSTED_LINK
    )
    .order_by(_l.from_id, _l.to_id)
)
_of_link, _of_row = InTextList(_l.to_id, param("ids")), InTextList(_m.id, param("ids"))
_SUCCESSORS = Query(
    union(
        select(_l.from_id).where(_of_link, _l.kind == literal_word("supersedes")),
        select(_m.superseded_by).where(_of_row, _m.superseded_by.is_not(None)),
    )
)
_REMOVALS = Query(
    select(memory_removals.c.memory_id, memory_removals.c.removed_at).where(
        InTextList(memory_removals.c.memory_id, param("ids"))
    )
)
_LOCK_NAME = Query(select(AdvisoryLock(param("name"))))
_SAME_TEXT = Query(
    select(*MEMORY_COLUMNS)
    .where(
        _IN_SPACE,
        _LIVE,
        _m.fold == param("fold", _m.fold),
        _m.kind == literal_word("statement"),
        _m.id != _ID,
    )
    .order_by(_m.created_at, _m.id)
)
_BY_KEY = Query(
    select(*MEMORY_COLUMNS)
    .where(_IN_SPACE, _LIVE, _m.key == param("key", _m.key), _m.kind == literal_word("record"))
    .order_by(_m.created_at.desc(), _m.id.desc())
)
_e = memory_embeddings.c
_EMBEDDING = Query(select(_e.embedding).where(_e.memory_id == _ID))
_IDS = param("ids")
# A memory that is being erased belongs to that job alone.
_NOT_ERASED = (InTextList(_m.id, _IDS), _m.erasure_id.is_(None))
_FETCH_MANY = Query(select(*MEMORY_COLUMNS).where(*_NOT_ERASED).order_by(_m.id))
_LOCK_MANY = Query(select(_m.id).where(*_NOT_ERASED).order_by(_m.id).with_for_update())
