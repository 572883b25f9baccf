"""Quarantine: memories whose text looks like prompt injection are listed, released or rejected by
those who may write their space, or by an admin."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from recollect.domain.expiry import is_due
from recollect.domain.memories import Memory, MemoryId, Sensitivity, Status, Trust
from recollect.domain.pages import Page, decode_key, encode_key
from recollect.domain.spaces import check_content_fits
from recollect.errors import Conflict, NotFound
from recollect.policy.requesters import Requester
from recollect.policy.sight import Sight
from recollect.ports.database import Database, Tx
from recollect.ports.memories import Change, Stored
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.admin_gate import AdminGate
from recollect.services.filters import Filters, chosen_by
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_events import memory_payload
from recollect.services.memory_succession import as_successor
from recollect.services.memory_writing import Hooks
from recollect.services.secret_check import refuse_secrets
from recollect.services.sights import Sights
from recollect.services.wishes import Wishes

_LIST = "quarantine"
_REASON = "an admin looks after what is quarantined"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class QuarantinePage:
    """A page of quarantined rows, and the time they were read at."""

    page: Page[Stored]
    now: datetime


class QuarantineService:
    """Writers of a space handle its rows, an admin all. For others the rows don't exist."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        access: MemoryAccess,
        sights: Sights,
        hooks: Hooks,
        gate: AdminGate,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._audit = audit
        self._access = access
        self._sights = sights
        self._hooks = hooks
        self._gate = gate
        self._wishes = Wishes(stores, audit)

    async def list(
        self, requester: Requester, filters: Filters, *, after: str | None, limit: int
    ) -> QuarantinePage:
        """Newest first."""
        place = decode_key(_LIST, after) if after else None

        def work(tx: Tx) -> QuarantinePage:
            sight = self._sight(tx, requester)
            known_to = None if requester.admin else requester
            asked = chosen_by(tx, self._stores, filters, known_to=known_to)
            chosen = replace(asked, statuses=(Status.QUARANTINED,))
            found = self._stores.keeping.quarantined(
                tx, sight, chosen, after=place, limit=limit + 1
            )
            shown = found[:limit]
            cursor = _cursor(shown[-1]) if len(found) > limit else None
            return QuarantinePage(Page(shown, cursor), sight.now)

        return await self._database.read(work)

    async def release(
        self, requester: Requester, memory_id: MemoryId, *, note: str | None
    ) -> tuple[Stored, datetime]:
        """Make the memory active, with trust `unknown`: its author may mean to deceive.

        What the write wanted to supersede is superseded now, if it has not changed since. Raises
        an error and changes nothing if the space does not take such content (such as critical
        personal data in a public space); Conflict unless it is quarantined.
        """

        def work(tx: Tx, now: datetime) -> tuple[Stored, datetime]:
            before = self._held(tx, requester, memory_id, now)
            self._check_fits(before.memory)
            # What the write wanted to supersede, as far as it still may; the others lose their
            # link. So `predecessors` is read after this, and gives what remains.
            olds = self._wishes.met(tx, before.memory, now=now)
            replaced = self._stores.memories.predecessors(tx, [memory_id])
            after = replace(
                as_successor(before, olds).memory if olds else before.memory,
                supersedes=tuple(replaced.get(memory_id, ())),
                status=Status.ACTIVE,
                trust=Trust.UNKNOWN,
                version=before.memory.version + 1,
                updated_at=now,
            )
            by = requester.who
            stored = self._stores.memories.update(
                tx, before, after, change=Change.UPDATED, by=by, at=now
            )
            self._wishes.replace(tx, requester, after, olds=olds, now=now)
            self._hooks.indexer.write(tx, stored)
            self._hooks.graph.draw(tx, stored)
            self._tell(tx, requester, "memory.release", stored=stored, note=note)
            return stored, now

        return await self._decide(requester, "releaseMemory", memory_id, note=note, work=work)

    async def reject(self, requester: Requester, memory_id: MemoryId, *, note: str | None) -> None:
        """Delete the memory. Conflict unless it is quarantined."""

        def work(tx: Tx, now: datetime) -> None:
            stored = self._held(tx, requester, memory_id, now)
            # Cut the links first: a deleted memory must not appear as successor in a history.
            self._wishes.drop(tx, stored.memory, now=now)
            self._stores.memories.delete(tx, memory_id, at=now)
            self._tell(tx, requester, "memory.reject", stored=stored, note=note)

        await self._decide(requester, "rejectMemory", memory_id, note=note, work=work)

    async def _decide(
        self,
        requester: Requester,
        operation: str,
        memory_id: MemoryId,
        *,
        note: str | None,
        work: Callable[[Tx, datetime], T],
    ) -> T:
        now = self._runtime.clock.now()
        async with self._audit.watching(requester, operation, memory_id=memory_id):
            # Before anything is written: the note goes into the audit log.
            refuse_secrets(note=note)
            await self._gate.admit(requester, operation, note)
            return await self._database.write(lambda tx: work(tx, now))

    def _sight(self, tx: Tx, requester: Requester) -> Sight:
        if requester.admin:
            return Sight.whole(_REASON, self._runtime.clock.now())
        return self._sights.of(tx, requester)

    def _held(self, tx: Tx, requester: Requester, memory_id: MemoryId, now: datetime) -> Stored:
        """The locked row. NotFound or Forbidden if the caller may not write it, NotFound if it has
        expired, Conflict if it is not quarantined."""
        stored = self._for_admin(tx, memory_id) if requester.admin else None
        if stored is None:
            stored = self._access.to_change(tx, requester, memory_id)
        if is_due(now, stored.memory.expires_at):
            raise NotFound("memory", memory_id)
        if stored.memory.status is not Status.QUARANTINED:
            message = f"the memory is {stored.memory.status}; only a quarantined one can be decided"
            raise Conflict(message, details={"reason": "wrong_state"})
        return stored

    def _check_fits(self, memory: Memory) -> None:
        public = memory.sensitivity is Sensitivity.PUBLIC
        critical = self._audit.rules.is_critical(memory.pii_tags)
        check_content_fits(memory.space.kind, public=public, critical_pii=critical)

    def _for_admin(self, tx: Tx, memory_id: MemoryId) -> Stored | None:
        """Any row but one that is being erased."""
        stored = self._stores.memories.fetch(tx, memory_id, lock=True)
        return None if stored is None or stored.erasure_id is not None else stored

    def _tell(
        self,
        tx: Tx,
        requester: Requester,
        event_type: str,
        *,
        stored: Stored,
        note: str | None,
    ) -> None:
        memory = stored.memory
        self._audit.record(
            tx,
            requester,
            event_type,
            space=memory.space,
            payload=memory_payload(memory, self._audit.rules),
            memory_id=memory.id,
            agent_id=memory.agent_id,
            run_id=memory.run_id,
            justification=note,
        )


def _cursor(stored: Stored) -> str:
    return encode_key(_LIST, stored.memory.created_at, stored.memory.id)
