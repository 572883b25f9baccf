"""SearchStores: the stores that code of this package gets."""

from dataclasses import dataclass

from recollect.graph.store import GraphStores
from recollect.search.ports import SearchStore
from recollect.search.store.index_form import IndexFormStore
from recollect.search.store.memories import MemorySearchStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStores(GraphStores):
    """The stores of this package and of those below."""

    search: SearchStore
    memory_search: MemorySearchStore
    index_form: IndexFormStore
