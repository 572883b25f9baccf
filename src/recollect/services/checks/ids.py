"""Checks whose rule is a statement: ids of what breaks it, page by page, and what mends them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from recollect.domain.doctor import Check
from recollect.ports.database import Database, Tx
from recollect.ports.stores import Stores
from recollect.services.checks.order import ROWS_PER_PAGE, ROWS_PER_TRANSACTION, Order, Tally

Mend = Callable[[Tx, Order, Sequence[str]], int]
Confirm = Callable[[Tx, Order, Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class IdCheck:
    """A check by ids. `mend` gets ids that still break the rule and says how many no longer do;
    without it the check only reports. `confirm` leaves out what the statement can't tell."""

    check: Check
    mend: Mend | None = None
    confirm: Confirm | None = None


class IdChecks:
    """Examines them one after the other, in the order given."""

    def __init__(self, database: Database, stores: Stores, checks: Sequence[IdCheck]) -> None:
        self._database = database
        self._stores = stores
        self._checks = checks

    @property
    def checks(self) -> Collection[Check]:
        return [one.check for one in self._checks]

    async def examine(self, order: Order) -> list[Tally]:
        return [
            await self._examine(one, order) for one in self._checks if one.check in order.checks
        ]

    async def _examine(self, one: IdCheck, order: Order) -> Tally:
        tally, after = Tally(one.check, one.mend is not None), ""
        while True:
            ids, wrong = await self._database.scan(self._finding(one, order, after))
            tally.note(wrong)
            if order.repair and one.mend is not None:
                tally.repaired += await self._mend(one, one.mend, order, wrong)
            if len(ids) < ROWS_PER_PAGE:
                return tally
            after = ids[-1]

    def _finding(
        self, one: IdCheck, order: Order, after: str
    ) -> Callable[[Tx], tuple[Sequence[str], Sequence[str]]]:
        def work(tx: Tx) -> tuple[Sequence[str], Sequence[str]]:
            ids = self._stores.doctor.ids(
                tx, one.check, order.looking, after=after, limit=ROWS_PER_PAGE
            )
            return ids, one.confirm(tx, order, ids) if one.confirm else ids

        return work

    async def _mend(self, one: IdCheck, mend: Mend, order: Order, wrong: Sequence[str]) -> int:
        mended = 0
        for at in range(0, len(wrong), ROWS_PER_TRANSACTION):
            batch = wrong[at : at + ROWS_PER_TRANSACTION]
            mended += await self._database.write(self._mending(one, mend, order, batch))
        return mended

    def _mending(
        self, one: IdCheck, mend: Mend, order: Order, batch: Sequence[str]
    ) -> Callable[[Tx], int]:
        """The rule is asked again: somebody may have mended it meanwhile."""

        def work(tx: Tx) -> int:
            still = self._stores.doctor.still(tx, one.check, order.looking, batch)
            return mend(tx, order, still) if still else 0

        return work
