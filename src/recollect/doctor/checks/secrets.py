"""The check for secrets in texts that are not memories: names, claims, titles, metadata. It reports
the id of the agent, person, chat or run and repairs nothing."""

from collections.abc import Callable, Collection

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.doctor.checks.order import ROWS_PER_PAGE, CheckTally, DoctorOrder
from recollect.doctor.model import DoctorCheck
from recollect.doctor.rows import TextSource
from recollect.doctor.store.bundle import DoctorStores
from recollect.screening.secrets import find_secret_in

# Claims are tables of their own, but are reported by the id of their person, and each once.
_REPORTED_AS = dict.fromkeys(
    (TextSource.PERSON_VERSIONS, TextSource.ALIASES, TextSource.RELATIONSHIPS), TextSource.PEOPLE
)


class SecretExaminer:
    """Searches every text source, page by page."""

    def __init__(self, context: ServiceContext[DoctorStores]) -> None:
        self._database = context.database
        self._stores = context.stores

    @property
    def checks(self) -> Collection[DoctorCheck]:
        return [DoctorCheck.SECRETS]

    async def examine(self, order: DoctorOrder) -> list[CheckTally]:
        if DoctorCheck.SECRETS not in order.checks:
            return []
        hits: dict[tuple[TextSource, str], None] = {}
        for source in TextSource:
            for id_ in await self._find_secrets(source):
                hits[_REPORTED_AS.get(source, source), id_] = None
        tally = CheckTally(DoctorCheck.SECRETS, repairable=False)
        tally.add_ids([id_ for _, id_ in hits])
        return [tally]

    async def _find_secrets(self, source: TextSource) -> list[str]:
        found: list[str] = []
        after: str | None = ""
        while after is not None:
            ids, after = await self._database.scan(self._page_finder(source, after))
            found += ids
        return found

    def _page_finder(
        self, source: TextSource, after: str
    ) -> Callable[[Tx], tuple[list[str], str | None]]:
        def work(tx: Tx) -> tuple[list[str], str | None]:
            page = self._stores.doctor.texts_page(tx, source, after=after, limit=ROWS_PER_PAGE)
            ids = [one.id for one in page if any(find_secret_in(value, "") for value in one.values)]
            return ids, page[-1].place if len(page) == ROWS_PER_PAGE else None

        return work
