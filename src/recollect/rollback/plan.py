"""Plans a rollback: memories that came from a source, and those that they had superseded."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import NotFound
from recollect.kernel.ids import (
    AgentId,
    ChatId,
    ConversationId,
    EntryId,
    MemoryId,
    PersonId,
    RunId,
    parse_uuid,
)
from recollect.memories.model import (
    MemoryFilter,
    MemoryStatus,
    StoredMemory,
    is_expired,
)
from recollect.memories.write_access import MemoryWriteAccess
from recollect.people.chat import ParticipantKeys
from recollect.people.name_candidates import visible_person
from recollect.rollback.model import RollbackSource, SourceKind
from recollect.rollback.store import RollbackStores
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewers import ViewerFactory

ROWS_PER_PAGE = 500
_ANY_STATUS = MemoryFilter(statuses=tuple(MemoryStatus), include_expired=True)


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """A row to archive in this version, and the rows to restore: (id, version)."""

    id: MemoryId
    version: int
    restores: tuple[tuple[MemoryId, int], ...] = ()


@dataclass(slots=True)
class RollbackPlan:
    """All rows. `untouched` counts rows that the caller can see but may not write."""

    rows: list[PlannedRow] = field(default_factory=list)
    untouched: int = 0

    @property
    def archived(self) -> int:
        """The number of rows to archive."""
        return len(self.rows)

    @property
    def restored(self) -> int:
        """The number of rows to restore."""
        return sum(len(row.restores) for row in self.rows)

    @property
    def ids(self) -> tuple[MemoryId, ...]:
        """Ids of all rows to archive, then of all to restore."""
        back = (id_ for row in self.rows for id_, _ in row.restores)
        return (*(row.id for row in self.rows), *back)


@dataclass(slots=True)
class _ArchiveCandidates:
    """Rows to archive: their version, and by which row each was superseded."""

    versions: dict[MemoryId, int] = field(default_factory=dict)
    followers: dict[MemoryId, MemoryId | None] = field(default_factory=dict)
    untouched: int = 0


class RollbackPlanner:
    """Read-only."""

    def __init__(
        self,
        context: ServiceContext[RollbackStores],
        *,
        access: MemoryWriteAccess,
        viewers: ViewerFactory,
        facts: VisibilityFacts,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._access = access
        self._viewers = viewers
        self._facts = facts

    async def make_plan(
        self, requester: Requester, source: RollbackSource, now: datetime
    ) -> RollbackPlan:
        """NotFound for a source that the caller can't see.

        The plan is made in pages, each in its own transaction, so rows may change meanwhile. Every
        planned row has the version that was seen; `RollbackSteps` skips rows with another one.
        All rows to archive are known before the first row to restore is decided, because that
        depends on which of its successors are archived.
        """
        named = await self._database.read(lambda tx: self._resolve_source(tx, requester, source))
        ids = await self._collect_derived(requester, named)
        found = _ArchiveCandidates()
        for page in _split_pages(ids):
            await self._database.scan(self._classify_transaction(requester, page, found))
        plan = RollbackPlan(untouched=found.untouched)
        for page in _split_pages(list(found.versions)):
            rows, kept = await self._database.scan(
                self._restores_transaction(requester, page, found, now)
            )
            plan.rows += rows
            plan.untouched += kept
        return plan

    def _resolve_source(
        self, tx: Tx, requester: Requester, source: RollbackSource
    ) -> RollbackSource:
        """The source with its canonical id. NotFound if the caller can't see it. An admin may name
        a source that was deleted: its memories may still exist."""
        if source.kind is SourceKind.STATER:
            return replace(source, id=self._resolve_stater(tx, requester, PersonId(source.id)))
        # An error repeats what was sent: it does not tell the tree of a conversation.
        sent = source.id
        # These ids are UUIDs; sources of memories store them in canonical spelling.
        if source.kind in (SourceKind.ENTRY, SourceKind.CONVERSATION):
            resource = str(source.kind).removesuffix("_id")
            canonical = parse_uuid(source.id)
            if canonical is None:
                raise NotFound(resource, source.id)
            source = replace(source, id=canonical)
        if source.kind is SourceKind.CHAT:
            source = replace(source, id=self._stores.chats.canonical_id(tx, ChatId(source.id)))
        if not requester.is_admin and not _VISIBILITY_CHECKS[source.kind](
            self, tx, requester, source.id
        ):
            raise NotFound(str(source.kind).removesuffix("_id"), sent)
        return source

    def _resolve_stater(self, tx: Tx, requester: Requester, id_: PersonId) -> PersonId:
        if not requester.is_admin:
            return visible_person(tx, self._stores, requester, id_).id
        person = self._stores.people.fetch(tx, id_)
        if person is None:
            raise NotFound("person", id_)
        return person.id

    def _can_see_entry(self, tx: Tx, requester: Requester, id_: str) -> bool:
        entry = self._stores.entries.fetch(tx, EntryId(id_))
        return entry is not None and self._can_see_conversation(
            tx, requester, entry.conversation_id
        )

    def _can_see_conversation(self, tx: Tx, requester: Requester, id_: str) -> bool:
        user_id = requester.principal.user_id
        branch = self._stores.conversations.locate(tx, ConversationId(id_), user_id)
        return branch is not None and not branch.deleted and branch.level is not None

    def _can_see_chat(self, tx: Tx, requester: Requester, id_: str) -> bool:
        return self._stores.chats.is_participant(
            tx, ChatId(id_), ParticipantKeys.for_requester(requester)
        )

    def _can_see_agent(self, tx: Tx, _requester: Requester, id_: str) -> bool:
        return self._stores.agents.fetch_owner(tx, AgentId(id_)) is not None

    def _can_see_run(self, tx: Tx, requester: Requester, id_: str) -> bool:
        return self._stores.runs.fetch_visible(tx, requester.identity, RunId(id_)) is not None

    def _can_see_import(self, _tx: Tx, _requester: Requester, _id: str) -> bool:
        """An import has no row of its own; its memories are checked one by one."""
        return True

    def _can_see_memory(self, tx: Tx, requester: Requester, id_: str) -> bool:
        stored = self._stores.memories.fetch(tx, MemoryId(id_))
        if stored is None or stored.erasure_id is not None:
            return False
        if self._access.can_change(tx, requester, stored):
            return True
        return self._facts.can_view(tx, self._viewers.viewer_for(tx, requester), stored).allowed

    async def _collect_derived(
        self, requester: Requester, source: RollbackSource
    ) -> list[MemoryId]:
        """Ids of all memories that came from the source, directly or through other memories.

        A breadth-first search over "derived from". A memory that the caller can neither write nor
        see is not followed: otherwise the result would reveal that one of the caller's rows was
        derived from it.
        """
        known: dict[MemoryId, None] = {}
        front = await self._filter_known(requester, await self._fetch_direct(source))
        while front:
            known |= dict.fromkeys(front)
            follows: dict[MemoryId, None] = {}
            for page in _split_pages(front):
                more = await self._database.scan(self._derived_transaction(page))
                follows |= dict.fromkeys(id_ for id_ in more if id_ not in known)
            front = await self._filter_known(requester, list(follows))
        return list(known)

    async def _filter_known(self, requester: Requester, ids: list[MemoryId]) -> list[MemoryId]:
        if requester.is_admin:
            return ids
        kept: list[MemoryId] = []
        for page in _split_pages(ids):
            kept += await self._database.scan(self._known_transaction(requester, page))
        return kept

    def _known_transaction(
        self, requester: Requester, page: Sequence[MemoryId]
    ) -> Callable[[Tx], list[MemoryId]]:
        def work(tx: Tx) -> list[MemoryId]:
            writable = self._writable_ids(tx, requester, self._stores.memories.fetch_many(tx, page))
            others = [id_ for id_ in page if id_ not in writable]
            visible = self._stores.memories.fetch_many_visible(
                tx, self._viewers.viewer_for(tx, requester), others, _ANY_STATUS
            )
            return [id_ for id_ in page if id_ in writable or id_ in visible]

        return work

    async def _fetch_direct(self, source: RollbackSource) -> list[MemoryId]:
        ids: list[MemoryId] = []
        while True:
            after = ids[-1] if ids else None
            page = await self._database.scan(self._direct_transaction(source, after))
            ids += page
            if len(page) < ROWS_PER_PAGE:
                return ids

    def _direct_transaction(
        self, source: RollbackSource, after: MemoryId | None
    ) -> Callable[[Tx], list[MemoryId]]:
        return lambda tx: self._stores.rollbacks.list_from_source(
            tx, source, after=after, limit=ROWS_PER_PAGE
        )

    def _derived_transaction(self, page: Sequence[MemoryId]) -> Callable[[Tx], list[MemoryId]]:
        return lambda tx: self._stores.rollbacks.list_derived(tx, page)

    def _classify_transaction(
        self, requester: Requester, page: Sequence[MemoryId], found: _ArchiveCandidates
    ) -> Callable[[Tx], None]:
        """Collect the rows that the caller may archive; count the others as untouched."""

        def work(tx: Tx) -> None:
            # Archived rows need no change, and count neither as archived nor as untouched.
            rows = [
                row
                for row in self._stores.memories.fetch_many(tx, page)
                if row.memory.status is not MemoryStatus.ARCHIVED
            ]
            writable = self._writable_ids(tx, requester, rows)
            for row in rows:
                if row.memory.id in writable:
                    found.versions[row.memory.id] = row.memory.version
                    found.followers[row.memory.id] = row.memory.superseded_by
            found.untouched += len(rows) - len(writable)

        return work

    def _restores_transaction(
        self,
        requester: Requester,
        page: Sequence[MemoryId],
        found: _ArchiveCandidates,
        now: datetime,
    ) -> Callable[[Tx], tuple[list[PlannedRow], int]]:
        def work(tx: Tx) -> tuple[list[PlannedRow], int]:
            # A row may have superseded several, and several rows of the plan the same one. Each is
            # restored once: by the row that its own `superseded_by` names.
            replaced = self._stores.memories.predecessors(tx, page)
            old_ids = {id_ for ids in replaced.values() for id_ in ids} - found.versions.keys()
            olds = {row.memory.id: row for row in self._stores.memories.fetch_many(tx, [*old_ids])}
            free = {
                id_: row for id_, row in olds.items() if self._should_restore(tx, row, found, now)
            }
            writable = self._writable_ids(tx, requester, list(free.values()))
            rows = [
                PlannedRow(
                    id_,
                    found.versions[id_],
                    tuple(
                        (old, free[old].memory.version)
                        for old in replaced.get(id_, ())
                        if old in writable and free[old].memory.superseded_by == id_
                    ),
                )
                for id_ in page
            ]
            return rows, self._count_visible(
                tx, requester, [r for i, r in free.items() if i not in writable]
            )

        return work

    def _should_restore(
        self, tx: Tx, old: StoredMemory, found: _ArchiveCandidates, now: datetime
    ) -> bool:
        """Is every successor of this superseded row archived by the plan?

        Follow `superseded_by` through rows of the plan to the first row outside of it. If that row
        exists and is not archived, the answer is no: it superseded the successor, and would have
        superseded this row too. The set `passed` ends cycles.
        """
        memory = old.memory
        gone = memory.status is not MemoryStatus.SUPERSEDED or old.compacted_at is not None
        if gone or is_expired(now, memory.expires_at):
            return False
        follower, passed = memory.superseded_by, set[MemoryId]()
        while follower is not None and follower in found.followers and follower not in passed:
            passed.add(follower)
            follower = found.followers[follower]
        if follower is None:
            return bool(passed)
        successor = self._stores.memories.fetch(tx, follower)
        return bool(passed) and (
            successor is None or successor.memory.status is MemoryStatus.ARCHIVED
        )

    def _writable_ids(
        self, tx: Tx, requester: Requester, rows: Sequence[StoredMemory]
    ) -> frozenset[MemoryId]:
        """Ids of the rows that the caller may write; for an admin all, so that a poisoned source
        can be rolled back completely."""
        if requester.is_admin:
            return frozenset(row.memory.id for row in rows)
        return self._access.changeable_ids(tx, requester, rows)

    def _count_visible(self, tx: Tx, requester: Requester, rows: Sequence[StoredMemory]) -> int:
        """How many of these rows the caller can see. Others are not even counted."""
        if not rows:
            return 0
        viewer, ids = self._viewers.viewer_for(tx, requester), [row.memory.id for row in rows]
        return len(self._stores.memories.fetch_many_visible(tx, viewer, ids, _ANY_STATUS))


def _split_pages(ids: Sequence[MemoryId]) -> Iterator[Sequence[MemoryId]]:
    for at in range(0, len(ids), ROWS_PER_PAGE):
        yield ids[at : at + ROWS_PER_PAGE]


_VISIBILITY_CHECKS: Mapping[SourceKind, Callable[[RollbackPlanner, Tx, Requester, str], bool]] = {
    SourceKind.ENTRY: RollbackPlanner._can_see_entry,
    SourceKind.CONVERSATION: RollbackPlanner._can_see_conversation,
    SourceKind.CHAT: RollbackPlanner._can_see_chat,
    SourceKind.AGENT: RollbackPlanner._can_see_agent,
    SourceKind.RUN: RollbackPlanner._can_see_run,
    SourceKind.IMPORT: RollbackPlanner._can_see_import,
    SourceKind.MEMORY: RollbackPlanner._can_see_memory,
}
