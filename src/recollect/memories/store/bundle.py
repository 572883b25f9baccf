"""MemoryStores: the stores that code of this package gets."""

from dataclasses import dataclass

from recollect.memories.reconcile.store import SimilarityStore
from recollect.memories.store.bulk import MemoryBulkStore
from recollect.memories.store.memories import MemoryStore
from recollect.people.store.bundle import PeopleStores


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStores(PeopleStores):
    """The stores of this package and of those below."""

    memories: MemoryStore
    memory_bulk: MemoryBulkStore
    similarity: SimilarityStore
