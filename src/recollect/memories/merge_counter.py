"""Counts what a merge moved, only as far as the caller may see it: a count that includes hidden
memories would reveal that they exist."""

from collections.abc import Sequence

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import MemoryId
from recollect.memories.model import MemoryFilter
from recollect.memories.store.bundle import MemoryStores
from recollect.people.merge import PersonMerge
from recollect.visibility.viewer import Viewer
from recollect.visibility.viewers import ViewerFactory

_BATCH_SIZE = 500
_ANY = MemoryFilter()


class MergeCounter:
    """Counts inside the transaction of the merge, while the rows are where the merge put them."""

    def __init__(self, stores: MemoryStores, viewers: ViewerFactory) -> None:
        self._stores = stores
        self._viewers = viewers

    def count_visible(self, tx: Tx, requester: Requester, merge: PersonMerge) -> dict[str, int]:
        """How many rows of each kind the requester may see."""
        parts = self._stores.merges.load_impact(tx, requester, merge)
        viewer = self._viewers.viewer_for(tx, requester)
        # One memory may occur several times, as of its subjects and its edges: look each up once,
        # then count the occurrences.
        ids_to_count = sorted({id_ for ids in parts.memories.values() for id_ in ids})
        seen = self._visible_ids(tx, viewer, ids_to_count)
        related = {kind: sum(id_ in seen for id_ in ids) for kind, ids in parts.memories.items()}
        counts = related | dict(parts.others)
        return {kind: counts[kind] for kind in merge.counts}

    def _visible_ids(self, tx: Tx, viewer: Viewer, ids: Sequence[MemoryId]) -> set[MemoryId]:
        found: set[MemoryId] = set()
        for start in range(0, len(ids), _BATCH_SIZE):
            batch = ids[start : start + _BATCH_SIZE]
            found |= self._stores.memories.fetch_many_visible(tx, viewer, batch, _ANY).keys()
        return found
