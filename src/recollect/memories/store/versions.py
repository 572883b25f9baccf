"""SQL store of versions: the interval in which each was current, and snapshots of older ones."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, or_, select, update

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, Row, param
from recollect.db.tables.memories import memory_versions
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.memories.model import (
    Memory,
    MemoryStatus,
    MemoryVersion,
    StoredMemory,
    VersionChange,
)
from recollect.memories.store.rows import (
    MemoryRows,
    OpenedSnapshot,
    apply_snapshot,
    hide_texts,
    version_id,
)

_v = memory_versions.c
_COLUMNS = tuple(memory_versions.columns)


class MemoryVersions:
    """Reads and writes the versions of memories, for `MemoryStore`."""

    def __init__(self, rows: MemoryRows) -> None:
        self._rows = rows

    def start_version(
        self, tx: Tx, memory: Memory, change: VersionChange, *, by: Owner, at: datetime
    ) -> None:
        """Insert the version that is current from `at` on. Its fields are in the row of the
        memory."""
        params = {
            "id": version_id(memory.id, memory.version),
            "memory_id": memory.id,
            "version": memory.version,
            "change": change,
            "at": at,
            "until": None,
            "by_kind": by.kind,
            "by_id": by.id,
            "status": memory.status,
            "valid_from": memory.valid_from,
            "valid_until": memory.valid_until,
            "snapshot": None,
        }
        tx.run(_BEGIN, params)

    def close_version(self, tx: Tx, memory: Memory, *, at: datetime) -> None:
        """Close a version and store its snapshot. The next one begins at the same instant."""
        snapshot = self._rows.make_snapshot(memory)
        id_ = version_id(memory.id, memory.version)
        tx.run(_END, {"id": id_, "until": at, "snapshot": snapshot})

    def fetch_all(self, tx: Tx, memory_ids: Sequence[MemoryId]) -> list[MemoryVersion]:
        """All versions of these memories, oldest first."""
        rows = tx.fetch(_ALL, {"ids": strict_json.dump(list(memory_ids))})
        return [self._to_version(row) for row in rows]

    def restore_as_of(
        self, tx: Tx, found: Sequence[StoredMemory], at: datetime
    ) -> list[StoredMemory]:
        """Each row with the fields of the version that was current at `at`. A row without an older
        version then stays as it is; a version that can't be decrypted has no texts."""
        # A row of version 1 never changed, so it has no snapshot. Neither has the present version
        # of another row: then the row itself is what was current.
        changed = [stored.memory.id for stored in found if stored.memory.version > 1]
        if not changed:
            return list(found)
        rows = tx.fetch(_CURRENT_AT, {"ids": strict_json.dump(changed), "at": at})
        kept = {row[1]: self._rows.open_snapshot(row[2], row[0]) for row in rows}
        return [_restore(stored, kept.get(stored.memory.id)) for stored in found]

    def _to_version(self, row: Row) -> MemoryVersion:
        named = dict(zip(_NAMES, row, strict=True))
        opened = self._rows.open_snapshot(named["snapshot"], named["id"])
        return MemoryVersion(
            memory_id=MemoryId(named["memory_id"]),
            version=named["version"],
            change=VersionChange(named["change"]),
            at=named["at"],
            until=named["until"],
            by=Owner(OwnerKind(named["by_kind"]), named["by_id"]),
            status=MemoryStatus(named["status"]),
            snapshot=opened.fields,
            unreadable=opened.unreadable,
        )


def _restore(stored: StoredMemory, then: OpenedSnapshot | None) -> StoredMemory:
    if then is not None and then.unreadable:
        return hide_texts(stored)
    return apply_snapshot(stored, then.fields) if then and then.fields else stored


def _column_params(columns: Iterable[Any]) -> dict[str, Any]:
    return {column.name: param(column.name, column) for column in columns}


_NAMES = tuple(column.name for column in _COLUMNS)
_BEGIN = Query(insert(memory_versions).values(_column_params(_COLUMNS)))
_END = Query(
    update(memory_versions)
    .where(_v.id == param("id", _v.id))
    .values(_column_params((_v.until, _v.snapshot)))
)
_ALL = Query(
    select(*_COLUMNS)
    .where(InTextList(_v.memory_id, param("ids")))
    .order_by(_v.at, _v.memory_id, _v.version)
)
_AT = param("at", _v.at)
_CURRENT_AT = Query(
    select(_v.id, _v.memory_id, _v.snapshot).where(
        InTextList(_v.memory_id, param("ids")),
        _v.at <= _AT,
        or_(_v.until.is_(None), _v.until > _AT),
    )
)
