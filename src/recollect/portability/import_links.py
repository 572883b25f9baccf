"""Links of an imported memory to other rows: what it supersedes, contradicts and was derived from.

A removed memory between two others is a gap. The line of the newer one names it in `removed`, so
that the chain of `supersedes` has no break.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.db.transaction import Tx
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import MemoryId
from recollect.kernel.space import Space
from recollect.memories.model import (
    Memory,
    MemoryFilter,
    MemoryStatus,
    StoredMemory,
)
from recollect.memories.write.target_space import may_read_entry
from recollect.memories.write_access import MemoryWriteAccess
from recollect.portability.fields import LineValues
from recollect.portability.import_model import DryRunRows, ImportOrder
from recollect.portability.store.bundle import PortabilityStores
from recollect.visibility.viewers import ViewerFactory

_LINK_FIELDS = ("supersedes", "conflicts_with", "source_memories", "source_entries")
_ANY_STATUS = MemoryFilter(statuses=tuple(MemoryStatus), include_expired=True)
_LINK_REASON = "import"


@dataclass(frozen=True, slots=True)
class ImportLinks:
    """Decides which links of a line are stored. An admin's links all are; anybody else may link to
    rows that they could name in a write, and to ids of memories that don't exist here."""

    stores: PortabilityStores
    access: MemoryWriteAccess
    viewers: ViewerFactory

    def resolve_links(
        self, tx: Tx, order: ImportOrder, values: LineValues, space: Space
    ) -> dict[str, Any]:
        """The link fields of a line, without the ids that the importer may not name.

        Ids fall into four sets: `changeable` (rows that the importer may change), `seen` (rows that
        they may read), `inside` (rows of the same space) and `absent`. A row that is hidden from
        the importer and lies elsewhere counts as absent. So the answer is the same whether a hidden
        row exists or not, and an import can't be used to probe ids.

        Absent ids are kept because files arrive in any order: the line of the older memory may come
        later, or was not exported. Such a link has no reason yet, and reads follow it only between
        rows of one space (see `link_superseded`). So it can't lead into somebody else's memories.
        """
        lists = {name: tuple(dict.fromkeys(values[name] or ())) for name in _LINK_FIELDS}
        after = values["superseded_by"]
        if order.requester.is_admin:
            return lists | {"superseded_by": after}
        ids = {*lists["supersedes"], *lists["conflicts_with"], *lists["source_memories"]}
        ids |= {after} - {None}
        rows = {row.memory.id: row for row in self._rows(tx, ids)}
        changeable = self.access.changeable_ids(tx, order.requester, list(rows.values()))
        seen = self._visible_ids(tx, order, rows.keys() - changeable)
        inside = {id_ for id_, row in rows.items() if row.memory.space == space}
        absent = ids - changeable - seen - inside
        here = absent | (changeable & inside)
        named = {
            "supersedes": here,
            # A conflict is written on both sides, so both must be there and theirs.
            "conflicts_with": changeable,
            "source_memories": absent | changeable | seen,
            "source_entries": self._readable_entries(tx, order, lists["source_entries"]),
        }
        kept = {
            name: tuple(id_ for id_ in lists[name] if id_ in named[name]) for name in _LINK_FIELDS
        }
        return kept | {"superseded_by": after if after in here else None}

    def link_superseded(self, tx: Tx, order: ImportOrder, memory: Memory) -> None:
        """Give the memory's `supersedes` links a reason, where they are more than a claim.

        The insert stores links with an empty reason. Reads follow such a link only while both rows
        are there, in one space. A link with a reason also holds across spaces and when the old row
        is gone. It gets one if an admin imports, or if the old row was there to be checked.
        """
        old = set(memory.supersedes)
        if not order.requester.is_admin:
            rows = [r for r in self._rows(tx, old) if r.memory.space == memory.space]
            old = set(self.access.changeable_ids(tx, order.requester, rows))
        for id_ in sorted(old):
            at = memory.created_at
            self.stores.memories.link_superseded(tx, memory.id, id_, at=at, reason=_LINK_REASON)

    def record_removed(self, tx: Tx, gaps: Sequence[LineValues]) -> None:
        """Store when the memories of `gaps` were removed and what they had superseded. A memory
        that exists here is left alone: its own row says what it supersedes."""
        for gap in gaps:
            id_, at = MemoryId(gap["memory_id"]), gap["removed_at"]
            if self.stores.memories.fetch(tx, id_) is not None:
                continue
            self.stores.portable.record_removal(tx, id_, at)
            for old in gap["supersedes"] or ():
                self.stores.memories.link_superseded(tx, id_, old, at=at, reason=_LINK_REASON)

    def _rows(self, tx: Tx, ids: Collection[MemoryId]) -> list[StoredMemory]:
        return self.stores.memories.fetch_many(tx, sorted(ids)) if ids else []

    def _visible_ids(self, tx: Tx, order: ImportOrder, ids: Collection[MemoryId]) -> set[MemoryId]:
        if not ids:
            return set()
        viewer = self.viewers.viewer_for(tx, order.requester)
        return set(self.stores.memories.fetch_many_visible(tx, viewer, sorted(ids), _ANY_STATUS))

    def _readable_entries(self, tx: Tx, order: ImportOrder, ids: Collection[str]) -> set[str]:
        """Ids of entries that the importer may read. An unknown id is dropped like a hidden one, so
        that the result does not tell them apart."""
        return {id_ for id_ in ids if may_read_entry(tx, self.stores, order.requester, id_)}


def trusted_removals(order: ImportOrder, values: LineValues) -> list[LineValues]:
    """The removed memories that a line tells of; none unless an admin imports. Anybody else could
    link their memory over an invented gap to rows of others, and be shown ids and times of them."""
    return values["removed"] or [] if order.requester.is_admin else []


def check_no_cycle(
    tx: Tx,
    stores: PortabilityStores,
    order: ImportOrder,
    memory: Memory,
    *,
    gaps: Sequence[LineValues],
) -> None:
    """ValidationFailed if the line would close a cycle of `supersedes`, over stored rows, earlier
    lines of the dry run and its own gaps.

    For the memory and each gap it walks upwards, from successor to successor. Reaching the start,
    or one of the ids that the start supersedes, means a cycle. `seen` ends the walk if the stored
    rows have a cycle already, which is for the doctor to repair and not for this line to answer.
    """
    below = {memory.id: set(memory.supersedes)}
    below |= {MemoryId(gap["memory_id"]): set(gap["supersedes"] or ()) for gap in gaps}
    line = DryRunRows()
    line.add_links(memory, gaps)
    links = (line.successors, order.foreseen.successors)
    for id_, olds in below.items():
        edge, seen = _successors(tx, stores, links, {id_}), set[MemoryId]()
        while edge:
            if edge & {id_, *olds}:
                message = "must not lead back to the memory itself"
                raise ValidationFailed.for_field("supersedes", message)
            seen |= edge
            edge = _successors(tx, stores, links, edge) - seen


def _successors(
    tx: Tx,
    stores: PortabilityStores,
    links: Iterable[Mapping[str, set[str]]],
    ids: set[MemoryId],
) -> set[MemoryId]:
    found = {MemoryId(new) for one in links for id_ in ids for new in one.get(id_, ())}
    return found | stores.memories.successors(tx, sorted(ids))
