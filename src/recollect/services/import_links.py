"""Other rows that an imported memory names: what it replaced, contradicts and was made of."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.domain.memories import Memory, MemoryId, Status
from recollect.domain.portable_members import Values
from recollect.domain.spaces import Space
from recollect.errors import ValidationFailed
from recollect.ports.database import Tx
from recollect.ports.memories import MemoryFilter, Stored
from recollect.ports.stores import Stores
from recollect.services.import_orders import Foreseen, ImportOrder
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_places import may_read_entry
from recollect.services.sights import Sights

_LISTS = ("supersedes", "conflicts_with", "source_memories", "source_entries")
_ANY = MemoryFilter(statuses=tuple(Status), include_expired=True)
_REASON = "import"


@dataclass(frozen=True, slots=True)
class ImportLinks:
    """Believes all of an admin. Others name rows that they could name in a write; the id of a
    memory that isn't there stays as it was told, and leads to nothing but a row of its space."""

    stores: Stores
    access: MemoryAccess
    sights: Sights

    def told(self, tx: Tx, order: ImportOrder, values: Values, space: Space) -> dict[str, Any]:
        """The links of a line, as they are stored."""
        lists = {name: tuple(dict.fromkeys(values[name] or ())) for name in _LISTS}
        after = values["superseded_by"]
        if order.requester.admin:
            return lists | {"superseded_by": after}
        ids = {*lists["supersedes"], *lists["conflicts_with"], *lists["source_memories"]}
        ids |= {after} - {None}
        rows = {row.memory.id: row for row in self._rows(tx, ids)}
        theirs = self.access.theirs(tx, order.requester, list(rows.values()))
        seen = self._seen(tx, order, rows.keys() - theirs)
        inside = {id_ for id_, row in rows.items() if row.memory.space == space}
        # What lies hidden elsewhere is told like what isn't there: who asks learns nothing of it.
        absent = ids - theirs - seen - inside
        here = absent | (theirs & inside)
        named = {
            "supersedes": here,
            # A conflict is written on both sides, so both must be there and theirs.
            "conflicts_with": theirs,
            "source_memories": absent | theirs | seen,
            "source_entries": self._readable(tx, order, lists["source_entries"]),
        }
        kept = {name: tuple(id_ for id_ in lists[name] if id_ in named[name]) for name in _LISTS}
        return kept | {"superseded_by": after if after in here else None}

    def vouch(self, tx: Tx, order: ImportOrder, memory: Memory) -> None:
        """Give a reason to the links that hold wherever the old rows lie, and when they are gone:
        an admin's, and those whose rows were there to be looked at."""
        old = set(memory.supersedes)
        if not order.requester.admin:
            rows = [r for r in self._rows(tx, old) if r.memory.space == memory.space]
            old = set(self.access.theirs(tx, order.requester, rows))
        for id_ in sorted(old):
            at = memory.created_at
            self.stores.memories.link_superseded(tx, memory.id, id_, at=at, reason=_REASON)

    def bridge(self, tx: Tx, gaps: Sequence[Values]) -> None:
        """Remember memories that are gone and what they had replaced. One that is there again tells
        that itself."""
        for gap in gaps:
            id_, at = MemoryId(gap["memory_id"]), gap["removed_at"]
            if self.stores.memories.fetch(tx, id_) is not None:
                continue
            self.stores.portable.note_removal(tx, id_, at)
            for old in gap["supersedes"] or ():
                self.stores.memories.link_superseded(tx, id_, old, at=at, reason=_REASON)

    def _rows(self, tx: Tx, ids: Collection[MemoryId]) -> list[Stored]:
        return self.stores.keeping.fetch_many(tx, sorted(ids)) if ids else []

    def _seen(self, tx: Tx, order: ImportOrder, ids: Collection[MemoryId]) -> set[MemoryId]:
        if not ids:
            return set()
        sight = self.sights.of(tx, order.requester)
        return set(self.stores.memories.see_many(tx, sight, sorted(ids), _ANY))

    def _readable(self, tx: Tx, order: ImportOrder, ids: Collection[str]) -> set[str]:
        """One that isn't there is dropped like one of others: who asks learns nothing of it."""
        return {id_ for id_ in ids if may_read_entry(tx, self.stores, order.requester, id_)}


def told_gaps(order: ImportOrder, values: Values) -> list[Values]:
    """What a line tells of removed memories. Believed of an admin alone: whoever could say what is
    gone, and what it led to, would be shown ids and times of rows of others."""
    return values["removed"] or [] if order.requester.admin else []


def check_no_circle(
    tx: Tx, stores: Stores, order: ImportOrder, memory: Memory, *, gaps: Sequence[Values]
) -> None:
    """Refuse the line that would close a circle of memories that replaced each other, with what is
    stored and with earlier lines."""
    below = {memory.id: set(memory.supersedes)}
    below |= {MemoryId(gap["memory_id"]): set(gap["supersedes"] or ()) for gap in gaps}
    line = Foreseen()
    line.add_links(memory, gaps)
    told = (line.successors, order.foreseen.successors)
    for id_, olds in below.items():
        edge, seen = _above(tx, stores, told, {id_}), set[MemoryId]()
        while edge:
            if edge & {id_, *olds}:
                message = "must not lead back to the memory itself"
                raise ValidationFailed.of("supersedes", message)
            seen |= edge
            edge = _above(tx, stores, told, edge) - seen


def _above(
    tx: Tx, stores: Stores, told: Iterable[Mapping[str, set[str]]], ids: set[MemoryId]
) -> set[MemoryId]:
    found = {MemoryId(new) for links in told for id_ in ids for new in links.get(id_, ())}
    return found | stores.memories.successors(tx, sorted(ids))
