"""Earlier versions of memories: who may see them, and the history that they form with everything
that a memory replaced."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId, PersonId
from recollect.kernel.owner import Owner
from recollect.memories.model import (
    Memory,
    MemoryFilter,
    MemoryStatus,
    MemoryVersion,
    Sensitivity,
    StoredMemory,
    VersionChange,
)
from recollect.memories.store.bundle import MemoryStores
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewer import Viewer

HistoryKey = tuple[int, str, int]

# What is over stays readable by its id and in histories; quarantined memories do not.
READABLE_STATUSES = (MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED, MemoryStatus.ARCHIVED)
HISTORY_FILTER = MemoryFilter(statuses=READABLE_STATUSES)
# A person id that nobody has.
_NOBODY_ID = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryItem:
    """One version of a memory, or of one that it replaced, `depth` links away.

    `then` is the memory as it was; None if its text was compacted. For a viewer who may not read
    this version, `then` and `by` are None, and only ids and times remain; so for a version that
    could not be decrypted (`unreadable`), as nobody can tell who may read it. A removed memory has
    no version number either.
    """

    memory_id: MemoryId
    change: VersionChange
    at: datetime
    depth: int
    superseded_by: MemoryId | None
    version: int | None = None
    by: Owner | None = None
    then: Memory | None = None
    unreadable: bool = False

    @property
    def is_readable(self) -> bool:
        """Whether its content may be shown."""
        return self.then is not None

    @property
    def content(self) -> str | None:
        """The text of the version, if it may be shown."""
        return None if self.then is None else self.then.content

    @property
    def value(self) -> Mapping[str, Any] | None:
        """The value of a record, if it may be shown."""
        return None if self.then is None else self.then.value

    @property
    def sort_key(self) -> HistoryKey:
        """Sort key and cursor: nearest first, and of one memory the newest version first."""
        return self.depth, self.memory_id, -(self.version or 0)


@dataclass(frozen=True, slots=True)
class _HistoryNode:
    """A memory in the history, and the successor through which it was reached."""

    memory_id: MemoryId
    depth: int
    successor: MemoryId | None


class VersionHistory:
    """Reads earlier versions for a viewer."""

    def __init__(self, stores: MemoryStores, views: VisibilityFacts) -> None:
        self._stores = stores
        self._views = views

    def is_visible(self, tx: Tx, viewer: Viewer, version: StoredMemory) -> bool:
        """Whether a viewer who may see the present memory may also see this earlier version.

        It is judged by its own subjects and privacy. A text that was more private, or about other
        people, does not become visible because the present one is. Its status and expiry don't
        count: that it is over is the point of a history.
        """
        return self._views.can_view_if_active(tx, viewer, version).allowed

    def with_canonical_ids(self, tx: Tx, found: Sequence[StoredMemory]) -> list[StoredMemory]:
        """The rows with the canonical ids of their people: snapshots hold ids from before
        merges."""
        ids = {PersonId(id_) for stored in found for id_ in _person_ids(stored.memory)}
        known = self._stores.people.fetch_many(tx, ids) if ids else {}
        today = {str(id_): str(person.id) for id_, person in known.items()}
        return [_replace_person_ids(stored, today) for stored in found]

    def list_items(self, tx: Tx, viewer: Viewer, present: StoredMemory) -> list[HistoryItem]:
        """All versions of the memory and of its predecessors on every branch: breadth first, of one
        memory the newest version first."""
        # Rows that the viewer can't see still appear, with ids and times alone: else the chain of
        # successors would have gaps.
        steps = self._walk_predecessors(tx, present)
        ids = [step.memory_id for step in steps]
        seen = self._stores.memories.fetch_many_visible(
            tx, viewer, ids, HISTORY_FILTER, compacted=True
        )
        removed = self._stores.memories.removals(tx, ids)
        versions = _group_by_memory(self._stores.memories.versions(tx, ids))
        items: list[HistoryItem] = []
        for step in steps:
            row = seen.get(step.memory_id)
            kept = versions.get(step.memory_id, [])
            items += (self._build_item(tx, viewer, step, version=v, row=row) for v in kept)
            if step.memory_id in removed:
                items.append(_removal_item(step, removed[step.memory_id]))
        return sorted(items, key=lambda item: item.sort_key)

    def _walk_predecessors(self, tx: Tx, present: StoredMemory) -> list[_HistoryNode]:
        """The memory and its predecessors, level by level. One that is reached twice counts where
        it is nearest, which also ends the walk in a cycle."""
        level = [_HistoryNode(present.memory.id, 0, present.memory.superseded_by)]
        steps = list(level)
        known = {present.memory.id}
        while level:
            replaced = self._stores.memories.predecessors(tx, [step.memory_id for step in level])
            level = list(_next_level(level, replaced, known))
            steps += level
        return steps

    def _build_item(
        self,
        tx: Tx,
        viewer: Viewer,
        step: _HistoryNode,
        *,
        version: MemoryVersion,
        row: StoredMemory | None,
    ) -> HistoryItem:
        item = HistoryItem(
            memory_id=step.memory_id,
            change=version.change,
            at=version.at,
            depth=step.depth,
            superseded_by=step.successor,
            version=version.version,
            unreadable=version.unreadable,
        )
        # Who made a change is shown only to those who may read the version. Of a compacted row the
        # text is gone, so that has to be decided without its subjects and privacy.
        if row is not None and row.compacted_at is not None:
            knew = self._can_see_all_versions(tx, viewer, row)
            return replace(item, by=version.by) if knew else item
        then = None if row is None else _row_at_version(row, version)
        if then is None or not self.is_visible(tx, viewer, *self.with_canonical_ids(tx, [then])):
            return item
        return replace(item, by=version.by, then=then.memory, unreadable=then.unreadable)

    def _can_see_all_versions(self, tx: Tx, viewer: Viewer, row: StoredMemory) -> bool:
        """Whether the viewer may see even the most private version.

        The privacy of a compacted version is gone with its text. So a version is assumed that is
        sensitive, not portable and about nobody whom the viewer could be.
        """
        private = replace(
            row.memory,
            sensitivity=Sensitivity.SENSITIVE,
            portable=False,
            subjects=(_NOBODY_ID,),
            stated_by=None,
        )
        return self.is_visible(tx, viewer, replace(row, memory=private))


def _next_level(
    level: Iterable[_HistoryNode],
    replaced: Mapping[MemoryId, Sequence[MemoryId]],
    known: set[MemoryId],
) -> Iterator[_HistoryNode]:
    for step in level:
        for memory_id in replaced.get(step.memory_id, ()):
            if memory_id not in known:
                known.add(memory_id)
                yield _HistoryNode(memory_id, step.depth + 1, step.memory_id)


def _group_by_memory(versions: Iterable[MemoryVersion]) -> dict[MemoryId, list[MemoryVersion]]:
    found: dict[MemoryId, list[MemoryVersion]] = {}
    for version in versions:
        found.setdefault(version.memory_id, []).append(version)
    return found


def _removal_item(step: _HistoryNode, at: datetime) -> HistoryItem:
    return HistoryItem(
        memory_id=step.memory_id,
        change=VersionChange.REMOVED,
        at=at,
        depth=step.depth,
        superseded_by=step.successor,
    )


def _row_at_version(row: StoredMemory, version: MemoryVersion) -> StoredMemory | None:
    """The row as that version; None if its snapshot was dropped."""
    if version.until is None:
        return row
    if version.snapshot is None:
        return None
    return replace(row, memory=replace(row.memory, **version.snapshot), unreadable=False)


def _replace_person_ids(stored: StoredMemory, today: Mapping[str, str]) -> StoredMemory:
    memory: Memory = stored.memory
    subjects = tuple(dict.fromkeys(today.get(id_, id_) for id_ in memory.subjects))
    speaker = memory.stated_by and today.get(memory.stated_by, memory.stated_by)
    return replace(stored, memory=replace(memory, subjects=subjects, stated_by=speaker))


def _person_ids(memory: Memory) -> Iterator[str]:
    yield from memory.subjects
    if memory.stated_by is not None:
        yield memory.stated_by
