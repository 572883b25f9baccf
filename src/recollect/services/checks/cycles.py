"""The check for cycles: no memory supersedes itself, over however many steps."""

from collections.abc import Callable, Collection
from dataclasses import replace

from recollect.domain.doctor import Check, SupersessionLink, links_to_cut
from recollect.domain.memories import Status
from recollect.ports.database import Database, Tx
from recollect.ports.memories import Stored
from recollect.ports.stores import Stores
from recollect.services.checks.mending import Mender
from recollect.services.checks.order import ROWS_PER_PAGE, Order, Tally


class SupersessionCycles:
    """Loads all `supersedes` links into memory, because a cycle may go through any of them, and
    cuts the newest link of each cycle."""

    def __init__(self, database: Database, stores: Stores, mender: Mender) -> None:
        self._database = database
        self._stores = stores
        self._mender = mender

    @property
    def checks(self) -> Collection[Check]:
        return [Check.SUPERSESSION_CYCLES]

    async def examine(self, order: Order) -> list[Tally]:
        if Check.SUPERSESSION_CYCLES not in order.checks:
            return []
        tally = Tally(Check.SUPERSESSION_CYCLES, repairable=True)
        for link in links_to_cut(await self._links()):
            tally.note([link.predecessor])
            if order.repair:
                tally.repaired += await self._database.write(self._cutting(order, link))
        return [tally]

    async def _links(self) -> list[SupersessionLink]:
        links: list[SupersessionLink] = []
        while True:
            after = (links[-1].successor, links[-1].predecessor) if links else None
            page = await self._database.scan(self._paging(after))
            links += page
            if len(page) < ROWS_PER_PAGE:
                return links

    def _paging(self, after: tuple[str, str] | None) -> Callable[[Tx], list[SupersessionLink]]:
        return lambda tx: self._stores.doctor.links(tx, after=after, limit=ROWS_PER_PAGE)

    def _cutting(self, order: Order, link: SupersessionLink) -> Callable[[Tx], bool]:
        """The transaction that deletes a link and makes the memory that it had superseded active
        again. If the link is gone already somebody else has repaired it."""

        def work(tx: Tx) -> bool:
            if not self._stores.doctor.cut(tx, link):
                return False
            for stored in self._mender.hold(tx, [link.predecessor]):
                self._restore(tx, order, stored, link)
            return True

        return work

    def _restore(self, tx: Tx, order: Order, stored: Stored, link: SupersessionLink) -> None:
        # Only if it is this link that took the memory out of answers: it may have another
        # successor, or have been archived or quarantined since.
        memory = stored.memory
        if memory.status is not Status.SUPERSEDED or memory.superseded_by != link.successor:
            return
        after = replace(memory, status=Status.ACTIVE, superseded_by=None, retracted_at=None)
        fields = ["retracted_at", "status", "superseded_by"]
        self._mender.change(tx, order, stored, after, fields=fields)
