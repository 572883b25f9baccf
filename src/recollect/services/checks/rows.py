"""Checks of single memories with their texts. Each row is read and looked at once for all of them;
a row that is to be mended is read again under its lock, and judged again if it changed."""

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
    """A memory under the eyes of the doctor. `terms` are its words in the index, None if it has
    none there; `earlier` is what its earlier versions kept, where a check asks for that."""

    stored: Stored
    terms: str | None
    screening: Screening
    earlier: Sequence[Kept] = ()

    @property
    def id(self) -> str:
        """Of the memory."""
        return self.stored.memory.id

    @cached_property
    def texts(self) -> Texts:
        """What its writer wrote."""
        return Texts.of_memory(self.stored.memory, self.stored.bare_names)

    @cached_property
    def said_before(self) -> Sequence[Texts]:
        """The same of each earlier version."""
        key = self.stored.memory.key
        return [Texts.of_version(kept.members, key) for kept in self.earlier]

    @property
    def chars(self) -> int:
        """Roughly how much there is to look at."""
        return sum(texts.chars for texts in (self.texts, *self.said_before))

    @cached_property
    def has_secret(self) -> bool:
        """Does screening see a secret in it today, or in what it said before?"""
        told = (self.texts, *self.said_before)
        return any(self.screening.secret(texts) is not None for texts in told)

    @cached_property
    def personal(self) -> Personal:
        """What screening sees in it of personal data."""
        return self.screening.personal(self.texts)

    @cached_property
    def personal_before(self) -> Sequence[Personal]:
        """What it sees of that in each earlier version."""
        return [self.screening.personal(texts) for texts in self.said_before]


class RowCheck(Protocol):
    """One rule about single memories."""

    @property
    def check(self) -> Check:
        """Its name."""
        ...

    @property
    def repairable(self) -> bool:
        """Can it mend?"""
        ...

    def is_broken(self, row: Examined) -> bool:
        """Does the row break the rule?"""
        ...

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Make the held row keep it; False if that can't be done."""
        ...


# What is in an earlier version is stored like what is in the present one.
_OF_HISTORIES = frozenset({Check.UNTAGGED_PII, Check.CRITICAL_PII_IN_PUBLIC, Check.SECRETS})


class RowChecks:
    """One walk over all memories, however many checks were ordered."""

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
            # Histories may be long: few are in memory at a time.
            for start in range(0, len(page), ROWS_PER_TRANSACTION):
                rows = self._examined(tx, order, page[start : start + ROWS_PER_TRANSACTION])
                for rule, found in zip(rules, broken, strict=True):
                    found.extend(filter(rule.is_broken, rows))
            return page[-1].doc if len(page) == ROWS_PER_PAGE else None, broken

        return work

    def _examined(self, tx: Tx, order: Order, page: Iterable[Stored]) -> list[Examined]:
        """Without what is due: nobody is shown that, and soon it is gone."""
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
        """A row that is as it was seen is not looked through again: texts may be long."""
        known = {row.id: row for row in seen}

        def work(tx: Tx) -> int:
            held = self._examined(tx, order, self._mender.hold(tx, list(known)))
            same = [known[row.id] for row in held if row == known[row.id]]
            fresh = [row for row in held if row != known[row.id] and rule.is_broken(row)]
            return sum(rule.mend(tx, order, row) for row in (*same, *fresh))

        return work


def _batches(rows: Sequence[Examined]) -> Iterator[Sequence[Examined]]:
    """Small enough not to hold others up, by number and by text."""
    batch: list[Examined] = []
    for row in rows:
        batch.append(row)
        chars = sum(one.chars for one in batch)
        if len(batch) == ROWS_PER_TRANSACTION or chars >= CHARS_PER_TRANSACTION:
            yield batch
            batch = []
    if batch:
        yield batch
