"""Checks whose rule is one SQL query for the ids of broken rows, and the repair of those rows."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.doctor.checks.order import (
    ROWS_PER_PAGE,
    ROWS_PER_TRANSACTION,
    CheckTally,
    DoctorOrder,
)
from recollect.doctor.model import DoctorCheck
from recollect.doctor.store.bundle import DoctorStores

RepairIds = Callable[[Tx, DoctorOrder, Sequence[str]], int]
ConfirmIds = Callable[[Tx, DoctorOrder, Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class IdCheck:
    """A check by query. `repair` repairs ids that still break the rule and returns how many it
    repaired; without it the check only reports. `confirm` drops ids that the query finds and that a
    closer look, which SQL can't do, does not."""

    check: DoctorCheck
    repair: RepairIds | None = None
    confirm: ConfirmIds | None = None


class IdExaminer:
    """Runs checks by query, one after the other, in the order given."""

    def __init__(self, context: ServiceContext[DoctorStores], checks: Sequence[IdCheck]) -> None:
        self._database = context.database
        self._stores = context.stores
        self._checks = checks

    @property
    def checks(self) -> Collection[DoctorCheck]:
        return [one.check for one in self._checks]

    async def examine(self, order: DoctorOrder) -> list[CheckTally]:
        return [
            await self._run_check(one, order) for one in self._checks if one.check in order.checks
        ]

    async def _run_check(self, one: IdCheck, order: DoctorOrder) -> CheckTally:
        # The cursor is the last id that the query found, also if `confirm` dropped it or a repair
        # has removed it since: ids are only compared, so nothing is skipped or seen twice. That
        # the page was full is known from the query's ids as well, not from the confirmed ones.
        tally, after = CheckTally(one.check, one.repair is not None), ""
        while True:
            ids, wrong = await self._database.scan(self._page_finder(one, order, after))
            tally.add_ids(wrong)
            if order.repair and one.repair is not None:
                tally.repaired += await self._repair_in_batches(one, one.repair, order, wrong)
            if len(ids) < ROWS_PER_PAGE:
                return tally
            after = ids[-1]

    def _page_finder(
        self, one: IdCheck, order: DoctorOrder, after: str
    ) -> Callable[[Tx], tuple[Sequence[str], Sequence[str]]]:
        def work(tx: Tx) -> tuple[Sequence[str], Sequence[str]]:
            ids = self._stores.doctor.find_ids(
                tx, one.check, order.context, after=after, limit=ROWS_PER_PAGE
            )
            return ids, one.confirm(tx, order, ids) if one.confirm else ids

        return work

    async def _repair_in_batches(
        self, one: IdCheck, repair: RepairIds, order: DoctorOrder, wrong: Sequence[str]
    ) -> int:
        repaired = 0
        for at in range(0, len(wrong), ROWS_PER_TRANSACTION):
            batch = wrong[at : at + ROWS_PER_TRANSACTION]
            repaired += await self._database.write(self._batch_repairer(one, repair, order, batch))
        return repaired

    def _batch_repairer(
        self, one: IdCheck, repair: RepairIds, order: DoctorOrder, batch: Sequence[str]
    ) -> Callable[[Tx], int]:
        """The transaction that repairs a batch. The page was read in another transaction, so the
        rule is asked again: callers may have changed, removed or repaired rows in between."""

        def work(tx: Tx) -> int:
            still = self._stores.doctor.recheck_ids(tx, one.check, order.context, batch)
            return repair(tx, order, still) if still else 0

        return work
