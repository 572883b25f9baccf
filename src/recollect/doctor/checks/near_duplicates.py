"""The check for near duplicates: statements with similar vectors and equal details, of which one is
enough. Statements with equal texts are found without vectors, by `EqualTextCheck`."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from recollect.db.transaction import Database, Tx
from recollect.doctor.checks.duplicates import (
    DuplicateFolding,
    DuplicatePair,
    EqualTextCheck,
)
from recollect.doctor.checks.nearness import VectorWindow, find_older_duplicates
from recollect.doctor.checks.order import (
    ROWS_PER_PAGE,
    ROWS_PER_TRANSACTION,
    CheckTally,
    DoctorOrder,
)
from recollect.doctor.model import DoctorCheck
from recollect.doctor.rows import VectorCursor
from recollect.kernel.ids import MemoryId


class _VectorPage(NamedTuple):
    window: VectorWindow
    last: VectorCursor | None
    found: list[DuplicatePair]


class NearDuplicateExaminer:
    """Compares all vectors of this server's embedding model in one pass."""

    def __init__(
        self, database: Database, folding: DuplicateFolding, equal: EqualTextCheck
    ) -> None:
        self._database = database
        self._doctor = folding.stores.doctor
        self._folding = folding
        self._equal = equal

    @property
    def checks(self) -> Collection[DoctorCheck]:
        return [DoctorCheck.NEAR_DUPLICATES]

    async def examine(self, order: DoctorOrder) -> list[CheckTally]:
        if DoctorCheck.NEAR_DUPLICATES not in order.checks or not order.context.model:
            return []
        tally = CheckTally(DoctorCheck.NEAR_DUPLICATES, repairable=True)
        page = _VectorPage(VectorWindow(), None, [])
        while True:
            page = await self._database.scan(self._page_finder(order, page))
            tally.add_ids([one.repeat.memory.id for one in page.found])
            if order.repair:
                tally.repaired += await self._repair_in_batches(order, page.found)
            if page.last is None:
                return [tally]

    def _page_finder(self, order: DoctorOrder, before: _VectorPage) -> Callable[[Tx], _VectorPage]:
        least = self._folding.settings.duplicate_min

        def work(tx: Tx) -> _VectorPage:
            rows = self._doctor.vectors(tx, order.context, after=before.last, limit=ROWS_PER_PAGE)
            # Three stages, each more expensive: cosines of the page, then which of those are equal
            # texts, then the rules of repetition on the decrypted rows.
            window, near = find_older_duplicates(before.window, rows, least)
            equal = self._find_equal_texts(tx, order, list(near))
            pairs = (
                self._folding.find_pair(tx, id_, older)
                for id_, older in near.items()
                if id_ not in equal
            )
            last = rows[-1].place if len(rows) == ROWS_PER_PAGE else None
            return _VectorPage(window, last, [one for one in pairs if one is not None])

        return work

    def _find_equal_texts(
        self, tx: Tx, order: DoctorOrder, ids: Sequence[MemoryId]
    ) -> frozenset[str]:
        """The ids that `EqualTextCheck` reports: each duplicate is counted once."""
        if not ids:
            return frozenset()
        found = self._doctor.recheck_ids(tx, DoctorCheck.NEAR_DUPLICATES, order.context, ids)
        return frozenset(self._equal.confirm(tx, order, found))

    async def _repair_in_batches(self, order: DoctorOrder, found: Sequence[DuplicatePair]) -> int:
        repaired = 0
        for at in range(0, len(found), ROWS_PER_TRANSACTION):
            batch = found[at : at + ROWS_PER_TRANSACTION]
            repaired += await self._database.write(self._batch_repairer(order, batch))
        return repaired

    def _batch_repairer(
        self, order: DoctorOrder, batch: Sequence[DuplicatePair]
    ) -> Callable[[Tx], int]:
        return lambda tx: sum(self._fold_pair(tx, order, one) for one in batch)

    def _fold_pair(self, tx: Tx, order: DoctorOrder, seen: DuplicatePair) -> bool:
        """Fold one pair, judged again under locks. The cosine is that of the texts which were read
        with the vectors; if a text changed since, it says nothing and the pair is left alone."""
        older = {seen.kept.memory.id: seen.similarity or 0.0}
        locked = self._folding.find_pair(tx, seen.repeat.memory.id, older, lock=True)
        if locked is None or _pair_texts(locked) != _pair_texts(seen):
            return False
        self._folding.fold(tx, order, locked)
        return True


def _pair_texts(pair: DuplicatePair) -> tuple[str, str]:
    return pair.kept.memory.content, pair.repeat.memory.content
