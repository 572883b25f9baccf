"""The check for cycles: no memory supersedes itself, over however many steps."""

from collections.abc import Callable, Collection
from dataclasses import replace

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.doctor.checks.order import ROWS_PER_PAGE, CheckTally, DoctorOrder
from recollect.doctor.model import DoctorCheck, SupersessionLink, links_to_cut
from recollect.doctor.repair import MemoryRepairer
from recollect.doctor.store.bundle import DoctorStores
from recollect.memories.model import MemoryStatus, StoredMemory


class CycleExaminer:
    """Loads all `supersedes` links into memory, because a cycle may go through any of them, and
    cuts the newest link of each cycle."""

    def __init__(self, context: ServiceContext[DoctorStores], repairer: MemoryRepairer) -> None:
        self._database = context.database
        self._stores = context.stores
        self._repairer = repairer

    @property
    def checks(self) -> Collection[DoctorCheck]:
        return [DoctorCheck.SUPERSESSION_CYCLES]

    async def examine(self, order: DoctorOrder) -> list[CheckTally]:
        if DoctorCheck.SUPERSESSION_CYCLES not in order.checks:
            return []
        tally = CheckTally(DoctorCheck.SUPERSESSION_CYCLES, repairable=True)
        for link in links_to_cut(await self._fetch_links()):
            tally.add_ids([link.predecessor])
            if order.repair:
                tally.repaired += await self._database.write(self._link_cutter(order, link))
        return [tally]

    async def _fetch_links(self) -> list[SupersessionLink]:
        links: list[SupersessionLink] = []
        while True:
            after = (links[-1].successor, links[-1].predecessor) if links else None
            page = await self._database.scan(self._page_reader(after))
            links += page
            if len(page) < ROWS_PER_PAGE:
                return links

    def _page_reader(self, after: tuple[str, str] | None) -> Callable[[Tx], list[SupersessionLink]]:
        return lambda tx: self._stores.doctor.supersession_links(
            tx, after=after, limit=ROWS_PER_PAGE
        )

    def _link_cutter(self, order: DoctorOrder, link: SupersessionLink) -> Callable[[Tx], bool]:
        """The transaction that deletes a link and makes the memory that it had superseded active
        again. If the link is gone already somebody else has repaired it."""

        def work(tx: Tx) -> bool:
            if not self._stores.doctor.delete_link(tx, link):
                return False
            for stored in self._repairer.lock_rows(tx, [link.predecessor]):
                self._restore_memory(tx, order, stored, link)
            return True

        return work

    def _restore_memory(
        self, tx: Tx, order: DoctorOrder, stored: StoredMemory, link: SupersessionLink
    ) -> None:
        # Only if it is this link that took the memory out of answers: it may have another
        # successor, or have been archived or quarantined since.
        memory = stored.memory
        if memory.status is not MemoryStatus.SUPERSEDED or memory.superseded_by != link.successor:
            return
        after = replace(memory, status=MemoryStatus.ACTIVE, superseded_by=None, retracted_at=None)
        fields = ["retracted_at", "status", "superseded_by"]
        self._repairer.update(tx, order, stored, after, fields=fields)
