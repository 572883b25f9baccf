"""`MemoryWriter` stores a memory: every surface, batch item and move ends here.

It resolves the target space, checks rights and content, looks for an equal statement, inserts the
row, and writes index, graph and audit event. Everything happens in the caller's transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from recollect.audit.memory_recorder import MemoryAudit, record_memory_event
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict, InvalidInput
from recollect.kernel.ids import MemoryId
from recollect.kernel.runtime import Runtime
from recollect.kernel.space import SpaceKind
from recollect.memories.duplicates.count import RepeatCounter
from recollect.memories.duplicates.merge_fields import merge_repeat
from recollect.memories.model import (
    Memory,
    MemoryKind,
    MemoryStatus,
    MessageRole,
    StoredMemory,
    TrustLevel,
)
from recollect.memories.reconcile.rules import is_repeat
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.supersede.apply import statement_facts
from recollect.memories.supersede.explicit import (
    ExplicitSupersession,
    build_successor,
    check_replaceable,
)
from recollect.memories.supersede.rules import StatementFacts
from recollect.memories.trust import lowest_trust
from recollect.memories.write.builder import MemoryInputs, build_moved, build_new
from recollect.memories.write.draft import MemoryDraft
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.hooks import (
    ApprovalRequests,
    GraphDrawing,
    MemoryIndexing,
    SubjectResolving,
)
from recollect.memories.write.screen import ScreenedDraft, ScreeningService
from recollect.memories.write.target_space import TargetSpace, TargetSpaceResolver
from recollect.memories.write.warnings import (
    EXPIRY_IGNORED,
    WriteWarning,
    person_created,
    visibility_warnings,
)
from recollect.people.confirmation import confirm_writer
from recollect.people.subject_resolver import ResolvedSubjects


class WriteStatus(StrEnum):
    """The result of a write as callers see it. `queued` is `created` with an extraction job."""

    CREATED = "created"
    QUEUED = "queued"
    DUPLICATE = "duplicate"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class MemoryWriteResult:
    """The row that now holds the text: the new one, or of a duplicate the one that existed."""

    stored: StoredMemory
    status: WriteStatus
    warnings: tuple[WriteWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteHooks:
    """What a write calls in its transaction: index, graph, people and approvals."""

    indexer: MemoryIndexing
    graph: GraphDrawing
    people: SubjectResolving
    approvals: ApprovalRequests


class MemoryWriter:
    """Writes screened drafts. `_check_and_store` has the order of checks that the API promises."""

    def __init__(
        self,
        stores: MemoryStores,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        places: TargetSpaceResolver,
        screening: ScreeningService,
        succession: ExplicitSupersession,
        expiry: ExpiryCalculator,
        hooks: WriteHooks,
    ) -> None:
        self._stores = stores
        self._runtime = runtime
        self._audit = audit
        self._places = places
        self._screening = screening
        self._succession = succession
        self._expiry = expiry
        self._repeating = RepeatCounter(stores, audit, expiry)
        self._hooks = hooks

    def write(
        self, tx: Tx, requester: Requester, screened: ScreenedDraft, *, at: datetime
    ) -> MemoryWriteResult:
        """Store a draft, or count it as a repeat of an equal statement in the same space.

        Raises NotFound, Forbidden, what screening refuses, and Conflict. A request with several
        faults is refused for the first of these.
        """
        written = self._check_and_store(tx, requester, screened, at=at)
        if not screened.draft.expiry_ignored:
            return written
        return replace(written, warnings=(*written.warnings, EXPIRY_IGNORED))

    def _check_and_store(
        self, tx: Tx, requester: Requester, screened: ScreenedDraft, *, at: datetime
    ) -> MemoryWriteResult:
        # The order of these calls is a contract, and each step relies on the ones before it.
        #
        # 1. Space, then the memories that the writer names in `supersedes`: first what must exist
        #    and be visible (404), then the right to write (403). Rights come before content, so a
        #    caller without them gets the same answer whatever the text is.
        # 2. Screening. The text was examined before the transaction, because that may take long
        #    and needs no rows. First what may be stored nowhere is refused, then what the space
        #    does not take. That depends on the subjects, so they are resolved in between, which
        #    may insert people; a refusal takes them back.
        # 3. Conflicts with stored rows (409), which only a writer of the space may learn about.
        # 4. The row is built. Then the records with its key are locked and looked up (409 if
        #    `on_conflict` is `refuse`).
        # 5. A suspicious text is quarantined before equal statements are looked up: it must not
        #    change any visible row, not even a counter.
        # 6. Nothing is looked up for a draft that replaces rows (the writer asked for a successor)
        #    or that moves (the old row is deleted, so a new one must take its place).
        #
        # Locks are taken in the order agent, named rows by id, names of people, key, text, repeated
        # row. Where two writers still deadlock, the engine runs one transaction again.
        draft, findings = screened.draft, screened.findings
        place = self._places.resolve(tx, requester, draft, at=at)
        olds = self._succession.fetch_named(tx, requester, draft.supersedes, now=at)
        pii_tags = findings.merge_tags(draft.pii_tags)
        self._screening.check_storable(findings, pii_tags)
        people = self._resolve_subjects(tx, requester, draft, place)
        floors = self._screening.with_tags(findings.floors, pii_tags)
        memory_id = draft.id or MemoryId(self._runtime.ids.new())
        inputs = self._fit_place(
            MemoryInputs(requester, draft, findings, place, people.ids, floors, memory_id, at)
        )
        place = inputs.place
        check_replaceable(olds, draft.supersedes, place.space)
        self._check_id(tx, draft)
        new = self._build_row(inputs)
        olds += self._succession.fetch_by_key(tx, requester, draft, space=place.space, now=at)
        if new.memory.status is MemoryStatus.QUARANTINED:
            written = self._quarantine(tx, requester, new, olds=olds)
        elif known := self._find_repeated(tx, requester, new, olds=olds, draft=draft, at=at):
            written = self._count_repeat(tx, requester, known, new=new, draft=draft)
        else:
            written = self._store_new(tx, requester, screened, new=new, olds=olds)
        if place.chat is not None:
            confirm_writer(tx, self._stores, requester, place.chat, at=at)
        created = (person_created(one) for one in people.created)
        warnings = (*written.warnings, *created, *visibility_warnings(place))
        return replace(written, warnings=warnings)

    def _fit_place(self, inputs: MemoryInputs) -> MemoryInputs:
        """The inputs with a place that takes their content. Raises InvalidInput if the one that
        was asked for does not, unless nothing was said against the agent's private space."""
        try:
            self._screening.check_fits(
                inputs.findings,
                inputs.place.space.kind,
                sensitivity=inputs.sensitivity,
                pii_tags=inputs.pii_tags,
            )
        except InvalidInput as error:
            if not (inputs.draft.may_divert and inputs.place.has_private_twin):
                raise
            by = "pii" if error.code == "pii_not_allowed" else "sensitivity"
            return replace(inputs, place=inputs.place.divert(by))
        return inputs

    def _resolve_subjects(
        self, tx: Tx, requester: Requester, draft: MemoryDraft, place: TargetSpace
    ) -> ResolvedSubjects:
        """The people whom a new draft names; a moved one keeps its own."""
        if draft.carried is not None or not draft.subjects:
            return ResolvedSubjects()
        chat_id = None if place.chat is None else place.chat.id
        return self._hooks.people.resolve(tx, requester, draft.subjects, chat_id)

    def _check_id(self, tx: Tx, draft: MemoryDraft) -> None:
        """Raise Conflict for the id of a removed memory that a history still links to: the link
        would get two meanings. An id in use is refused by the insert itself."""
        if draft.id is not None and self._stores.memories.removals(tx, [draft.id]):
            raise _duplicate_id_error(draft.id)

    def _build_row(self, inputs: MemoryInputs) -> StoredMemory:
        """The row from draft, space and people alone, as if the space held nothing else."""
        draft, findings = inputs.draft, inputs.findings
        if draft.carried is not None:
            memory = build_moved(inputs, draft.carried.memory)
        else:
            memory = build_new(inputs)
        if self._screening.should_quarantine(findings):
            if (
                _is_own_turn(inputs.requester, draft, inputs.place)
                and not findings.suspicion.claims_authority
            ):
                memory = replace(memory, trust=lowest_trust((memory.trust, TrustLevel.UNKNOWN)))
            else:
                memory = replace(memory, status=MemoryStatus.QUARANTINED)
        return StoredMemory(
            memory=self._expiry.apply(memory).memory,
            written_by=inputs.requester.identity,
            bare_names=draft.carried.bare_names if draft.carried else (),
            privacy_said=_is_privacy_set_by_subject(memory, draft),
            suspicion=findings.suspicion.score,
            suspicion_reasons=findings.suspicion.reasons,
            folded=findings.folded,
        )

    def _quarantine(
        self, tx: Tx, requester: Requester, new: StoredMemory, *, olds: Sequence[StoredMemory]
    ) -> MemoryWriteResult:
        """Insert the row as quarantined: no read, index or graph has it until it is released.

        The rows that it should supersede stay active. Their ids are stored as links, and
        `PendingSupersedes` applies them at release.
        """
        named = tuple(old.memory.id for old in olds)
        new = replace(new, memory=replace(new.memory, supersedes=named))
        stored = self._insert(tx, requester, new)
        record_memory_event(
            self._audit,
            tx,
            requester,
            event_type="memory.quarantine",
            memory=stored.memory,
            score=stored.suspicion,
            reasons=list(stored.suspicion_reasons),
        )
        return MemoryWriteResult(stored, WriteStatus.QUARANTINED, self._expiry_warnings(stored))

    def _find_repeated(
        self,
        tx: Tx,
        requester: Requester,
        new: StoredMemory,
        *,
        olds: Sequence[StoredMemory],
        draft: MemoryDraft,
        at: datetime,
    ) -> StoredMemory | None:
        """The statement that this one repeats, locked: active, in the same space, with equal text,
        and the requester's to change. Others' rows are passed over as if they were not there."""
        if olds or draft.carried or new.memory.kind is not MemoryKind.STATEMENT:
            return None
        statement = statement_facts(new.memory)
        # `find_same_text` also locks the text itself in this space until the commit. A second
        # writer of an equal text waits there and then finds the row that the first one inserted.
        # A unique index could not do that: two people may say the same, and both rows stay.
        for one in self._stores.memories.find_same_text(tx, new, now=at):
            if one.bare_names or not is_repeat(statement, statement_facts(one.memory)):
                continue
            # The lock on the text does not stop a PATCH or a DELETE of the row that was found.
            # So the row is locked, read again and compared again.
            locked = self._stores.memories.fetch(tx, one.memory.id, lock=True)
            if locked is None or not _is_still_repeat(locked, statement):
                continue
            if self._succession.can_change(tx, requester, locked):
                return locked
        return None

    def _count_repeat(
        self,
        tx: Tx,
        requester: Requester,
        known: StoredMemory,
        *,
        new: StoredMemory,
        draft: MemoryDraft,
    ) -> MemoryWriteResult:
        # The known row takes what can be added (tags, metadata, expiry). What it can't take is
        # named in a warning, so that nothing the caller sent is dropped in silence.
        taken = merge_repeat(known.memory, new.memory, draft)
        stored = self._repeating.add_repeat(
            tx,
            requester,
            known,
            repeat=new.memory,
            by=requester.identity,
            at=new.memory.updated_at,
            taking=taken.memory,
        )
        asks_for_expiry = draft.explicit_expires_at is not None or draft.policy is not None
        notices = self._expiry_warnings(stored) if asks_for_expiry else ()
        if taken.left:
            kept = ", ".join(taken.left)
            message = f"the statement exists and keeps its own values: {kept}; use PATCH"
            notices += (WriteWarning("duplicate_kept", message),)
        return MemoryWriteResult(stored, WriteStatus.DUPLICATE, notices)

    def _store_new(
        self,
        tx: Tx,
        requester: Requester,
        screened: ScreenedDraft,
        *,
        new: StoredMemory,
        olds: Sequence[StoredMemory],
    ) -> MemoryWriteResult:
        draft, words = screened.draft, screened.findings.words
        # A successor is inserted with its final privacy: no version of it is looser than what it
        # replaces. The old rows follow, because they name the successor by its id.
        if olds:
            new = build_successor(new, olds)
        stored = self._insert(tx, requester, new, moves=draft.carried is not None)
        self._succession.replace_all(tx, requester, stored, olds=olds, named=draft.supersedes)
        self._hooks.indexer.write(tx, stored, words)
        self._hooks.graph.write_edges(tx, stored)
        notices = self._expiry_warnings(stored)
        if draft.request_approval:
            notices += self._request_approval(tx, requester, stored)
        return MemoryWriteResult(stored, WriteStatus.CREATED, notices)

    def _insert(
        self, tx: Tx, requester: Requester, new: StoredMemory, *, moves: bool = False
    ) -> StoredMemory:
        """Insert the row and record `memory.write`. A move records its own event, `memory.move`."""
        stored = self._stores.memories.insert(tx, new)
        if stored is None:
            raise _duplicate_id_error(new.memory.id)
        if not moves:
            record_memory_event(
                self._audit,
                tx,
                requester,
                event_type="memory.write",
                memory=stored.memory,
                source=str(stored.memory.source),
                version=stored.memory.version,
            )
        return stored

    def _expiry_warnings(self, stored: StoredMemory) -> tuple[WriteWarning, ...]:
        if not self._expiry.apply(stored.memory).clamped:
            return ()
        message = f"a ceiling shortened the requested expiry: {stored.memory.expiry_rule}"
        return (WriteWarning("expiry_clamped", message),)

    def _request_approval(
        self, tx: Tx, requester: Requester, stored: StoredMemory
    ) -> tuple[WriteWarning, ...]:
        until = self._expiry.needed_extension(stored.memory)
        if until is None:
            return ()
        at = stored.memory.created_at
        approval = self._hooks.approvals.request(tx, requester, stored, until=until, at=at)
        return (WriteWarning("approval_required", f"approval {approval.id} is pending"),)


def _is_own_turn(requester: Requester, draft: MemoryDraft, place: TargetSpace) -> bool:
    """Are these messages that a user said themself, written by them into their own space? They
    concern nobody else, and who gives orders to their own assistant attacks nobody."""
    spoken = all(
        one.role is MessageRole.USER and one.user_id in (None, *requester.user_ids)
        for one in draft.messages
    )
    own = place.space.kind is SpaceKind.USER and place.space.id in requester.user_ids
    return bool(draft.messages) and spoken and own and draft.carried is None


def _is_privacy_set_by_subject(memory: Memory, draft: MemoryDraft) -> bool:
    """Whether a subject of the memory chose its sensitivity or `portable` explicitly."""
    if draft.carried is not None:
        return draft.carried.privacy_said
    is_set = draft.sensitivity is not None or draft.portable is not None
    return is_set and memory.stated_by is not None and memory.stated_by in memory.subjects


def _is_still_repeat(locked: StoredMemory, statement: StatementFacts) -> bool:
    active = locked.memory.status is MemoryStatus.ACTIVE
    return active and is_repeat(statement, statement_facts(locked.memory))


def _duplicate_id_error(memory_id: MemoryId) -> Conflict:
    details = {"reason": "duplicate_id", "id": memory_id}
    return Conflict("a memory with this id exists or existed", details=details)
