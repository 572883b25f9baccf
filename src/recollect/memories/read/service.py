"""`MemoryReader`: gets one memory, lists memories, reads a history, explains visibility."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.audit.memory_recorder import MemoryAudit, memory_payload
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel import strict_json
from recollect.kernel.errors import NotFound
from recollect.kernel.ids import ChatId, MemoryId
from recollect.kernel.pages import (
    Page,
    decode_key,
    encode_key,
    unknown_cursor_error,
)
from recollect.memories.filters import MemoryFilters
from recollect.memories.model import (
    Memory,
    MemoryFilter,
    MemoryReadResult,
    ReadContext,
    StoredMemory,
    is_expired,
)
from recollect.memories.read.audit import ReadAudit
from recollect.memories.read.explain import VisibilityExplainer
from recollect.memories.read.history import (
    HISTORY_FILTER,
    READABLE_STATUSES,
    HistoryItem,
    HistoryKey,
    VersionHistory,
)
from recollect.memories.read.listing import MemoryLister, MemoryPage
from recollect.memories.read.resolve_filters import require_location, resolve_filter
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.usage import UsageTracker
from recollect.visibility.explanation import VisibilityExplanation
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewer import Viewer
from recollect.visibility.viewers import ViewerFactory

# The score that a search for a text gives a memory, None if it does not find it.
ScoreMemory = Callable[[Memory, str, Viewer], Awaitable[float | None]]
_LIST = "memories"
_HISTORY = "history"


class MemoryReader:
    """Each read is limited to what the caller, as `Viewer`, may see."""

    def __init__(
        self,
        context: ServiceContext[MemoryStores],
        *,
        viewers: ViewerFactory,
        views: VisibilityFacts,
        audit: MemoryAudit,
        reads: ReadAudit,
        use: UsageTracker,
        score: ScoreMemory,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._viewers = viewers
        self._views = views
        self._audit = audit
        self._reads = reads
        self._use = use
        self._past = VersionHistory(context.stores, views)
        self._lists = MemoryLister(context.stores, self._past)
        self._explainer = VisibilityExplainer(context.stores, views)
        self._score = score

    async def get(
        self,
        requester: Requester,
        memory_id: MemoryId,
        *,
        chat_id: ChatId | None = None,
        as_of: datetime | None = None,
        include_expired: bool = False,
        embedding: bool = False,
    ) -> MemoryReadResult:
        """A memory, or its version at `as_of`, also if it is superseded or archived, and with
        `include_expired` if it is expired. Raises NotFound for what is hidden."""
        wanted = MemoryFilter(
            statuses=READABLE_STATUSES, as_of=as_of, include_expired=include_expired
        )
        found = await self._database.read(
            lambda tx: self._read_memory(
                tx,
                requester,
                memory_id,
                context=ReadContext(chat_id),
                wanted=wanted,
                embedding=embedding,
            )
        )
        # A read that has to be audited is recorded before the answer is returned. If that fails,
        # the caller gets no answer. Usage is only noted in a buffer.
        self._use.record_shown([found.stored])
        await self._reads.record_reads(
            requester, "getMemory", [found.stored.memory], rule=found.rule
        )
        return found

    async def list(
        self, requester: Requester, filters: MemoryFilters, *, after: str | None, limit: int
    ) -> MemoryPage:
        """A page of memories, newest first."""
        require_location(filters)
        cursor_key = decode_key(_LIST, after) if after else None
        found = await self._database.scan(
            lambda tx: self._read_page(tx, requester, filters, after=cursor_key, limit=limit)
        )
        visible = [stored.memory for stored in found.page.items]
        await self._reads.record_reads(requester, "listMemories", visible, rule=found.context)
        return found

    async def history(
        self, requester: Requester, memory_id: MemoryId, *, after: str | None, limit: int
    ) -> Page[HistoryItem]:
        """All versions of a memory and of everything that it replaced, directly or not."""
        cursor_key = decode_key(_HISTORY, after)[1] if after else None
        items = await self._database.read(lambda tx: self._read_history(tx, requester, memory_id))
        page = _history_page(items, after=cursor_key, limit=limit)
        await self._reads.record_reads(
            requester, "getHistory", _memories_in_items(page.items), rule="history"
        )
        return page

    async def explain(
        self,
        requester: Requester,
        memory_id: MemoryId,
        *,
        chat_id: ChatId | None = None,
        query: str | None = None,
        as_user: str | None = None,
    ) -> VisibilityExplanation:
        """Why a memory is visible, or for one that is superseded or archived that it is `inactive`.
        NotFound if it is hidden, unless an auditor asks with `as_user`."""
        async with self._audit.audit_refusals(requester, "explainMemory", memory_id=memory_id):
            explanation, viewer = await self._database.read(
                lambda tx: self._read_explanation(
                    tx, requester, memory_id, context=ReadContext(chat_id), as_user=as_user
                )
            )
        if as_user is not None:
            await self._database.write(
                lambda tx: self._record_auditor_read(tx, requester, explanation, as_user=as_user)
            )
        if query is None:
            return explanation
        return replace(explanation, score=await self._score(explanation.memory, query, viewer))

    def _read_memory(
        self,
        tx: Tx,
        requester: Requester,
        memory_id: MemoryId,
        *,
        context: ReadContext,
        wanted: MemoryFilter,
        embedding: bool,
    ) -> MemoryReadResult:
        viewer = self._viewers.viewer_for(tx, requester, context)
        row = self._stores.memories.fetch_visible_by_id(tx, viewer, memory_id, wanted)
        stored = self._require_visible(tx, viewer, memory_id, row, wanted)
        audited = self._reads.should_record(stored.memory)
        return MemoryReadResult(
            stored,
            viewer.now,
            self._read_embedding(tx, requester, stored) if embedding else None,
            self._views.can_view_if_active(tx, viewer, stored).rule if audited else "",
        )

    def _read_embedding(
        self, tx: Tx, requester: Requester, stored: StoredMemory
    ) -> Sequence[float] | None:
        if not self._views.may_change(tx, requester, stored).allowed:
            return None
        return self._stores.memories.fetch_embedding(tx, stored.memory.id) or ()

    def _read_page(
        self,
        tx: Tx,
        requester: Requester,
        filters: MemoryFilters,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> MemoryPage:
        viewer = self._viewers.viewer_for(tx, requester, filters.context)
        memory_filter = resolve_filter(tx, self._stores, filters, known_to=requester)
        return self._lists.page(tx, viewer, memory_filter, name=_LIST, after=after, limit=limit)

    def _require_visible(
        self,
        tx: Tx,
        viewer: Viewer,
        memory_id: MemoryId,
        row: StoredMemory | None,
        memory_filter: MemoryFilter,
    ) -> StoredMemory:
        """The row, as the viewer may see its version that the filter asks for."""
        found = [] if row is None else [row]
        seen = self._lists.visible_as_of(tx, viewer, found, memory_filter)
        if not seen:
            raise NotFound("memory", memory_id)
        return seen[0]

    def _read_history(
        self, tx: Tx, requester: Requester, memory_id: MemoryId
    ) -> Sequence[HistoryItem]:
        viewer = self._viewers.viewer_for(tx, requester)
        present = self._stores.memories.fetch_visible(tx, viewer, memory_id, HISTORY_FILTER)
        if present is None:
            raise NotFound("memory", memory_id)
        return self._past.list_items(tx, viewer, present)

    def _read_explanation(
        self,
        tx: Tx,
        requester: Requester,
        memory_id: MemoryId,
        *,
        context: ReadContext,
        as_user: str | None,
    ) -> tuple[VisibilityExplanation, Viewer]:
        judged = self._explainer.resolve_as_user(tx, requester, as_user)
        # The viewer is built before the memory is read: an unknown chat must raise the same error
        # whether or not the memory exists.
        viewer = self._viewers.viewer_for(tx, judged, context)
        stored = self._explainer.fetch_row(tx, memory_id)
        explanation = self._explainer.explain(tx, viewer, stored)
        if as_user is None and not (explanation.allowed or self._is_over(tx, viewer, stored)):
            raise NotFound("memory", memory_id)
        return explanation, viewer

    def _is_over(self, tx: Tx, viewer: Viewer, stored: StoredMemory) -> bool:
        """Whether the viewer gets it by its id, though it is in no list any more."""
        if is_expired(viewer.now, stored.memory.expires_at):
            return False
        return self._views.can_view_by_id(tx, viewer, stored).allowed

    def _record_auditor_read(
        self, tx: Tx, requester: Requester, explanation: VisibilityExplanation, *, as_user: str
    ) -> None:
        """Audit a read that only a role allows. It is recorded in every case, not only for PII."""
        payload = memory_payload(explanation.memory, self._audit.rules)
        self._audit.record(
            tx,
            requester,
            "memory.read",
            space=explanation.memory.space,
            memory_id=explanation.memory.id,
            agent_id=explanation.memory.agent_id,
            run_id=explanation.memory.run_id,
            role="auditor",
            target_user_id=as_user,
            payload=payload | {"operation": "explainMemory", "rule": explanation.rule},
        )


def _history_page(
    items: Sequence[HistoryItem], *, after: str | None, limit: int
) -> Page[HistoryItem]:
    last = _parse_item_key(after) if after is not None else None
    rest = [item for item in items if last is None or item.sort_key > last]
    visible = rest[:limit]
    more = len(rest) > limit
    cursor = encode_key(_HISTORY, visible[-1].at, _dump_item_key(visible[-1])) if more else None
    return Page(visible, cursor)


def _memories_in_items(items: Iterable[HistoryItem]) -> list[Memory]:
    """Each memory of the items once, with the PII tags of all its shown versions, for the audit."""
    visible: dict[MemoryId, Memory] = {}
    for then in (item.then for item in items if item.then is not None):
        known = visible.setdefault(then.id, then)
        tags = {*known.pii_tags, *then.pii_tags}
        visible[then.id] = replace(known, pii_tags=tuple(sorted(tags)))
    return list(visible.values())


def _dump_item_key(item: HistoryItem) -> str:
    return strict_json.dump(item.sort_key)


def _parse_item_key(text: str) -> HistoryKey:
    try:
        depth, memory_id, back = strict_json.load(text)
        return int(depth), str(memory_id), int(back)
    except (ValueError, TypeError):
        raise unknown_cursor_error() from None
