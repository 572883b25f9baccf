"""What an imported memory says to replace or to be replaced by: never itself, by whatever way."""

from recollect.domain.memories import Memory, MemoryId
from recollect.errors import ValidationFailed
from recollect.ports.database import Tx
from recollect.ports.stores import Stores
from recollect.services.import_orders import ImportOrder


def check_no_circle(tx: Tx, stores: Stores, order: ImportOrder, memory: Memory) -> None:
    """Refuse the line that would close a circle of memories that replaced each other, with what is
    stored and with earlier lines."""
    closing = {memory.id, *memory.supersedes}
    edge = _above(tx, stores, order, {memory.id})
    if memory.superseded_by is not None:
        edge.add(memory.superseded_by)
    seen: set[MemoryId] = set()
    while edge:
        if edge & closing:
            message = "must not lead back to the memory itself"
            raise ValidationFailed.of("supersedes", message)
        seen |= edge
        edge = _above(tx, stores, order, edge) - seen


def _above(tx: Tx, stores: Stores, order: ImportOrder, ids: set[MemoryId]) -> set[MemoryId]:
    foreseen = order.foreseen.successors
    found = {MemoryId(one) for id_ in ids for one in foreseen.get(id_, ())}
    return found | stores.memories.successors(tx, sorted(ids))
