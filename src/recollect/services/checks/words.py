"""The check for secrets in texts that are not memories: names, claims, titles, metadata. It reports
the id of the agent, person, chat or run and repairs nothing."""

from collections.abc import Callable, Collection, Sequence

from recollect.domain.doctor import Check
from recollect.domain.secrets import find_secret_in
from recollect.ports.database import Database, Tx
from recollect.ports.doctor import Shelf, Written
from recollect.ports.stores import Stores
from recollect.services.checks.order import ROWS_PER_PAGE, Order, Tally

# Claims are tables of their own, but are reported by the id of their person, and each once.
_TOLD_AS = {Shelf.ALIASES: Shelf.PEOPLE, Shelf.RELATIONSHIPS: Shelf.PEOPLE}


class SecretWords:
    """Searches every text source, page by page."""

    def __init__(self, database: Database, stores: Stores) -> None:
        self._database = database
        self._stores = stores

    @property
    def checks(self) -> Collection[Check]:
        return [Check.SECRETS]

    async def examine(self, order: Order) -> list[Tally]:
        if Check.SECRETS not in order.checks:
            return []
        told: dict[tuple[Shelf, str], None] = {}
        for shelf in Shelf:
            for id_ in await self._found_on(shelf):
                told[_TOLD_AS.get(shelf, shelf), id_] = None
        tally = Tally(Check.SECRETS, repairable=False)
        tally.note([id_ for _, id_ in told])
        return [tally]

    async def _found_on(self, shelf: Shelf) -> list[str]:
        found: list[str] = []
        after: str | None = ""
        while after is not None:
            ids, after = await self._database.scan(self._looking(shelf, after))
            found += ids
        return found

    def _looking(self, shelf: Shelf, after: str) -> Callable[[Tx], tuple[list[str], str | None]]:
        def work(tx: Tx) -> tuple[list[str], str | None]:
            page = self._stores.doctor.written(tx, shelf, after=after, limit=ROWS_PER_PAGE)
            return _ids(page), page[-1].place if len(page) == ROWS_PER_PAGE else None

        return work


def _ids(page: Sequence[Written]) -> list[str]:
    return [one.id for one in page if any(find_secret_in(value, "") for value in one.values)]
