"""Import: lines of an export, or of somebody else's making, read as they come and stored in
batches, each in a transaction of its own. A line that can't be stored doesn't stop the others."""

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
    """What became of an import; a dry run has no id."""

    import_id: str | None
    tally: Tally


@dataclass(frozen=True, slots=True)
class ImportParts:
    """What the service is made of."""

    reader: LineReader
    others: OtherImports
    memories: MemoryImports


class ImportService:
    """For writers of the spaces that the lines name; an admin imports all."""

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
        """Blank lines don't count."""
        await self._gate.admit(requester, _OPERATION, justification)
        order = ImportOrder(
            self._runtime.ids.new(), requester, mode, dry_run, self._runtime.clock.now()
        )
        tally = Tally()
        async for batch in self._batches(lines, tally):
            tally.add(await self._store(order, batch))
        tally.refused.sort(key=lambda one: one.line)
        if not dry_run:
            await self._database.write(lambda tx: self._tell(tx, order, tally, justification))
        return Imported(None if dry_run else order.id, tally)

    async def _batches(
        self, lines: AsyncIterator[bytes], tally: Tally
    ) -> AsyncIterator[list[list[Line]]]:
        """Groups of lines, some at a time: what belongs to a memory stays with it."""
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
        """`told` are errors of lines that were refused before."""

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
    """Does the line stand behind its memory?"""
    behind = line.type in OF_MEMORY and head.type is LineType.MEMORY
    return behind and line.values["memory_id"] == head.values["id"]
