"""Import of NDJSON lines, whether an export of this server or made by other software.

The service reads the lines as a stream and stores them in batches, one transaction a batch. A line
that is refused is reported by its number and does not stop the others. So a failed import may
leave earlier batches stored; running it again with mode `merge` skips what is there.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from recollect.audit.gate import AdminGate
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import RecollectError
from recollect.portability.import_memories import MemoryImporter
from recollect.portability.import_model import (
    ImportLine,
    ImportMode,
    ImportOrder,
    ImportOutcome,
    ImportTally,
    LineGroup,
    RefusedLine,
)
from recollect.portability.import_others import OtherImporter
from recollect.portability.import_reader import LineReader
from recollect.portability.lines import MEMORY_PART_TYPES, LineType
from recollect.portability.store.bundle import PortabilityStores

LINES_PER_TRANSACTION = 200
BYTES_PER_TRANSACTION = 4 * 1024 * 1024
_OPERATION = "importMemories"


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The report of an import. `import_id` is None for a dry run: nothing carries it."""

    import_id: str | None
    tally: ImportTally


class ImportService:
    """Imports for anybody who may write the spaces that the lines name; an admin imports all."""

    def __init__(
        self,
        context: ServiceContext[PortabilityStores],
        audit: MemoryAudit,
        *,
        reader: LineReader,
        others: OtherImporter,
        memories: MemoryImporter,
        gate: AdminGate,
    ) -> None:
        self._database = context.database
        self._runtime = context.runtime
        self._audit = audit
        self._reader = reader
        self._others = others
        self._memories = memories
        self._gate = gate

    async def load(
        self,
        requester: Requester,
        lines: AsyncIterator[bytes],
        *,
        mode: ImportMode,
        dry_run: bool,
        justification: str | None,
    ) -> ImportResult:
        """Store the lines, or with `dry_run` only report what would be stored.

        Refused lines are in the report, by line number. Raises only for the call as a whole: the
        gate of admins, and errors of reading `lines` (such as a body that is too large). Blank
        lines are skipped, but keep their place in the numbering.
        """
        await self._gate.admit(requester, _OPERATION, justification)
        order = ImportOrder(
            self._runtime.ids.new(), requester, mode, dry_run, self._runtime.clock.now()
        )
        tally = ImportTally()
        async for batch in self._read_batches(lines, tally):
            tally.add(await self._store_batch(order, batch))
        # Lines are refused in three places (parsing, screening, storing), hence out of order.
        tally.refused.sort(key=lambda one: one.line)
        if not dry_run:
            await self._database.write(
                lambda tx: self._record_event(tx, order, tally, justification)
            )
        return ImportResult(None if dry_run else order.id, tally)

    async def _read_batches(
        self, lines: AsyncIterator[bytes], tally: ImportTally
    ) -> AsyncIterator[list[list[ImportLine]]]:
        """Batches of groups. A group is one line, or a memory with its parts behind it.

        A batch is closed only where a new group begins. A memory and its versions, relations and
        approvals are therefore always stored in one transaction, even where that makes the batch
        larger than its limits. A part belongs to the group only if it follows its memory directly
        and names it; anything else becomes a group of its own, which screening refuses as stray.
        That also holds for the parts of a memory whose own line could not be parsed.
        """
        groups: list[list[ImportLine]] = []
        number = count = size = 0
        async for raw in lines:
            number += 1
            if not raw.strip():
                continue
            tally.read += 1
            line = self._reader.read(number, raw)
            if isinstance(line, RefusedLine):
                tally.refused.append(line)
            elif groups and _is_part_of(line, groups[-1][0]):
                groups[-1].append(line)
            else:
                if count >= LINES_PER_TRANSACTION or size >= BYTES_PER_TRANSACTION:
                    yield groups
                    groups, count, size = [], 0, 0
                groups.append([line])
            count, size = count + 1, size + len(raw)
        if groups:
            yield groups

    async def _store_batch(
        self, order: ImportOrder, groups: Sequence[Sequence[ImportLine]]
    ) -> ImportTally:
        # Screening needs no stored data and takes long, so it runs on a thread, before and outside
        # of the transaction. What it refuses is only recorded inside, with the rest of the batch.
        tally = ImportTally()
        looked = await asyncio.to_thread(self._screen_groups, groups)
        tally.refused += [refused for _, several in looked for refused in several]
        whole = [group for group, _ in looked if group is not None]
        refusals = [refused.error for refused in tally.refused]
        run = self._database.scan if order.dry_run else self._database.write
        tally.add(await run(self._batch_writer(order, whole, refusals)))
        return tally

    def _screen_groups(
        self, groups: Sequence[Sequence[ImportLine]]
    ) -> list[tuple[LineGroup | None, list[RefusedLine]]]:
        return [self._reader.screen_group(lines) for lines in groups]

    def _batch_writer(
        self, order: ImportOrder, groups: Sequence[LineGroup], refusals: Sequence[RecollectError]
    ) -> Callable[[Tx], ImportTally]:
        """The transaction of one batch. `refusals` are errors of lines that were refused before it.

        A refused group must leave no rows behind, and there is no savepoint around it. It works
        because both importers make every check that can refuse before their first write. A write
        transaction may run several times (see `Database.write`), so `work` builds its tally anew
        each time. A dry run does change `order.foreseen`, but runs as a scan, which is not retried.
        """

        def work(tx: Tx) -> ImportTally:
            tally, errors = ImportTally(), [*refusals]
            for group in groups:
                try:
                    part = self._import_group(tx, order, group)
                    tally.add(part)
                    errors += [refused.error for refused in part.refused]
                except RecollectError as error:
                    lines = (group.head, *group.behind)
                    tally.refused += [RefusedLine.from_error(line.number, error) for line in lines]
                    errors.append(error)
            if not order.dry_run:
                for refusal in errors:
                    self._audit.insert_refusal(tx, order.requester, _OPERATION, refusal)
            return tally

        return work

    def _import_group(self, tx: Tx, order: ImportOrder, group: LineGroup) -> ImportTally:
        if group.head.type is LineType.MEMORY and group.head.findings is not None:
            return self._memories.import_group(tx, order, group, group.head.findings)
        return ImportTally(outcomes=Counter({self._others.import_line(tx, order, group.head): 1}))

    def _record_event(
        self, tx: Tx, order: ImportOrder, tally: ImportTally, justification: str | None
    ) -> None:
        counts = {str(outcome): tally.outcomes[outcome] for outcome in ImportOutcome}
        counts |= {"read": tally.read, "refused": len(tally.refused)}
        self._audit.record(
            tx,
            order.requester,
            "import.done",
            payload={
                "import_id": order.id,
                "mode": str(order.mode),
                "counts": counts,
                "refused": dict(Counter(one.code for one in tally.refused)),
            },
            count=tally.outcomes[ImportOutcome.CREATED] + tally.outcomes[ImportOutcome.UPDATED],
            justification=justification,
        )


def _is_part_of(line: ImportLine, head: ImportLine) -> bool:
    """Whether the line is a version, relation or approval of the memory in `head`."""
    behind = line.type in MEMORY_PART_TYPES and head.type is LineType.MEMORY
    return behind and line.values["memory_id"] == head.values["id"]
