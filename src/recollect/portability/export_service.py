"""Export of memories with everything that they refer to, as NDJSON in a fixed order.

Rows are read page by page, each page in a transaction of its own. So an export of any size takes
little memory, and it is no snapshot: what is written while it runs may be in it or not.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

from recollect.audit.gate import AdminGate
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import MemoryId
from recollect.kernel.space import SpaceKind
from recollect.memories.filters import MemoryFilters
from recollect.memories.model import MemoryFilter, MemoryStatus, StoredMemory
from recollect.memories.read.listing import MemoryLister
from recollect.memories.read.resolve_filters import resolve_filter
from recollect.portability.export_gaps import removed_predecessors
from recollect.portability.export_scope import ExportCursor, ExportScope
from recollect.portability.export_visibility import restrict_parts, restrict_rows
from recollect.portability.fields import LineValues
from recollect.portability.lines import MEMORY_PART_TYPES, LineType, to_line
from recollect.portability.memory_line import memory_line_values
from recollect.portability.store.bundle import PortabilityStores
from recollect.visibility.viewer import Viewer
from recollect.visibility.viewers import ViewerFactory

ROWS_PER_PAGE = 200
_VIEWER_REASON = "an admin exports"
_OTHER_TYPES = (
    LineType.AGENT,
    LineType.PERSON,
    LineType.MERGE,
    LineType.CHAT,
    LineType.PARTICIPANT,
    LineType.RUN,
)
# Expired is computed from the expiry and never stored.
_STORED_STATUSES = tuple(status for status in MemoryStatus if status is not MemoryStatus.EXPIRED)

Lines = list[tuple[LineType, str]]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The filters and options of an export."""

    filters: MemoryFilters
    every_status: bool = False
    embedding: bool = False
    justification: str | None = None


class ExportService:
    """Exports the spaces that the caller may write; for an admin, all."""

    def __init__(
        self,
        context: ServiceContext[PortabilityStores],
        audit: MemoryAudit,
        *,
        viewers: ViewerFactory,
        lists: MemoryLister,
        gate: AdminGate,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._viewers = viewers
        self._lists = lists
        self._gate = gate

    async def export(self, requester: Requester, request: ExportRequest) -> AsyncIterator[bytes]:
        """The lines as chunks of bytes. Raises before the first of them if the call is refused;
        later errors come out of the iterator, when the status has been sent already."""
        await self._gate.admit(requester, "exportMemories", request.justification)
        exported = await self._database.read(lambda tx: self._export_scope(tx, requester, request))
        return self._encode_and_audit(
            requester, request, self._line_pages(requester, exported, request)
        )

    def _export_scope(self, tx: Tx, requester: Requester, request: ExportRequest) -> ExportScope:
        """What the export holds. An admin's export without filters (`everything`) also has the
        agents, people, chats and runs to which no memory refers: it is a backup."""
        filters = request.filters
        # An owner gets NotFound for a run or person that they may not know; an admin knows all.
        statuses = _STORED_STATUSES if request.every_status else (filters.status,)
        known_to = None if requester.is_admin else requester
        resolved = resolve_filter(tx, self._stores, filters, known_to=known_to)
        memory_filter = replace(resolved, statuses=statuses)
        if not requester.is_admin:
            return ExportScope(
                self._viewers.viewer_for(tx, requester, filters.context), memory_filter
            )
        plain = MemoryFilters(status=filters.status, include_expired=filters.include_expired)
        viewer = Viewer.for_system(_VIEWER_REASON, self._runtime.clock.now())
        return ExportScope(
            viewer, self._restrict_to_chat(tx, memory_filter, filters), everything=filters == plain
        )

    def _restrict_to_chat(
        self, tx: Tx, memory_filter: MemoryFilter, filters: MemoryFilters
    ) -> MemoryFilter:
        """The filter of an admin's export, where `chat_id` means the chat's own space.

        For anybody else `chat_id` is the context they ask in, in which memories of users are
        visible too. An admin asks in no context, so those would be the memories of all users.
        """
        only_chat = memory_filter.spaces == ((SpaceKind.CHAT, None), (SpaceKind.USER, None))
        if filters.chat_id is None or not only_chat:
            return memory_filter
        chat_id = self._stores.chats.canonical_id(tx, filters.chat_id)
        return replace(memory_filter, spaces=((SpaceKind.CHAT, chat_id),))

    async def _encode_and_audit(
        self, requester: Requester, request: ExportRequest, pages: AsyncIterator[Lines]
    ) -> AsyncIterator[bytes]:
        """The pages as bytes, each with one page of delay, and the audit event.

        The event holds counts, so it can't be written before the last page is read. It must not be
        written behind it either: a caller who hangs up after the last byte would have everything
        and leave no trace. Hence the last page is held back until the event is committed. An export
        that breaks off earlier has no event and is incomplete.
        """
        counts: Counter[str] = Counter()
        pending = b""
        async for page in pages:
            if pending:
                yield pending
            counts.update(str(type_) for type_, _ in page)
            pending = "".join(f"{line}\n" for _, line in page).encode()
        await self._database.write(
            lambda tx: self._audit.record(
                tx,
                requester,
                "export.done",
                payload={"counts": dict(counts)},
                count=counts.total(),
                justification=request.justification,
            )
        )
        yield pending

    async def _line_pages(
        self, requester: Requester, exported: ExportScope, request: ExportRequest
    ) -> AsyncIterator[Lines]:
        for type_ in _OTHER_TYPES if requester.is_admin else _owner_types():
            async for page in self._read_pages(self._other_page_reader(requester, type_, exported)):
                yield page
        async for page in self._read_pages(self._memory_page_reader(requester, exported, request)):
            yield page

    async def _read_pages(
        self, read: Callable[[Tx, ExportCursor | None], tuple[ExportCursor | None, Lines]]
    ) -> AsyncIterator[Lines]:
        """Call `read` with the cursor of the last page until it returns none. Pages may be empty,
        where every row of one was hidden from the caller."""
        place: ExportCursor | None = None
        while True:
            place, lines = await self._database.scan(_bind_cursor(read, place))
            if lines:
                yield lines
            if place is None:
                return

    def _other_page_reader(
        self, requester: Requester, type_: LineType, exported: ExportScope
    ) -> Callable[[Tx, ExportCursor | None], tuple[ExportCursor | None, Lines]]:
        def read(tx: Tx, after: ExportCursor | None) -> tuple[ExportCursor | None, Lines]:
            found = self._stores.portable.page(
                tx, type_, exported, after=after, limit=ROWS_PER_PAGE
            )
            values = [one for _, one in found]
            if not requester.is_admin:
                values = restrict_rows(tx, self._stores, requester, type_=type_, found=values)
            # By the rows of the query, not by those that the caller may see: a page without any
            # visible row must not end the export.
            place = found[-1][0] if len(found) == ROWS_PER_PAGE else None
            return place, [(type_, to_line(type_, one)) for one in values]

        return read

    def _memory_page_reader(
        self, requester: Requester, exported: ExportScope, request: ExportRequest
    ) -> Callable[[Tx, ExportCursor | None], tuple[ExportCursor | None, Lines]]:
        def read(tx: Tx, after: ExportCursor | None) -> tuple[ExportCursor | None, Lines]:
            found = self._stores.portable.memory_page(
                tx, exported, after=after, limit=ROWS_PER_PAGE
            )
            rows = list(
                self._lists.visible_as_of(
                    tx, exported.viewer, [stored for _, stored in found], exported.filters
                )
            )
            # With `as_of` a memory is exported as it was then; its later versions, relations and
            # gaps don't belong to that state.
            past = exported.filters.as_of is not None
            related = {} if past else self._memory_part_lines(tx, requester, rows)
            gaps = {} if past else removed_predecessors(tx, self._stores, _memory_ids(rows))
            lines: Lines = []
            for stored in rows:
                values = memory_line_values(stored) | self._embedding_field(tx, stored, request)
                values["removed"] = gaps.get(stored.memory.id)
                lines.append((LineType.MEMORY, to_line(LineType.MEMORY, values)))
                lines += related.get(stored.memory.id, [])
            return (found[-1][0] if len(found) == ROWS_PER_PAGE else None), lines

        return read

    def _memory_part_lines(
        self, tx: Tx, requester: Requester, rows: list[StoredMemory]
    ) -> dict[str, Lines]:
        """Lines of versions, relations and approvals, by the id of their memory."""
        ids = _memory_ids(rows)
        spaces = {row.memory.id: row.memory.space for row in rows}
        lines: dict[str, Lines] = {}
        for type_ in (type_ for type_ in LineType if type_ in MEMORY_PART_TYPES):
            for memory_id, several in self._stores.portable.parts_of_memories(
                tx, type_, ids
            ).items():
                parts = several
                if not requester.is_admin:
                    parts = restrict_parts(requester, spaces[memory_id], several)
                texts = [(type_, to_line(type_, values)) for values in parts]
                lines.setdefault(memory_id, []).extend(texts)
        return lines

    def _embedding_field(self, tx: Tx, stored: StoredMemory, request: ExportRequest) -> LineValues:
        if not request.embedding:
            return {}
        return {"embedding": self._stores.memories.fetch_embedding(tx, stored.memory.id)}


def _memory_ids(rows: list[StoredMemory]) -> list[MemoryId]:
    return [row.memory.id for row in rows]


def _bind_cursor(
    read: Callable[[Tx, ExportCursor | None], tuple[ExportCursor | None, Lines]],
    place: ExportCursor | None,
) -> Callable[[Tx], tuple[ExportCursor | None, Lines]]:
    return lambda tx: read(tx, place)


def _owner_types() -> tuple[LineType, ...]:
    """The types in an owner's export. Merges are for admins: they name claims of others."""
    return tuple(type_ for type_ in _OTHER_TYPES if type_ is not LineType.MERGE)
