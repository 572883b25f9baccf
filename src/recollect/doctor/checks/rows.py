"""Checks of single memories that need their decrypted texts.

One pass reads and screens each row once for all of these checks. A row that is to be repaired is
read again under its lock, and checked again only if it changed since.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.doctor.checks.order import (
    CHARS_PER_TRANSACTION,
    ROWS_PER_PAGE,
    ROWS_PER_TRANSACTION,
    CheckTally,
    DoctorOrder,
)
from recollect.doctor.model import DoctorCheck
from recollect.doctor.repair import MemoryRepairer
from recollect.doctor.rows import VersionSnapshot
from recollect.doctor.store.bundle import DoctorStores
from recollect.memories.model import StoredMemory, is_expired
from recollect.memories.write.screen import (
    MemoryTexts,
    PersonalDataReport,
    ScreeningService,
)
from recollect.memories.write.sensitivity import SensitivityFloors


@dataclass(frozen=True)
class ExaminedMemory:
    """A memory with what checks look at. `terms` are its words in the search index, None if it has
    no index row; `earlier` are the snapshots of its versions, loaded only if a check needs them.

    Screening is slow, so its results are cached. Equality compares the loaded fields alone, hence
    two instances are equal as long as the row, its index and its history are unchanged.
    """

    stored: StoredMemory
    terms: str | None
    screening: ScreeningService
    earlier: Sequence[VersionSnapshot] = ()

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.stored.memory.id

    @cached_property
    def texts(self) -> MemoryTexts:
        """All texts of the memory."""
        return MemoryTexts.from_memory(self.stored.memory, self.stored.bare_names)

    @cached_property
    def earlier_texts(self) -> Sequence[MemoryTexts]:
        """All texts of each earlier version."""
        key = self.stored.memory.key
        return [MemoryTexts.from_version(kept.members, key) for kept in self.earlier]

    @property
    def chars(self) -> int:
        """About how much text there is to screen."""
        return sum(texts.char_count for texts in (self.texts, *self.earlier_texts))

    @cached_property
    def has_secret(self) -> bool:
        """Whether screening finds a secret in the memory or in an earlier version."""
        all_texts = (self.texts, *self.earlier_texts)
        return any(self.screening.find_first_secret(texts) is not None for texts in all_texts)

    @cached_property
    def floors(self) -> Sequence[SensitivityFloors]:
        """The lowest sensitivity of the memory, then of each earlier version, by their words."""
        return [self.screening.find_floors(one, ()) for one in (self.texts, *self.earlier_texts)]

    @cached_property
    def pii_tags(self) -> frozenset[str]:
        """The PII tags of the memory and its history, sent or found."""
        tags = {*self.stored.memory.pii_tags}
        for kept in self.earlier:
            tags |= {*kept.members["pii_tags"]}
        for seen in (self.personal_data, *self.earlier_personal_data):
            tags |= {*seen.pii, *seen.replaced}
        return frozenset(tags)

    @cached_property
    def personal_data(self) -> PersonalDataReport:
        """The personal data that screening finds in the memory."""
        return self.screening.find_personal(self.texts)

    @cached_property
    def earlier_personal_data(self) -> Sequence[PersonalDataReport]:
        """The personal data that screening finds in each earlier version."""
        return [self.screening.find_personal(texts) for texts in self.earlier_texts]


class RowCheck(Protocol):
    """One rule about single memories."""

    @property
    def check(self) -> DoctorCheck:
        """The check under which its findings are reported."""
        ...

    @property
    def repairable(self) -> bool:
        """Whether `repair` can do anything."""
        ...

    def is_broken(self, row: ExaminedMemory) -> bool:
        """Whether the row breaks the rule."""
        ...

    def repair(self, tx: Tx, order: DoctorOrder, row: ExaminedMemory) -> bool:
        """Change the locked row so that it keeps the rule; False if that can't be done."""
        ...


# Checks that look into histories too: an earlier version is readable like the present one.
_HISTORY_CHECKS = frozenset(
    {
        DoctorCheck.UNTAGGED_PII,
        DoctorCheck.CRITICAL_PII_IN_PUBLIC,
        DoctorCheck.OPEN_SPACE_CONTENT,
        DoctorCheck.SECRETS,
    }
)


class RowExaminer:
    """Runs the row checks in one pass over all memories, however many of them are ordered."""

    def __init__(
        self,
        context: ServiceContext[DoctorStores],
        screening: ScreeningService,
        repairer: MemoryRepairer,
        rules: Sequence[RowCheck],
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._screening = screening
        self._repairer = repairer
        self._rules = rules

    @property
    def checks(self) -> Collection[DoctorCheck]:
        return [rule.check for rule in self._rules]

    async def examine(self, order: DoctorOrder) -> list[CheckTally]:
        # Rules are repaired page by page in the order given. A repair may change a row that a later
        # rule of the same page found broken; `_batch_repairer` notices, because it compares.
        rules = [rule for rule in self._rules if rule.check in order.checks]
        tallies = [CheckTally(rule.check, rule.repairable) for rule in rules]
        after = 0
        while rules:
            last, broken = await self._database.scan(self._page_finder(rules, order, after))
            for rule, tally, rows in zip(rules, tallies, broken, strict=True):
                tally.add_ids([row.id for row in rows])
                if order.repair and rule.repairable:
                    tally.repaired += await self._repair_in_batches(rule, order, rows)
            if last is None:
                break
            after = last
        return tallies

    def _page_finder(
        self, rules: Sequence[RowCheck], order: DoctorOrder, after: int
    ) -> Callable[[Tx], tuple[int | None, list[list[ExaminedMemory]]]]:
        def work(tx: Tx) -> tuple[int | None, list[list[ExaminedMemory]]]:
            page = self._stores.doctor.page(tx, after_doc=after, limit=ROWS_PER_PAGE)
            broken: list[list[ExaminedMemory]] = [[] for _ in rules]
            # Histories may be long, so they are loaded for a few rows at a time.
            for start in range(0, len(page), ROWS_PER_TRANSACTION):
                rows = self._load_rows(tx, order, page[start : start + ROWS_PER_TRANSACTION])
                for rule, found in zip(rules, broken, strict=True):
                    found.extend(filter(rule.is_broken, rows))
            return page[-1].doc if len(page) == ROWS_PER_PAGE else None, broken

        return work

    def _load_rows(
        self, tx: Tx, order: DoctorOrder, page: Iterable[StoredMemory]
    ) -> list[ExaminedMemory]:
        """The rows with index words and, if needed, snapshots. Expired rows are left out: nobody
        can read them, and the next cleanup deletes them. So are unreadable ones, which are counted
        with the keys: without its text a row can't be judged, let alone repaired."""
        rows = [
            row
            for row in page
            if not row.unreadable and not is_expired(order.context.now, row.memory.expires_at)
        ]
        words = self._stores.memory_search.words(tx, [row.doc for row in rows])
        terms = {word.doc: word.terms for word in words}
        earlier = self._load_snapshots(tx, order, rows)
        return [
            ExaminedMemory(row, terms.get(row.doc), self._screening, earlier.get(row.memory.id, ()))
            for row in rows
        ]

    def _load_snapshots(
        self, tx: Tx, order: DoctorOrder, rows: Iterable[StoredMemory]
    ) -> Mapping[str, Sequence[VersionSnapshot]]:
        changed = [row.memory.id for row in rows if row.memory.version > 1]
        if not changed or _HISTORY_CHECKS.isdisjoint(order.checks):
            return {}
        return self._stores.doctor.version_snapshots(tx, changed)

    async def _repair_in_batches(
        self, rule: RowCheck, order: DoctorOrder, rows: Sequence[ExaminedMemory]
    ) -> int:
        repaired = 0
        for batch in _split_batches(rows):
            repaired += await self._database.write(self._batch_repairer(rule, order, batch))
        return repaired

    def _batch_repairer(
        self, rule: RowCheck, order: DoctorOrder, seen: Sequence[ExaminedMemory]
    ) -> Callable[[Tx], int]:
        """The transaction that repairs a batch of rows that broke `rule` when they were read.

        The rows are locked and read again. A row that is equal to what was read keeps its verdict
        and its cached screening: long texts must not be screened while locks are held. Only a row
        that changed in between is checked once more, and repaired if it still breaks the rule. Rows
        that are gone, expired or being erased don't come back from the locked read.
        """
        known = {row.id: row for row in seen}

        def work(tx: Tx) -> int:
            locked = self._load_rows(tx, order, self._repairer.lock_rows(tx, list(known)))
            same = [known[row.id] for row in locked if row == known[row.id]]
            fresh = [row for row in locked if row != known[row.id] and rule.is_broken(row)]
            return sum(rule.repair(tx, order, row) for row in (*same, *fresh))

        return work


def _split_batches(rows: Sequence[ExaminedMemory]) -> Iterator[Sequence[ExaminedMemory]]:
    """Batches that are small in rows and in text, so that a repair holds its locks briefly."""
    batch: list[ExaminedMemory] = []
    for row in rows:
        batch.append(row)
        chars = sum(one.chars for one in batch)
        if len(batch) == ROWS_PER_TRANSACTION or chars >= CHARS_PER_TRANSACTION:
            yield batch
            batch = []
    if batch:
        yield batch
