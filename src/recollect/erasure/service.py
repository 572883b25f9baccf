"""Requests to erase a person or a user: authorization, dry run, start, report, verification.

The transaction that accepts a request hides the people and their memories and queues the job;
`EraseJobs` does the rest. A report contains counts and never a name or an id of the person.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.audit.gate import AdminGate
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.erasure.commands import StartErasure, VerifyErasure
from recollect.erasure.model import (
    VERIFY_WINDOW,
    ErasureReport,
    ErasureStatus,
    ErasureTarget,
    digest,
    keyed_hash,
    signature,
)
from recollect.erasure.plan import Erasure
from recollect.erasure.store.bundle import ErasureStores
from recollect.erasure.verify import ErasureVerifier
from recollect.identity.requester import Requester
from recollect.jobs.model import NewJob
from recollect.kernel.errors import Conflict, NotFound
from recollect.kernel.ids import PersonId, UserId
from recollect.kernel.owner import Owner
from recollect.people.model import Person, normal_form
from recollect.people.name_candidates import person_view, visible_person
from recollect.people.policy import PersonView, may_erase

ERASE_JOB = "erase"
_HASH_KEY = "erase_hash_key"


@dataclass(frozen=True, slots=True)
class _EraseSubject:
    """The human to erase: canonical person, their users, and the caller's role in the report."""

    person_id: PersonId | None
    user_ids: Sequence[UserId]
    role: str


class EraseService:
    """A person and the users linked to them are one human: either id erases both."""

    def __init__(
        self,
        context: ServiceContext[ErasureStores],
        audit: MemoryAudit,
        *,
        gate: AdminGate,
        verifier: ErasureVerifier,
        signing_key: str | None,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._gate = gate
        self._verifier = verifier
        self._key = signing_key

    async def erase(
        self, requester: Requester, command: StartErasure, *, reserved_id: str | None = None
    ) -> Mapping[str, Any]:
        """Returns the report of a dry run, or of the erasure that has begun.

        `reserved_id` makes a repeated request idempotent: the second one finds the erasure and
        returns its report. Raises NotFound, Forbidden, or Conflict if a user's person is being
        erased already.
        """
        erasure_id = reserved_id or self._runtime.ids.new()
        await self._gate.admit(requester, "erase", command.justification)
        async with self._audit.audit_refusals(requester, "erase"):
            if command.dry_run:
                return await self._database.scan(
                    lambda tx: self._sign_report(
                        self._plan_erasure(tx, requester, command, erasure_id)[1]
                    )
                )
            return await self._database.write(
                lambda tx: self._begin_erasure(tx, requester, command, erasure_id)
            )

    async def get(self, requester: Requester, erasure_id: str) -> Mapping[str, Any]:
        """The current report. NotFound unless the caller is an admin or the erased user."""
        found = await self._database.read(lambda tx: self._fetch_owned(tx, requester, erasure_id))
        return self._sign_report(found.report)

    async def verify(
        self, requester: Requester, erasure_id: str, command: VerifyErasure
    ) -> Mapping[str, Any]:
        """Search everything again for identifiers that the caller sends; they are not stored.

        Possible for 30 days after the end, Conflict otherwise. The result is returned and not
        saved. The stored target has no names any more, only chats, trees and memories to look in
        and hashes of ids: the caller has to bring the names.
        """
        found = await self._database.read(lambda tx: self._fetch_owned(tx, requester, erasure_id))
        now = self._runtime.clock.now()
        if found.finished_at is None or now - found.finished_at > VERIFY_WINDOW:
            message = "an erasure can be verified once it is finished, for 30 days"
            raise Conflict(message, details={"reason": "wrong_state"})
        target = found.target.with_identifiers(command.identifiers, erasure_id)
        verified = await self._verifier.verify(target)
        status = ErasureStatus.INCOMPLETE if verified.count else ErasureStatus.DONE
        return self._sign_report(dict(found.report) | {"status": str(status)} | verified.to_json())

    def _fetch_owned(self, tx: Tx, requester: Requester, erasure_id: str) -> Erasure:
        found = self._stores.erasures.fetch(tx, erasure_id)
        if found is None:
            raise NotFound("erasure", erasure_id)
        # A finished erasure has no ids: the erased user is recognized by the hash of their id.
        marks = {keyed_hash(erasure_id, id_) for id_ in requester.user_ids}
        if not (requester.is_admin or marks & set(found.target.marks)):
            raise NotFound("erasure", erasure_id)
        return found

    def _plan_erasure(
        self, tx: Tx, requester: Requester, command: StartErasure, erasure_id: str
    ) -> tuple[ErasureTarget, dict[str, Any]]:
        """The target and the first report. A dry run and a real one share this code."""
        subject = self._resolve_subject(tx, requester, command)
        store = self._stores.erasures
        target = store.find_target(
            tx,
            person_id=subject.person_id,
            user_ids=subject.user_ids,
            stand_in=self._runtime.ids.new(),
        )
        ids = (*target.person_ids, *target.user_ids)
        # The id of the erasure is the key: hashes of one erasure can't be compared with another's.
        target = replace(target, marks=tuple(sorted(keyed_hash(erasure_id, id_) for id_ in ids)))
        counts, joint = store.count_linked(tx, target)
        report = ErasureReport(
            id=erasure_id,
            status=ErasureStatus.PLANNED if command.dry_run else ErasureStatus.RUNNING,
            dry_run=command.dry_run,
            requested_by_role=subject.role,
            started_at=self._runtime.clock.now(),
            counts=counts,
            joint=joint,
        )
        return target, report.to_json()

    def _begin_erasure(
        self, tx: Tx, requester: Requester, command: StartErasure, erasure_id: str
    ) -> Mapping[str, Any]:
        """Accept a request, all in one transaction.

        Hiding sets `erasure_id` on memories and people. Every read of these filters on it, so none
        is returned from the commit on, however long the job takes. Conversations have no such mark:
        their entries are readable until the job has redacted them. If the transaction rolls back,
        neither the marks nor the job nor the audit event exist.
        """
        store, now = self._stores.erasures, self._runtime.clock.now()
        known = store.fetch(tx, erasure_id)
        if known is not None:
            return self._sign_report(known.report)
        target, report = self._plan_erasure(tx, requester, command, erasure_id)
        store.memories.hide_linked(tx, target, erasure_id)
        erasure = Erasure(erasure_id, ErasureStatus.RUNNING, now, None, target, report)
        store.insert(tx, erasure)
        if command.block_relearn:
            # Keyed hashes: the list of what must not be learned again names nobody.
            key = ensure_hash_key(tx, self._stores)
            handles = (*target.handles, *target.user_ids)
            hashes = [keyed_hash(key, normal_form(one)) for one in handles]
            store.block_handles(tx, hashes, erasure_id)
        self._record_request(tx, requester, command, target)
        self._stores.jobs.insert(
            tx, NewJob(ERASE_JOB, {"erasure_id": erasure_id}, now, f"{ERASE_JOB}:{erasure_id}")
        )
        return self._sign_report(report)

    def _resolve_subject(
        self, tx: Tx, requester: Requester, command: StartErasure
    ) -> _EraseSubject:
        if command.user_id is not None:
            return self._resolve_user(tx, requester, UserId(command.user_id))
        person = self._fetch_person(tx, requester, PersonId(command.person_id or ""))
        role = self._authorize(requester, person_view(person, frozenset()))
        return _EraseSubject(person.id, person.user_ids, role)

    def _fetch_person(self, tx: Tx, requester: Requester, person_id: PersonId) -> Person:
        """An admin may name any person, others only people they can see."""
        if not requester.is_admin:
            return visible_person(tx, self._stores, requester, person_id)
        person = self._stores.people.fetch(tx, person_id)
        if person is None:
            raise NotFound("person", person_id)
        return person

    def _resolve_user(self, tx: Tx, requester: Requester, user_id: UserId) -> _EraseSubject:
        """Authorize first, then look the user up: others than an admin must not learn whether a
        user exists. Conflict if the linked person is being erased already."""
        owner = Owner.user(user_id)
        role = self._authorize(requester, PersonView(owner, frozenset({user_id})))
        if not self._stores.erasures.has_user(tx, user_id):
            raise NotFound("user", user_id)
        linked = self._stores.people.people_by_user(tx, [user_id]).get(user_id)
        person = None if linked is None else self._stores.erasures.resolve_person(tx, linked)
        if linked is not None and person is None:
            message = "user_id: is being erased already"
            raise Conflict(message, details={"reason": "wrong_state"})
        return _EraseSubject(person, [user_id], role)

    def _authorize(self, requester: Requester, view: PersonView) -> str:
        """Returns the role that allows it, for the report; raises Forbidden."""
        decision = may_erase(requester.space_caller, view)
        decision.require_allowed()
        return "admin" if decision.rule == "admin" else "person"

    def _record_request(
        self, tx: Tx, requester: Requester, command: StartErasure, target: ErasureTarget
    ) -> None:
        """Write the audit event. The job replaces the ids in it when it redacts events."""
        self._audit.record(
            tx,
            requester,
            "erase.request",
            payload={"person_ids": list(target.person_ids)},
            target_user_id=target.user_ids[0] if target.user_ids else None,
            justification=command.justification,
        )

    def _sign_report(self, report: Mapping[str, Any]) -> Mapping[str, Any]:
        """The report with digest and signature, computed at each read and not stored."""
        signed = signature(report, self._key)
        return {**report, "digest": digest(report), "signature": signed}


def ensure_hash_key(tx: Tx, stores: ErasureStores) -> str:
    """The secret for hashes of blocked handles; created at first use."""
    known = stores.maintenance.fetch_state(tx, _HASH_KEY)
    if known is None:
        known = secrets.token_hex(32)
        stores.maintenance.put_state(tx, _HASH_KEY, known)
    return known


def has_blocked_handle(tx: Tx, stores: ErasureStores, handles: Sequence[str]) -> bool:
    """Is one of these handles blocked by an erasure with `block_relearn`?"""
    key = stores.maintenance.fetch_state(tx, _HASH_KEY)
    if key is None or not handles:
        return False
    return stores.erasures.is_blocked(tx, [keyed_hash(key, normal_form(one)) for one in handles])
