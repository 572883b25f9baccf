"""Import of NDJSON lines, whether an export of this server or made by other software.

The service reads the lines as a stream and stores them in batches, one transaction a batch. A line
that is refused is reported by its number and does not stop the others. So a failed import may
leave earlier batches stored; running it again with mode `merge` skips what is there.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from recollect.domain.portable import OF_MEMORY, LineType
from recollect.errors import RecollectError
from recollect.policy.requesters import Requester
from recollect.ports.database import Database, Tx
from recollect.ports.runtime import Runtime
from recollect.services.admin_gate import AdminGate
from recollect.services.import_memories import MemoryImports
from recollect.services.import_orders import (
    Group,
    ImportMode,
    ImportOrder,
    Line,
    Outcome,
    Refused,
    Tally,
)
from recollect.services.import_others import OtherImports
from recollect.services.import_reading import LineReader
from recollect.services.memory_audit import MemoryAudit

LINES_PER_TRANSACTION = 200
BYTES_PER_TRANSACTION = 4 * 1024 * 1024
_OPERATION = "importMemories"


@dataclass(frozen=True, slots=True)
class Imported:
    """The report of an import. `import_id` is None for a dry run: nothing carries it."""

    import_id: str | None
    tally: Tally


@dataclass(frozen=True, slots=True)
class ImportParts:
    """The collaborators of ImportService."""

    reader: LineReader
    others: OtherImports
    memories: MemoryImports


class ImportService:
    """Imports for anybody who may write the spaces that the lines name; an admin imports all."""

    def __init__(
        self,
        database: Database,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        parts: ImportParts,
        gate: AdminGate,
    ) -> None:
        self._database = database
        self._runtime = runtime
        self._audit = audit
        self._parts = parts
        self._gate = gate

    async def load(
        self,
        requester: Requester,
        lines: AsyncIterator[bytes],
        *,
        mode: ImportMode,
        dry_run: bool,
        justification: str | None,
    ) -> Imported:
        """Store the lines, or with `dry_run` only report what would be stored.

        Refused lines are in the report, by line number. Raises only for the call as a whole: the
        gate of admins, and errors of reading `lines` (such as a body that is too large). Blank
        lines are skipped, but keep their place in the numbering.
        """
        await self._gate.admit(requester, _OPERATION, justification)
        order = ImportOrder(
            self._runtime.ids.new(), requester, mode, dry_run, self._runtime.clock.now()
        )
        tally = Tally()
        async for batch in self._batches(lines, tally):
            tally.add(await self._store(order, batch))
        # Lines are refused in three places (parsing, screening, storing), hence out of order.
        tally.refused.sort(key=lambda one: one.line)
        if not dry_run:
            await self._database.write(lambda tx: self._tell(tx, order, tally, justification))
        return Imported(None if dry_run else order.id, tally)

    async def _batches(
        self, lines: AsyncIterator[bytes], tally: Tally
    ) -> AsyncIterator[list[list[Line]]]:
        """Batches of groups. A group is one line, or a memory with its parts behind it.

        A batch is closed only where a new group begins. A memory and its versions, relations and
        approvals are therefore always stored in one transaction, even where that makes the batch
        larger than its limits. A part belongs to the group only if it follows its memory directly
        and names it; anything else becomes a group of its own, which screening refuses as stray.
        That also holds for the parts of a memory whose own line could not be parsed.
        """
        groups: list[list[Line]] = []
        number = count = size = 0
        async for raw in lines:
            number += 1
            if not raw.strip():
                continue
            tally.read += 1
            line = self._parts.reader.read(number, raw)
            if isinstance(line, Refused):
                tally.refused.append(line)
            elif groups and _belongs(line, groups[-1][0]):
                groups[-1].append(line)
            else:
                if count >= LINES_PER_TRANSACTION or size >= BYTES_PER_TRANSACTION:
                    yield groups
                    groups, count, size = [], 0, 0
                groups.append([line])
            count, size = count + 1, size + len(raw)
        if groups:
            yield groups

    async def _store(self, order: ImportOrder, groups: Sequence[Sequence[Line]]) -> Tally:
        # Screening needs no stored data and takes long, so it runs on a thread, before and outside
        # of the transaction. What it refuses is only recorded inside, with the rest of the batch.
        tally = Tally()
        looked = await asyncio.to_thread(self._look, groups)
        tally.refused += [refused for _, several in looked for refused in several]
        whole = [group for group, _ in looked if group is not None]
        told = [refused.error for refused in tally.refused]
        run = self._database.scan if order.dry_run else self._database.write
        tally.add(await run(self._storing(order, whole, told)))
        return tally

    def _look(self, groups: Sequence[Sequence[Line]]) -> list[tuple[Group | None, list[Refused]]]:
        return [self._parts.reader.look(lines) for lines in groups]

    def _storing(
        self, order: ImportOrder, groups: Sequence[Group], told: Sequence[RecollectError]
    ) -> Callable[[Tx], Tally]:
        """The transaction of one batch. `told` are errors of lines that were refused before it.

        A refused group must leave no rows behind, and there is no savepoint around it. It works
        because both importers make every check that can refuse before their first write. A write
        transaction may run several times (see `Database.write`), so `work` builds its tally anew
        each time. A dry run does change `order.foreseen`, but runs as a scan, which is not retried.
        """

        def work(tx: Tx) -> Tally:
            tally, errors = Tally(), [*told]
            for group in groups:
                try:
                    part = self._put(tx, order, group)
                    tally.add(part)
                    errors += [refused.error for refused in part.refused]
                except RecollectError as error:
                    lines = (group.head, *group.behind)
                    tally.refused += [Refused.of(line.number, error) for line in lines]
                    errors.append(error)
            if not order.dry_run:
                for refusal in errors:
                    self._audit.note_refusal(tx, order.requester, _OPERATION, refusal)
            return tally

        return work

    def _put(self, tx: Tx, order: ImportOrder, group: Group) -> Tally:
        if group.head.type is LineType.MEMORY and group.head.findings is not None:
            return self._parts.memories.put(tx, order, group, group.head.findings)
        return Tally(outcomes=Counter({self._parts.others.put(tx, order, group.head): 1}))

    def _tell(self, tx: Tx, order: ImportOrder, tally: Tally, justification: str | None) -> None:
        counts = {str(outcome): tally.outcomes[outcome] for outcome in Outcome}
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
            count=tally.outcomes[Outcome.CREATED] + tally.outcomes[Outcome.UPDATED],
            justification=justification,
        )


def _belongs(line: Line, head: Line) -> bool:
    """Whether the line is a version, relation or approval of the memory in `head`."""
    behind = line.type in OF_MEMORY and head.type is LineType.MEMORY
    return behind and line.values["memory_id"] == head.values["id"]
