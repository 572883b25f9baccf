"""The check for near duplicates: statements with similar vectors and equal details, of which one is
enough. Statements with equal texts are found without vectors, by `EqualTextCheck`."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from recollect.domain.doctor import Check
from recollect.domain.memories import MemoryId
from recollect.ports.database import Database, Tx
from recollect.ports.doctor import SpacePlace
from recollect.services.checks.nearness import Window, older_copies
from recollect.services.checks.order import ROWS_PER_PAGE, ROWS_PER_TRANSACTION, Order, Tally
from recollect.services.checks.repeats import EqualTexts, Folding, Repeat


class _Page(NamedTuple):
    window: Window
    last: SpacePlace | None
    found: list[Repeat]


class NearCopies:
    """Compares all vectors of this server's embedding model in one pass."""

    def __init__(self, database: Database, folding: Folding, equal: EqualTexts) -> None:
        self._database = database
        self._doctor = folding.stores.doctor
        self._folding = folding
        self._equal = equal

    @property
    def checks(self) -> Collection[Check]:
        return [Check.NEAR_DUPLICATES]

    async def examine(self, order: Order) -> list[Tally]:
        if Check.NEAR_DUPLICATES not in order.checks or not order.looking.model:
            return []
        tally = Tally(Check.NEAR_DUPLICATES, repairable=True)
        page = _Page(Window(), None, [])
        while True:
            page = await self._database.scan(self._looking(order, page))
            tally.note([one.repeat.memory.id for one in page.found])
            if order.repair:
                tally.repaired += await self._mend(order, page.found)
            if page.last is None:
                return [tally]

    def _looking(self, order: Order, before: _Page) -> Callable[[Tx], _Page]:
        least = self._folding.settings.duplicate_min

        def work(tx: Tx) -> _Page:
            rows = self._doctor.vectors(tx, order.looking, after=before.last, limit=ROWS_PER_PAGE)
            # Three stages, each more expensive: cosines of the page, then which of those are equal
            # texts, then the rules of repetition on the decrypted rows.
            window, near = older_copies(before.window, rows, least)
            equal = self._equal_among(tx, order, list(near))
            pairs = (
                self._folding.find(tx, id_, older)
                for id_, older in near.items()
                if id_ not in equal
            )
            last = rows[-1].place if len(rows) == ROWS_PER_PAGE else None
            return _Page(window, last, [one for one in pairs if one is not None])

        return work

    def _equal_among(self, tx: Tx, order: Order, ids: Sequence[MemoryId]) -> frozenset[str]:
        """The ids that `EqualTextCheck` reports: each duplicate is counted once."""
        if not ids:
            return frozenset()
        found = self._doctor.still(tx, Check.NEAR_DUPLICATES, order.looking, ids)
        return frozenset(self._equal.confirm(tx, order, found))

    async def _mend(self, order: Order, found: Sequence[Repeat]) -> int:
        mended = 0
        for at in range(0, len(found), ROWS_PER_TRANSACTION):
            batch = found[at : at + ROWS_PER_TRANSACTION]
            mended += await self._database.write(self._folding_all(order, batch))
        return mended

    def _folding_all(self, order: Order, batch: Sequence[Repeat]) -> Callable[[Tx], int]:
        return lambda tx: sum(self._fold(tx, order, one) for one in batch)

    def _fold(self, tx: Tx, order: Order, seen: Repeat) -> bool:
        """Fold one pair, judged again under locks. The cosine is that of the texts which were read
        with the vectors; if a text changed since, it says nothing and the pair is left alone."""
        older = {seen.kept.memory.id: seen.similarity or 0.0}
        held = self._folding.find(tx, seen.repeat.memory.id, older, lock=True)
        if held is None or _texts(held) != _texts(seen):
            return False
        self._folding.fold(tx, order, held)
        return True


def _texts(pair: Repeat) -> tuple[str, str]:
    return pair.kept.memory.content, pair.repeat.memory.content
