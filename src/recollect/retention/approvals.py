"""Approvals: requests to let a memory live past its PII cap, decided by an admin."""

from dataclasses import replace
from datetime import datetime

from recollect.audit.memory_recorder import (
    MemoryAudit,
    memory_payload,
    record_memory_event,
)
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.model import ServerRole
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict, NotFound
from recollect.kernel.ids import MemoryId
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.memories.expiry import (
    FOREVER,
    Approval,
    ApprovalStatus,
    approval_deadline,
    decide_approval,
)
from recollect.memories.model import (
    Memory,
    StoredMemory,
    VersionChange,
    is_expired,
)
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.retention.approvals_store import StoredApproval
from recollect.retention.commands import DecideApproval
from recollect.retention.store_bundle import RetentionStores

_LIST = "approvals"


class ApprovalService:
    """Requesters see their own requests, an admin sees all."""

    def __init__(
        self,
        context: ServiceContext[RetentionStores],
        audit: MemoryAudit,
        *,
        expiry: ExpiryCalculator,
        ttl_minutes: int,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._expiry = expiry
        self._ttl_minutes = ttl_minutes

    def request(
        self,
        tx: Tx,
        requester: Requester,
        stored: StoredMemory,
        *,
        until: datetime,
        at: datetime,
    ) -> Approval:
        """Insert a request, in the transaction of the write that needs it. `until` may be
        `FOREVER`."""
        memory = stored.memory
        approval = Approval(
            id=self._runtime.ids.new(),
            memory_id=memory.id,
            requested_by=requester.identity.spelling,
            requested_expires_at=until,
            valid_until=approval_deadline(at, memory.expires_at, ttl_minutes=self._ttl_minutes),
        )
        self._stores.approvals.insert(tx, StoredApproval(approval, at))
        record_memory_event(
            self._audit,
            tx,
            requester,
            event_type="approval.required",
            memory=memory,
            approval_id=approval.id,
            status=str(approval.status),
        )
        return approval

    async def get(self, requester: Requester, approval_id: str) -> Approval:
        """NotFound for others than the requester and admins."""
        filed = await self._database.read(
            lambda tx: self._fetch_visible(tx, requester, approval_id, lock=False)
        )
        return self._with_current_status(filed.approval)

    async def list(
        self,
        requester: Requester,
        *,
        status: ApprovalStatus | None,
        after: str | None,
        limit: int,
    ) -> Page[Approval]:
        """Newest first."""
        after_key = decode_key(_LIST, after) if after else None
        whose = None if requester.is_admin else requester.identity
        now = self._runtime.clock.now()
        found = await self._database.read(
            lambda tx: self._stores.approvals.page(
                tx, requester=whose, status=status, now=now, after=after_key, limit=limit + 1
            )
        )
        page = found[:limit]
        last = page[-1] if len(found) > limit else None
        cursor = encode_key(_LIST, last.created_at, last.approval.id) if last else None
        return Page([self._with_current_status(filed.approval) for filed in page], cursor)

    async def decide(
        self, requester: Requester, approval_id: str, command: DecideApproval, *, approve: bool
    ) -> Approval:
        """Store the decision; if approved, set the memory's expiry in the same transaction.
        Forbidden for the requester, Conflict if it is decided or expired, or the memory is."""
        operation = "approve" if approve else "deny"
        async with self._audit.audit_refusals(requester, operation):
            return await self._database.write(
                lambda tx: self._decide(tx, requester, approval_id, command, approve=approve)
            )

    def _decide(
        self,
        tx: Tx,
        requester: Requester,
        approval_id: str,
        command: DecideApproval,
        *,
        approve: bool,
    ) -> Approval:
        # The request is locked first, then its memory: two admins can't decide it both, and the
        # expiry can't change between the decision and the update.
        now = self._runtime.clock.now()
        filed = self._fetch_visible(tx, requester, approval_id, lock=True)
        by = requester.identity.spelling
        approval = decide_approval(filed.approval, by, now, approve=approve)
        stored = self._stores.memories.fetch(tx, MemoryId(approval.memory_id), lock=True)
        # The memory was deleted after the read above, and its approvals with it.
        if stored is None:
            raise NotFound("approval", approval_id)
        self._stores.approvals.decide(tx, approval, justification=command.justification)
        self._record_decision(
            tx, requester, approval, stored.memory, justification=command.justification
        )
        if approve:
            self._extend_expiry(tx, requester, stored, approval, now)
        return approval

    def _extend_expiry(
        self, tx: Tx, requester: Requester, before: StoredMemory, approval: Approval, now: datetime
    ) -> None:
        if is_expired(now, before.memory.expires_at):
            raise Conflict("the memory has expired", details={"reason": "wrong_state"})
        after = replace(
            self._raise_cap(before.memory, approval.requested_expires_at),
            version=before.memory.version + 1,
            updated_at=now,
        )
        self._stores.memories.update(
            tx, before, after, change=VersionChange.UPDATED, by=requester.identity, at=now
        )
        record_memory_event(
            self._audit,
            tx,
            requester,
            event_type="memory.update",
            memory=after,
            fields=["expires_at"],
            approval_id=approval.id,
        )

    def _raise_cap(self, memory: Memory, requested: datetime) -> Memory:
        """The memory with an expiry of at least `requested`, by the smallest change that gives it.

        First only the cap is raised. The memory's own TTL may still end earlier, because the PATCH
        that requested more was not applied until now; then `requested` becomes its explicit
        expiry. A retention policy limits that too; only then is the policy removed.
        """
        raised = replace(memory, approved_expires_at=requested)
        extended = replace(raised, explicit_expires_at=requested)
        for candidate in (raised, extended):
            changed = self._expiry.apply(candidate).memory
            if (changed.expires_at or FOREVER) >= requested:
                return changed
        return self._expiry.apply(replace(extended, retention_policy=None)).memory

    def _record_decision(
        self,
        tx: Tx,
        requester: Requester,
        approval: Approval,
        memory: Memory,
        *,
        justification: str | None,
    ) -> None:
        decided = {"approval_id": approval.id, "status": str(approval.status)}
        self._audit.record(
            tx,
            requester,
            "approval.updated",
            space=memory.space,
            memory_id=memory.id,
            agent_id=memory.agent_id,
            run_id=memory.run_id,
            role=ServerRole.ADMIN.value,
            justification=justification,
            payload=memory_payload(memory, self._audit.rules) | decided,
        )

    def _fetch_visible(
        self, tx: Tx, requester: Requester, approval_id: str, *, lock: bool
    ) -> StoredApproval:
        filed = self._stores.approvals.fetch(tx, approval_id, lock=lock)
        own = filed is not None and filed.approval.requested_by == requester.identity.spelling
        if filed is None or not (own or requester.is_admin):
            raise NotFound("approval", approval_id)
        return filed

    def _with_current_status(self, approval: Approval) -> Approval:
        return replace(approval, status=approval.effective_status(self._runtime.clock.now()))
