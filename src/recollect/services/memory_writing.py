"""The one way in which a memory comes to be stored: placed, screened, compared with what is known,
inserted, indexed, told. Everything happens in the caller's transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from recollect.domain.memories import Kind, Memory, MemoryId, Sensitivity, Status
from recollect.domain.reconcile import is_repeat
from recollect.domain.succession import Statement
from recollect.errors import Conflict
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.memory_hooks import (
    ApprovalRequests,
    GraphDrawing,
    MemoryIndexing,
    SubjectResolving,
)
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.drafts import Draft
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_events import tell_of
from recollect.services.memory_making import Making, fresh, moved
from recollect.services.memory_places import MemoryPlace, MemoryPlaces
from recollect.services.memory_succession import Succession, as_successor, check_replaceable
from recollect.services.memory_terms import Terms
from recollect.services.notices import TERM_IGNORED, Notice, clamped_notice, kept_notice
from recollect.services.repeat_marks import taken_over
from recollect.services.repeating import Repeating
from recollect.services.screening import Screened, Screening
from recollect.services.superseding import statement_of


class WriteStatus(StrEnum):
    """What became of a write. `queued` is `created` with an extraction job."""

    CREATED = "created"
    QUEUED = "queued"
    DUPLICATE = "duplicate"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class Written:
    """The row that holds what was written, and what became of the write."""

    stored: Stored
    status: WriteStatus
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Hooks:
    """What follows a write in its transaction, and whom it asks."""

    indexer: MemoryIndexing
    graph: GraphDrawing
    people: SubjectResolving
    approvals: ApprovalRequests


class MemoryWriter:
    """Writes screened drafts. The order of checks is that of the contract."""

    def __init__(
        self,
        stores: Stores,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        places: MemoryPlaces,
        screening: Screening,
        succession: Succession,
        terms: Terms,
        hooks: Hooks,
    ) -> None:
        self._stores = stores
        self._runtime = runtime
        self._audit = audit
        self._places = places
        self._screening = screening
        self._succession = succession
        self._terms = terms
        self._repeating = Repeating(stores, audit, terms)
        self._hooks = hooks

    def write(self, tx: Tx, requester: Requester, screened: Screened, *, at: datetime) -> Written:
        """Store a draft, or add to the statement that says the same already.

        NotFound, Forbidden, what screening refuses, and Conflict, in this order.
        """
        written = self._write(tx, requester, screened, at=at)
        if not screened.draft.term_ignored:
            return written
        return replace(written, warnings=(*written.warnings, TERM_IGNORED))

    def _write(self, tx: Tx, requester: Requester, screened: Screened, *, at: datetime) -> Written:
        draft, findings = screened.draft, screened.findings
        place = self._places.find(tx, requester, draft, at=at)
        olds = self._succession.named(tx, requester, draft.supersedes, now=at)
        self._screening.admit(
            findings,
            place.space.kind,
            sensitivity=draft.sensitivity or Sensitivity.PUBLIC,
            pii_tags=findings.tagged(draft.pii_tags),
        )
        check_replaceable(olds, draft.supersedes, place.space)
        self._check_id(tx, draft)
        new = self._new(tx, requester, screened, place=place, at=at)
        olds += self._succession.under_key(tx, requester, draft, space=place.space, now=at)
        if new.memory.status is Status.QUARANTINED:
            return self._set_aside(tx, requester, new, olds=olds)
        known = None if olds or draft.carried else self._known(tx, requester, new, at=at)
        if known is not None:
            return self._repeat(tx, requester, known, new=new, draft=draft)
        return self._store(tx, requester, screened, new=new, olds=olds)

    def _check_id(self, tx: Tx, draft: Draft) -> None:
        """The id of a removed memory that histories name stays taken: no link means two things."""
        if draft.id is not None and self._stores.memories.removals(tx, [draft.id]):
            raise _duplicate_id(draft.id)

    def _new(
        self,
        tx: Tx,
        requester: Requester,
        screened: Screened,
        *,
        place: MemoryPlace,
        at: datetime,
    ) -> Stored:
        """The row as it would be if there were no others."""
        draft, findings = screened.draft, screened.findings
        memory_id = draft.id or MemoryId(self._runtime.ids.new())
        making = Making(requester, draft, findings, place, memory_id, at)
        if draft.carried is not None:
            memory = moved(making, draft.carried.memory)
        else:
            chat_id = draft.learned_in
            people = self._hooks.people
            names = draft.subjects
            subjects = people.resolve(tx, requester, names, chat_id) if names else ()
            memory = fresh(making, subjects)
        if self._screening.is_suspect(findings):
            memory = replace(memory, status=Status.QUARANTINED)
        return Stored(
            memory=self._terms.settled(memory).memory,
            written_by=requester.who,
            bare_names=draft.carried.bare_names if draft.carried else (),
            privacy_said=_is_said_by_subject(memory, draft),
            suspicion=findings.suspicion.score,
            suspicion_reasons=findings.suspicion.reasons,
            folded=findings.folded,
        )

    def _set_aside(
        self, tx: Tx, requester: Requester, new: Stored, *, olds: Sequence[Stored]
    ) -> Written:
        """Stored, and in no read, index or graph before somebody releases it. It repeats nothing,
        and what it names to be replaced stays as it is until then."""
        named = tuple(old.memory.id for old in olds)
        new = replace(new, memory=replace(new.memory, supersedes=named))
        stored = self._insert(tx, requester, new)
        tell_of(
            self._audit,
            tx,
            requester,
            event_type="memory.quarantine",
            memory=stored.memory,
            score=stored.suspicion,
            reasons=list(stored.suspicion_reasons),
        )
        return Written(stored, WriteStatus.QUARANTINED, self._notices(stored))

    def _known(self, tx: Tx, requester: Requester, new: Stored, *, at: datetime) -> Stored | None:
        """The active statement of the space that says the same and is the writer's too, held."""
        if new.memory.kind is not Kind.STATEMENT:
            return None
        said = statement_of(new.memory)
        for one in self._stores.memories.find_same_text(tx, new, now=at):
            if one.bare_names or not is_repeat(said, statement_of(one.memory)):
                continue
            # Its text can change until its row is held.
            held = self._stores.memories.fetch(tx, one.memory.id, lock=True)
            if held is None or not _says_so_still(held, said):
                continue
            if self._succession.is_theirs(tx, requester, held):
                return held
        return None

    def _repeat(
        self, tx: Tx, requester: Requester, known: Stored, *, new: Stored, draft: Draft
    ) -> Written:
        taken = taken_over(known.memory, new.memory, draft)
        stored = self._repeating.add(
            tx,
            requester,
            known,
            said=new.memory,
            by=requester.who,
            at=new.memory.updated_at,
            taking=taken.memory,
        )
        asked = draft.explicit_expires_at is not None or draft.policy is not None
        notices = self._notices(stored) if asked else ()
        if taken.left:
            notices += (kept_notice(taken.left),)
        return Written(stored, WriteStatus.DUPLICATE, notices)

    def _store(
        self,
        tx: Tx,
        requester: Requester,
        screened: Screened,
        *,
        new: Stored,
        olds: Sequence[Stored],
    ) -> Written:
        draft, words = screened.draft, screened.findings.words
        if olds:
            new = as_successor(new, olds)
        stored = self._insert(tx, requester, new, moves=draft.carried is not None)
        self._succession.replace_all(tx, requester, stored, olds=olds, named=draft.supersedes)
        self._hooks.indexer.write(tx, stored, words)
        self._hooks.graph.draw(tx, stored)
        notices = self._notices(stored)
        if draft.request_approval:
            notices += self._approval(tx, requester, stored)
        return Written(stored, WriteStatus.CREATED, notices)

    def _insert(self, tx: Tx, requester: Requester, new: Stored, *, moves: bool = False) -> Stored:
        """The row and its event; of a move the event is the mover's."""
        stored = self._stores.memories.insert(tx, new)
        if stored is None:
            raise _duplicate_id(new.memory.id)
        if not moves:
            tell_of(
                self._audit,
                tx,
                requester,
                event_type="memory.write",
                memory=stored.memory,
                source=str(stored.memory.source),
                version=stored.memory.version,
            )
        return stored

    def _notices(self, stored: Stored) -> tuple[Notice, ...]:
        if not self._terms.settled(stored.memory).clamped:
            return ()
        return (clamped_notice(stored.memory.expiry_rule),)

    def _approval(self, tx: Tx, requester: Requester, stored: Stored) -> tuple[Notice, ...]:
        wish = self._terms.extension(stored.memory)
        if wish is None:
            return ()
        at = stored.memory.created_at
        approval = self._hooks.approvals.request(tx, requester, stored, wish=wish, at=at)
        return (Notice("approval_required", f"approval {approval.id} is pending"),)


def _is_said_by_subject(memory: Memory, draft: Draft) -> bool:
    """Whether somebody whom it is about says who may know it."""
    if draft.carried is not None:
        return draft.carried.privacy_said
    said = draft.sensitivity is not None or draft.portable is not None
    return said and memory.stated_by is not None and memory.stated_by in memory.subjects


def _says_so_still(held: Stored, said: Statement) -> bool:
    active = held.memory.status is Status.ACTIVE
    return active and is_repeat(said, statement_of(held.memory))


def _duplicate_id(memory_id: MemoryId) -> Conflict:
    details = {"reason": "duplicate_id", "id": memory_id}
    return Conflict("a memory with this id exists or existed", details=details)
