"""Checks of single memories that need their decrypted texts.

One pass reads and screens each row once for all of these checks. A row that is to be repaired is
read again under its lock, and checked again only if it changed since.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from recollect.domain.doctor import Check
from recollect.domain.expiry import is_due
from recollect.ports.database import Database, Tx
from recollect.ports.doctor import Kept
from recollect.ports.memories import Stored
from recollect.ports.stores import Stores
from recollect.services.checks.mending import Mender
from recollect.services.checks.order import (
    CHARS_PER_TRANSACTION,
    ROWS_PER_PAGE,
    ROWS_PER_TRANSACTION,
    Order,
    Tally,
)
from recollect.services.screening import Personal, Screening, Texts


@dataclass(frozen=True)
class Examined:
    """A memory with what checks look at. `terms` are its words in the search index, None if it has
    no index row; `earlier` are the snapshots of its versions, loaded only if a check needs them.

    Screening is slow, so its results are cached. Equality compares the loaded fields alone, hence
    two instances are equal as long as the row, its index and its history are unchanged.
    """

    stored: Stored
    terms: str | None
    screening: Screening
    earlier: Sequence[Kept] = ()

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.stored.memory.id

    @cached_property
    def texts(self) -> Texts:
        """All texts of the memory."""
        return Texts.of_memory(self.stored.memory, self.stored.bare_names)

    @cached_property
    def said_before(self) -> Sequence[Texts]:
        """All texts of each earlier version."""
        key = self.stored.memory.key
        return [Texts.of_version(kept.members, key) for kept in self.earlier]

    @property
    def chars(self) -> int:
        """About how much text there is to screen."""
        return sum(texts.chars for texts in (self.texts, *self.said_before))

    @cached_property
    def has_secret(self) -> bool:
        """Whether screening finds a secret in the memory or in an earlier version."""
        told = (self.texts, *self.said_before)
        return any(self.screening.secret(texts) is not None for texts in told)

    @cached_property
    def personal(self) -> Personal:
        """The personal data that screening finds in the memory."""
        return self.screening.personal(self.texts)

    @cached_property
    def personal_before(self) -> Sequence[Personal]:
        """The personal data that screening finds in each earlier version."""
        return [self.screening.personal(texts) for texts in self.said_before]


class RowCheck(Protocol):
    """One rule about single memories."""

    @property
    def check(self) -> Check:
        """The check under which its findings are reported."""
        ...

    @property
    def repairable(self) -> bool:
        """Whether `repair` can do anything."""
        ...

    def is_broken(self, row: Examined) -> bool:
        """Whether the row breaks the rule."""
        ...

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Change the locked row so that it keeps the rule; False if that can't be done."""
        ...


# Checks that look into histories too: an earlier version is readable like the present one.
_OF_HISTORIES = frozenset({Check.UNTAGGED_PII, Check.CRITICAL_PII_IN_PUBLIC, Check.SECRETS})


class RowChecks:
    """Runs the row checks in one pass over all memories, however many of them are ordered."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        screening: Screening,
        mender: Mender,
        rules: Sequence[RowCheck],
    ) -> None:
        self._database = database
        self._stores = stores
        self._screening = screening
        self._mender = mender
        self._rules = rules

    @property
    def checks(self) -> Collection[Check]:
        return [rule.check for rule in self._rules]

    async def examine(self, order: Order) -> list[Tally]:
        # Rules are repaired page by page in the order given. A repair may change a row that a later
        # rule of the same page found broken; `_batch_repairer` notices, because it compares.
        rules = [rule for rule in self._rules if rule.check in order.checks]
        tallies = [Tally(rule.check, rule.repairable) for rule in rules]
        after = 0
        while rules:
            last, broken = await self._database.scan(self._finding(rules, order, after))
            for rule, tally, rows in zip(rules, tallies, broken, strict=True):
                tally.note([row.id for row in rows])
                if order.repair and rule.repairable:
                    tally.repaired += await self._mend(rule, order, rows)
            if last is None:
                break
            after = last
        return tallies

    def _finding(
        self, rules: Sequence[RowCheck], order: Order, after: int
    ) -> Callable[[Tx], tuple[int | None, list[list[Examined]]]]:
        def work(tx: Tx) -> tuple[int | None, list[list[Examined]]]:
            page = self._stores.doctor.page(tx, after_doc=after, limit=ROWS_PER_PAGE)
            broken: list[list[Examined]] = [[] for _ in rules]
            # Histories may be long, so they are loaded for a few rows at a time.
            for start in range(0, len(page), ROWS_PER_TRANSACTION):
                rows = self._examined(tx, order, page[start : start + ROWS_PER_TRANSACTION])
                for rule, found in zip(rules, broken, strict=True):
                    found.extend(filter(rule.is_broken, rows))
            return page[-1].doc if len(page) == ROWS_PER_PAGE else None, broken

        return work

    def _examined(self, tx: Tx, order: Order, page: Iterable[Stored]) -> list[Examined]:
        """The rows with index words and, if needed, snapshots. Expired rows are left out: nobody
        can read them, and the next cleanup deletes them."""
        rows = [row for row in page if not is_due(order.looking.now, row.memory.expires_at)]
        words = self._stores.memory_search.words(tx, [row.doc for row in rows])
        terms = {word.doc: word.terms for word in words}
        earlier = self._earlier(tx, order, rows)
        return [
            Examined(row, terms.get(row.doc), self._screening, earlier.get(row.memory.id, ()))
            for row in rows
        ]

    def _earlier(
        self, tx: Tx, order: Order, rows: Iterable[Stored]
    ) -> Mapping[str, Sequence[Kept]]:
        changed = [row.memory.id for row in rows if row.memory.version > 1]
        if not changed or _OF_HISTORIES.isdisjoint(order.checks):
            return {}
        return self._stores.doctor.earlier(tx, changed)

    async def _mend(self, rule: RowCheck, order: Order, rows: Sequence[Examined]) -> int:
        mended = 0
        for batch in _batches(rows):
            mended += await self._database.write(self._mending(rule, order, batch))
        return mended

    def _mending(
        self, rule: RowCheck, order: Order, seen: Sequence[Examined]
    ) -> Callable[[Tx], int]:
        """The transaction that repairs a batch of rows that broke `rule` when they were read.

        The rows are locked and read again. A row that is equal to what was read keeps its verdict
        and its cached screening: long texts must not be screened while locks are held. Only a row
        that changed in between is checked once more, and repaired if it still breaks the rule. Rows
        that are gone, expired or being erased don't come back from the locked read.
        """
        known = {row.id: row for row in seen}

        def work(tx: Tx) -> int:
            held = self._examined(tx, order, self._mender.hold(tx, list(known)))
            same = [known[row.id] for row in held if row == known[row.id]]
            fresh = [row for row in held if row != known[row.id] and rule.is_broken(row)]
            return sum(rule.mend(tx, order, row) for row in (*same, *fresh))

        return work


def _batches(rows: Sequence[Examined]) -> Iterator[Sequence[Examined]]:
    """Batches that are small in rows and in text, so that a repair holds its locks briefly."""
    batch: list[Examined] = []
    for row in rows:
        batch.append(row)
        chars = sum(one.chars for one in batch)
        if len(batch) == ROWS_PER_TRANSACTION or chars >= CHARS_PER_TRANSACTION:
            yield batch
            batch = []
    if batch:
        yield batch
