"""Earlier versions of memories: who may see them, and the history that they form with everything
that a memory replaced."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.domain.agents import Owner
from recollect.domain.disclosure import PersonId
from recollect.domain.memories import Memory, MemoryId, Sensitivity, Status
from recollect.policy.sight import Sight
from recollect.ports.database import Tx
from recollect.ports.memories import Change, MemoryFilter, Stored, Version
from recollect.ports.stores import Stores
from recollect.services.views import Views

ItemPlace = tuple[int, str, int]

# A history includes superseded memories.
IN_HISTORY = MemoryFilter(statuses=(Status.ACTIVE, Status.SUPERSEDED))
# A person id that nobody has.
_A_STRANGER = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryItem:
    """One version of a memory, or of one that it replaced, `depth` links away.

    `then` is the memory as it was; None if its text was compacted. For a viewer who may not read
    this version, `then` and `by` are None, and only ids and times remain. A removed memory has no
    version number either.
    """

    memory_id: MemoryId
    change: Change
    at: datetime
    depth: int
    superseded_by: MemoryId | None
    version: int | None = None
    by: Owner | None = None
    then: Memory | None = None

    @property
    def readable(self) -> bool:
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
    def place(self) -> ItemPlace:
        """Sort key and cursor: nearest first, and of one memory the newest version first."""
        return self.depth, self.memory_id, -(self.version or 0)


@dataclass(frozen=True, slots=True)
class _Step:
    """A memory in the history, and the successor through which it was reached."""

    memory_id: MemoryId
    depth: int
    successor: MemoryId | None


class Past:
    """Reads earlier versions for a viewer."""

    def __init__(self, stores: Stores, views: Views) -> None:
        self._stores = stores
        self._views = views

    def shows(self, tx: Tx, sight: Sight, version: Stored) -> bool:
        """Whether a viewer who may see the present memory may also see this earlier version.

        It is judged by its own subjects and privacy. A text that was more private, or about other
        people, does not become visible because the present one is. Its status and expiry don't
        count: that it is over is the point of a history.
        """
        lasting = replace(version.memory, status=Status.ACTIVE, expires_at=None)
        return self._views.look(tx, sight, replace(version, memory=lasting)).allowed

    def canonical(self, tx: Tx, found: Sequence[Stored]) -> list[Stored]:
        """The rows with the canonical ids of their people: snapshots hold ids from before
        merges."""
        ids = {PersonId(id_) for stored in found for id_ in _people_of(stored.memory)}
        known = self._stores.people.fetch_many(tx, ids) if ids else {}
        today = {str(id_): str(person.id) for id_, person in known.items()}
        return [_renamed(stored, today) for stored in found]

    def history(self, tx: Tx, sight: Sight, present: Stored) -> list[HistoryItem]:
        """All versions of the memory and of its predecessors on every branch: breadth first, of one
        memory the newest version first."""
        # Rows that the viewer can't see still appear, with ids and times alone: else the chain of
        # successors would have gaps.
        steps = self._steps(tx, present)
        ids = [step.memory_id for step in steps]
        seen = self._stores.memories.see_many(tx, sight, ids, IN_HISTORY, compacted=True)
        removed = self._stores.memories.removals(tx, ids)
        versions = _by_memory(self._stores.memories.versions(tx, ids))
        items: list[HistoryItem] = []
        for step in steps:
            row = seen.get(step.memory_id)
            kept = versions.get(step.memory_id, [])
            items += (self._item(tx, sight, step, version=v, row=row) for v in kept)
            if step.memory_id in removed:
                items.append(_removed(step, removed[step.memory_id]))
        return sorted(items, key=lambda item: item.place)

    def _steps(self, tx: Tx, present: Stored) -> list[_Step]:
        """The memory and its predecessors, level by level. One that is reached twice counts where
        it is nearest, which also ends the walk in a cycle."""
        level = [_Step(present.memory.id, 0, present.memory.superseded_by)]
        steps = list(level)
        known = {present.memory.id}
        while level:
            replaced = self._stores.memories.predecessors(tx, [step.memory_id for step in level])
            level = list(_next_level(level, replaced, known))
            steps += level
        return steps

    def _item(
        self, tx: Tx, sight: Sight, step: _Step, *, version: Version, row: Stored | None
    ) -> HistoryItem:
        item = HistoryItem(
            memory_id=step.memory_id,
            change=version.change,
            at=version.at,
            depth=step.depth,
            superseded_by=step.successor,
            version=version.version,
        )
        # Who made a change is shown only to those who may read the version. Of a compacted row the
        # text is gone, so that has to be decided without its subjects and privacy.
        if row is not None and row.compacted_at is not None:
            knew = self._knew_all(tx, sight, row)
            return replace(item, by=version.by) if knew else item
        then = None if row is None else _as_of_version(row, version)
        if then is None or not self.shows(tx, sight, *self.canonical(tx, [then])):
            return item
        return replace(item, by=version.by, then=then.memory)

    def _knew_all(self, tx: Tx, sight: Sight, row: Stored) -> bool:
        """Whether the viewer may see even the most private version.

        The privacy of a compacted version is gone with its text. So a version is assumed that is
        sensitive, not portable and about nobody whom the viewer could be.
        """
        private = replace(
            row.memory,
            sensitivity=Sensitivity.SENSITIVE,
            portable=False,
            subjects=(_A_STRANGER,),
            stated_by=None,
        )
        return self.shows(tx, sight, replace(row, memory=private))


def _next_level(
    level: Iterable[_Step],
    replaced: Mapping[MemoryId, Sequence[MemoryId]],
    known: set[MemoryId],
) -> Iterator[_Step]:
    for step in level:
        for memory_id in replaced.get(step.memory_id, ()):
            if memory_id not in known:
                known.add(memory_id)
                yield _Step(memory_id, step.depth + 1, step.memory_id)


def _by_memory(versions: Iterable[Version]) -> dict[MemoryId, list[Version]]:
    found: dict[MemoryId, list[Version]] = {}
    for version in versions:
        found.setdefault(version.memory_id, []).append(version)
    return found


def _removed(step: _Step, at: datetime) -> HistoryItem:
    return HistoryItem(
        memory_id=step.memory_id,
        change=Change.REMOVED,
        at=at,
        depth=step.depth,
        superseded_by=step.successor,
    )


def _as_of_version(row: Stored, version: Version) -> Stored | None:
    """The row as that version; None if its snapshot was dropped."""
    if version.until is None:
        return row
    if version.snapshot is None:
        return None
    return replace(row, memory=replace(row.memory, **version.snapshot))


def _renamed(stored: Stored, today: Mapping[str, str]) -> Stored:
    memory: Memory = stored.memory
    subjects = tuple(dict.fromkeys(today.get(id_, id_) for id_ in memory.subjects))
    said = memory.stated_by and today.get(memory.stated_by, memory.stated_by)
    return replace(stored, memory=replace(memory, subjects=subjects, stated_by=said))


def _people_of(memory: Memory) -> Iterator[str]:
    yield from memory.subjects
    if memory.stated_by is not None:
        yield memory.stated_by
