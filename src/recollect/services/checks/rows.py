"""Checks of single memories with their texts. Each row is read and looked at once for all of them;
a row that is to be mended is read again under its lock, and judged again."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from recollect.domain.doctor import Check
from recollect.domain.expiry import is_due
from recollect.ports.database import Database, Tx
from recollect.ports.memories import Stored
from recollect.ports.stores import Stores
from recollect.services.checks.mending import Mender
from recollect.services.checks.order import ROWS_PER_PAGE, ROWS_PER_TRANSACTION, Order, Tally
from recollect.services.screening import Findings, Screening, Texts


@dataclass(frozen=True)
class Examined:
    """A memory under the eyes of the doctor. `terms` are its words in the index, None if it has
    none there."""

    stored: Stored
    terms: str | None
    screening: Screening

    @cached_property
    def findings(self) -> Findings:
        """What screening sees in its texts today."""
        memory = self.stored.memory
        return self.screening.look(
            Texts(
                content=memory.content,
                key=memory.key,
                value=memory.value,
                messages=memory.messages,
                metadata=memory.metadata,
                tags=memory.tags,
                names=self.stored.bare_names,
            )
        )


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
            for rule, tally, ids in zip(rules, tallies, broken, strict=True):
                tally.note(ids)
                if order.repair and rule.repairable:
                    tally.repaired += await self._mend(rule, order, ids)
            if last is None:
                break
            after = last
        return tallies

    def _finding(
        self, rules: Sequence[RowCheck], order: Order, after: int
    ) -> Callable[[Tx], tuple[int | None, list[list[str]]]]:
        def work(tx: Tx) -> tuple[int | None, list[list[str]]]:
            page = self._stores.doctor.page(tx, after_doc=after, limit=ROWS_PER_PAGE)
            rows = self._examined(tx, order, page)
            broken = [
                [row.stored.memory.id for row in rows if rule.is_broken(row)] for rule in rules
            ]
            # Ids are of a type of their own; a report has texts.
            return page[-1].doc if len(page) == ROWS_PER_PAGE else None, [
                [str(id_) for id_ in ids] for ids in broken
            ]

        return work

    def _examined(self, tx: Tx, order: Order, page: Iterable[Stored]) -> list[Examined]:
        """Without what is due: nobody is shown that, and soon it is gone."""
        rows = [row for row in page if not is_due(order.looking.now, row.memory.expires_at)]
        words = self._stores.memory_search.words(tx, [row.doc for row in rows])
        terms = {word.doc: word.terms for word in words}
        return [Examined(row, terms.get(row.doc), self._screening) for row in rows]

    async def _mend(self, rule: RowCheck, order: Order, ids: Sequence[str]) -> int:
        mended = 0
        for at in range(0, len(ids), ROWS_PER_TRANSACTION):
            batch = ids[at : at + ROWS_PER_TRANSACTION]
            mended += await self._database.write(self._mending(rule, order, batch))
        return mended

    def _mending(self, rule: RowCheck, order: Order, ids: Sequence[str]) -> Callable[[Tx], int]:
        def work(tx: Tx) -> int:
            rows = self._examined(tx, order, self._mender.hold(tx, ids))
            return sum(rule.mend(tx, order, row) for row in rows if rule.is_broken(row))

        return work
