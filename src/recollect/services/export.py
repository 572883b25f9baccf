"""Export of memories with everything that they refer to, as NDJSON in a fixed order.

Rows are read page by page, each page in a transaction of its own. So an export of any size takes
little memory, and it is no snapshot: what is written while it runs may be in it or not.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Any

from recollect.domain.memories import MemoryId, Status
from recollect.domain.portable import OF_MEMORY, LineType, to_line
from recollect.domain.portable_members import Values
from recollect.domain.spaces import SpaceKind
from recollect.policy.requesters import Requester
from recollect.policy.sight import Sight
from recollect.ports.database import Database, Tx
from recollect.ports.memories import MemoryFilter, Stored
from recollect.ports.portable import Exported, Place
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.admin_gate import AdminGate
from recollect.services.filters import Filters, chosen_by
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_lists import MemoryLists
from recollect.services.portable import memory_values
from recollect.services.portable_gaps import removed_below
from recollect.services.portable_views import known_to, of_memory_known_to
from recollect.services.sights import Sights

ROWS_PER_PAGE = 200
_REASON = "an admin exports"
_OTHERS = (
    LineType.AGENT,
    LineType.PERSON,
    LineType.MERGE,
    LineType.CHAT,
    LineType.PARTICIPANT,
    LineType.RUN,
)
# Expired is computed from the expiry and never stored.
_STORED = tuple(status for status in Status if status is not Status.EXPIRED)

Lines = list[tuple[LineType, str]]


@dataclass(frozen=True, slots=True)
class Wish:
    """The filters and options of an export."""

    filters: Filters
    every_status: bool = False
    embedding: bool = False
    justification: str | None = None


class ExportService:
    """Exports the spaces that the caller may write; for an admin, all."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        sights: Sights,
        lists: MemoryLists,
        gate: AdminGate,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._audit = audit
        self._sights = sights
        self._lists = lists
        self._gate = gate

    async def export(self, requester: Requester, wish: Wish) -> AsyncIterator[bytes]:
        """The lines as chunks of bytes. Raises before the first of them if the call is refused;
        later errors come out of the iterator, when the status has been sent already."""
        await self._gate.admit(requester, "exportMemories", wish.justification)
        exported = await self._database.read(lambda tx: self._exported(tx, requester, wish))
        return self._told(requester, wish, self._pages(requester, exported, wish))

    def _exported(self, tx: Tx, requester: Requester, wish: Wish) -> Exported:
        """What the export holds. An admin's export without filters (`everything`) also has the
        agents, people, chats and runs to which no memory refers: it is a backup."""
        filters = wish.filters
        # An owner gets NotFound for a run or person that they may not know; an admin knows all.
        statuses = _STORED if wish.every_status else (filters.status,)
        known_to = None if requester.admin else requester
        asked = chosen_by(tx, self._stores, filters, known_to=known_to)
        chosen = replace(asked, statuses=statuses)
        if not requester.admin:
            return Exported(self._sights.of(tx, requester, filters.context), chosen)
        plain = Filters(status=filters.status, include_expired=filters.include_expired)
        sight = Sight.whole(_REASON, self._runtime.clock.now())
        return Exported(sight, _in_chat(chosen, filters), everything=filters == plain)

    async def _told(
        self, requester: Requester, wish: Wish, pages: AsyncIterator[Lines]
    ) -> AsyncIterator[bytes]:
        """The pages as bytes, each with one page of delay, and the audit event.

        The event holds counts, so it can't be written before the last page is read. It must not be
        written behind it either: a caller who hangs up after the last byte would have everything
        and leave no trace. Hence the last page is held back until the event is committed. An export
        that breaks off earlier has no event and is incomplete.
        """
        counts: Counter[str] = Counter()
        held = b""
        async for page in pages:
            if held:
                yield held
            counts.update(str(type_) for type_, _ in page)
            held = "".join(f"{line}\n" for _, line in page).encode()
        await self._database.write(
            lambda tx: self._audit.record(
                tx,
                requester,
                "export.done",
                payload={"counts": dict(counts)},
                count=counts.total(),
                justification=wish.justification,
            )
        )
        yield held

    async def _pages(
        self, requester: Requester, exported: Exported, wish: Wish
    ) -> AsyncIterator[Lines]:
        for type_ in _OTHERS if requester.admin else _of_owner():
            async for page in self._walk(self._others(requester, type_, exported)):
                yield page
        async for page in self._walk(self._memories(requester, exported, wish)):
            yield page

    async def _walk(
        self, read: Callable[[Tx, Place | None], tuple[Place | None, Lines]]
    ) -> AsyncIterator[Lines]:
        """Call `read` with the cursor of the last page until it returns none. Pages may be empty,
        where every row of one was hidden from the caller."""
        place: Place | None = None
        while True:
            place, lines = await self._database.scan(_reading(read, place))
            if lines:
                yield lines
            if place is None:
                return

    def _others(
        self, requester: Requester, type_: LineType, exported: Exported
    ) -> Callable[[Tx, Place | None], tuple[Place | None, Lines]]:
        def read(tx: Tx, after: Place | None) -> tuple[Place | None, Lines]:
            found = self._stores.portable.page(
                tx, type_, exported, after=after, limit=ROWS_PER_PAGE
            )
            values = [one for _, one in found]
            if not requester.admin:
                values = known_to(tx, self._stores, requester, type_=type_, found=values)
            # By the rows of the query, not by those that the caller may see: a page without any
            # visible row must not end the export.
            place = found[-1][0] if len(found) == ROWS_PER_PAGE else None
            return place, [(type_, to_line(type_, one)) for one in values]

        return read

    def _memories(
        self, requester: Requester, exported: Exported, wish: Wish
    ) -> Callable[[Tx, Place | None], tuple[Place | None, Lines]]:
        def read(tx: Tx, after: Place | None) -> tuple[Place | None, Lines]:
            found = self._stores.portable.memories(tx, exported, after=after, limit=ROWS_PER_PAGE)
            rows = list(
                self._lists.shown(
                    tx, exported.sight, [stored for _, stored in found], exported.chosen
                )
            )
            # With `as_of` a memory is exported as it was then; its later versions, relations and
            # gaps don't belong to that state.
            past = exported.chosen.as_of is not None
            hanging = {} if past else self._hanging(tx, requester, rows)
            gaps = {} if past else removed_below(tx, self._stores, _ids(rows))
            lines: Lines = []
            for stored in rows:
                values = memory_values(stored) | self._embedding(tx, stored, wish)
                values["removed"] = gaps.get(stored.memory.id)
                lines.append((LineType.MEMORY, to_line(LineType.MEMORY, values)))
                lines += hanging.get(stored.memory.id, [])
            return (found[-1][0] if len(found) == ROWS_PER_PAGE else None), lines

        return read

    def _hanging(self, tx: Tx, requester: Requester, rows: list[Stored]) -> dict[str, Lines]:
        """Lines of versions, relations and approvals, by the id of their memory."""
        ids = _ids(rows)
        spaces = {row.memory.id: row.memory.space for row in rows}
        lines: dict[str, Lines] = {}
        for type_ in (type_ for type_ in LineType if type_ in OF_MEMORY):
            for memory_id, several in self._stores.portable.of_memories(tx, type_, ids).items():
                shown = several
                if not requester.admin:
                    shown = of_memory_known_to(requester, spaces[memory_id], several)
                told = [(type_, to_line(type_, values)) for values in shown]
                lines.setdefault(memory_id, []).extend(told)
        return lines

    def _embedding(self, tx: Tx, stored: Stored, wish: Wish) -> Values:
        if not wish.embedding:
            return {}
        return {"embedding": self._stores.memories.embedding(tx, stored.memory.id)}


def _ids(rows: list[Stored]) -> list[MemoryId]:
    return [row.memory.id for row in rows]


def _reading(
    read: Callable[[Tx, Place | None], tuple[Place | None, Lines]], place: Place | None
) -> Callable[[Tx], tuple[Place | None, Lines]]:
    return lambda tx: read(tx, place)


def _of_owner() -> tuple[LineType, ...]:
    """The types in an owner's export. Merges are for admins: they name claims of others."""
    return tuple(type_ for type_ in _OTHERS if type_ is not LineType.MERGE)


def _in_chat(chosen: MemoryFilter, filters: Filters) -> MemoryFilter:
    """The filter of an admin's export, where `chat_id` means the chat's own space.

    For anybody else `chat_id` is the context they ask in, in which memories of users are visible
    too. An admin asks in no context, so those would be the memories of all users.
    """
    if filters.chat_id is None or chosen.spaces is None:
        return chosen
    named: dict[Any, Any] = {"spaces": ((SpaceKind.CHAT, filters.chat_id),)}
    only_chat = chosen.spaces == ((SpaceKind.CHAT, None), (SpaceKind.USER, None))
    return replace(chosen, **named) if only_chat else chosen
