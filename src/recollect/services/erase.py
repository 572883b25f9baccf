"""Requests to erase a person or a user: authorization, dry run, start, report, verification.

The transaction that accepts a request hides the people and their memories and queues the job;
`EraseJobs` does the rest. A report contains counts and never a name or an id of the person.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.domain.agents import Owner
from recollect.domain.disclosure import PersonId
from recollect.domain.erasure import (
    VERIFY_FOR,
    ErasureStatus,
    Report,
    Target,
    digest,
    mark,
    signature,
)
from recollect.domain.ids import UserId
from recollect.domain.jobs import NewJob
from recollect.domain.people import Person, normal_form
from recollect.errors import Conflict, Forbidden, NotFound
from recollect.policy.people import PersonView, may_erase
from recollect.policy.requesters import Requester
from recollect.ports.database import Database, Tx
from recollect.ports.erasures import Erasure
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.admin_gate import AdminGate
from recollect.services.erase_probes import Prober
from recollect.services.memory_audit import MemoryAudit
from recollect.services.naming import person_view, visible_person

ERASE = "erase"
_HASH_KEY = "erase_hash_key"


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseWish:
    """What a caller asks for; exactly one of `person_id` and `user_id` is set."""

    person_id: PersonId | None = None
    user_id: UserId | None = None
    dry_run: bool
    block_relearn: bool = False
    justification: str | None = None


@dataclass(frozen=True, slots=True)
class _Whom:
    """The human to erase: canonical person, their users, and the caller's role in the report."""

    person_id: PersonId | None
    user_ids: Sequence[UserId]
    role: str


class EraseService:
    """A person and the users linked to them are one human: either id erases both."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        gate: AdminGate,
        prober: Prober,
        signing_key: str | None,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._audit = audit
        self._gate = gate
        self._prober = prober
        self._key = signing_key

    async def erase(
        self, requester: Requester, wish: EraseWish, *, reserved_id: str | None = None
    ) -> Mapping[str, Any]:
        """Returns the report of a dry run, or of the erasure that has begun.

        `reserved_id` makes a repeated request idempotent: the second one finds the erasure and
        returns its report. Raises NotFound, Forbidden, or Conflict if a user's person is being
        erased already.
        """
        erasure_id = reserved_id or self._runtime.ids.new()
        await self._gate.admit(requester, "erase", wish.justification)
        async with self._audit.watching(requester, "erase"):
            if wish.dry_run:
                return await self._database.scan(
                    lambda tx: self._shown(self._planned(tx, requester, wish, erasure_id)[1])
                )
            return await self._database.write(
                lambda tx: self._begin(tx, requester, wish, erasure_id)
            )

    async def get(self, requester: Requester, erasure_id: str) -> Mapping[str, Any]:
        """The current report. NotFound unless the caller is an admin or the erased user."""
        found = await self._database.read(lambda tx: self._own(tx, requester, erasure_id))
        return self._shown(found.report)

    async def verify(
        self, requester: Requester, erasure_id: str, identifiers: Sequence[str]
    ) -> Mapping[str, Any]:
        """Search everything again for identifiers that the caller sends; they are not stored.

        Possible for 30 days after the end, Conflict otherwise. The result is returned and not
        saved. The stored target has no names any more, only chats, trees and memories to look in
        and hashes of ids: the caller has to bring the names.
        """
        found = await self._database.read(lambda tx: self._own(tx, requester, erasure_id))
        now = self._runtime.clock.now()
        if found.finished_at is None or now - found.finished_at > VERIFY_FOR:
            message = "an erasure can be verified once it is finished, for 30 days"
            raise Conflict(message, details={"reason": "wrong_state"})
        seen = await self._prober.probe(found.target.renamed(identifiers, erasure_id))
        status = ErasureStatus.INCOMPLETE if seen.count else ErasureStatus.DONE
        shown = dict(found.report) | {"status": str(status)} | seen.members()
        return self._shown(shown)

    def _own(self, tx: Tx, requester: Requester, erasure_id: str) -> Erasure:
        found = self._stores.erasures.fetch(tx, erasure_id)
        if found is None:
            raise NotFound("erasure", erasure_id)
        # A finished erasure has no ids: the erased user is recognized by the hash of their id.
        marks = {mark(erasure_id, id_) for id_ in requester.user_ids}
        if not (requester.admin or marks & set(found.target.marks)):
            raise NotFound("erasure", erasure_id)
        return found

    def _planned(
        self, tx: Tx, requester: Requester, wish: EraseWish, erasure_id: str
    ) -> tuple[Target, dict[str, Any]]:
        """The target and the first report. A dry run and a real one share this code."""
        whom = self._whom(tx, requester, wish)
        store = self._stores.erasures
        target = store.target_of(
            tx, person_id=whom.person_id, user_ids=whom.user_ids, stand_in=self._runtime.ids.new()
        )
        ids = (*target.person_ids, *target.user_ids)
        # The id of the erasure is the key: hashes of one erasure can't be compared with another's.
        target = replace(target, marks=tuple(sorted(mark(erasure_id, id_) for id_ in ids)))
        counts, joint = store.counts(tx, target)
        report = Report(
            id=erasure_id,
            status=ErasureStatus.PLANNED if wish.dry_run else ErasureStatus.RUNNING,
            dry_run=wish.dry_run,
            requested_by_role=whom.role,
            started_at=self._runtime.clock.now(),
            counts=counts,
            joint=joint,
        )
        return target, report.members()

    def _begin(
        self, tx: Tx, requester: Requester, wish: EraseWish, erasure_id: str
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
            return self._shown(known.report)
        target, report = self._planned(tx, requester, wish, erasure_id)
        store.memories.hide(tx, target, erasure_id)
        erasure = Erasure(erasure_id, ErasureStatus.RUNNING, now, None, target, report)
        store.insert(tx, erasure)
        if wish.block_relearn:
            store.block(tx, self._hashes(tx, target), erasure_id)
        self._tell(tx, requester, wish, target)
        self._stores.jobs.insert(
            tx, NewJob(ERASE, {"erasure_id": erasure_id}, now, f"{ERASE}:{erasure_id}")
        )
        return self._shown(report)

    def _whom(self, tx: Tx, requester: Requester, wish: EraseWish) -> _Whom:
        if wish.user_id is not None:
            return self._user(tx, requester, wish.user_id)
        person = self._person(tx, requester, PersonId(wish.person_id or ""))
        role = self._require(requester, person_view(person, frozenset()))
        return _Whom(person.id, person.user_ids, role)

    def _person(self, tx: Tx, requester: Requester, person_id: PersonId) -> Person:
        """An admin may name any person, others only people they can see."""
        if not requester.admin:
            return visible_person(tx, self._stores, requester, person_id)
        person = self._stores.people.fetch(tx, person_id)
        if person is None:
            raise NotFound("person", person_id)
        return person

    def _user(self, tx: Tx, requester: Requester, user_id: UserId) -> _Whom:
        """Authorize first, then look the user up: others than an admin must not learn whether a
        user exists. Conflict if the linked person is being erased already."""
        owner = Owner.user(user_id)
        role = self._require(requester, PersonView(owner, frozenset({user_id})))
        if not self._stores.erasures.knows_user(tx, user_id):
            raise NotFound("user", user_id)
        linked = self._stores.people.people_of(tx, [user_id]).get(user_id)
        person = None if linked is None else self._stores.erasures.canonical(tx, linked)
        if linked is not None and person is None:
            message = "user_id: is being erased already"
            raise Conflict(message, details={"reason": "wrong_state"})
        return _Whom(person, [user_id], role)

    def _require(self, requester: Requester, view: PersonView) -> str:
        """Returns the role that allows it, for the report; raises Forbidden."""
        decision = may_erase(requester.caller, view)
        if not decision.allowed:
            raise Forbidden(f"not allowed: {decision.rule}", code="not_owner")
        return "admin" if decision.rule == "admin" else "person"

    def _hashes(self, tx: Tx, target: Target) -> list[str]:
        """Keyed hashes of handles and user ids, for the list of what must not be learned again."""
        key = hash_key(tx, self._stores)
        return [mark(key, normal_form(one)) for one in (*target.handles, *target.user_ids)]

    def _tell(self, tx: Tx, requester: Requester, wish: EraseWish, target: Target) -> None:
        """Write the audit event. The job replaces the ids in it when it redacts events."""
        self._audit.record(
            tx,
            requester,
            "erase.request",
            payload={"person_ids": list(target.person_ids)},
            target_user_id=target.user_ids[0] if target.user_ids else None,
            justification=wish.justification,
        )

    def _shown(self, members: Mapping[str, Any]) -> Mapping[str, Any]:
        """The report with digest and signature, computed at each read and not stored."""
        signed = signature(members, self._key)
        return {**members, "digest": digest(members), "signature": signed}


def hash_key(tx: Tx, stores: Stores) -> str:
    """The secret for hashes of blocked handles; created at first use."""
    known = stores.maintenance.fetch_state(tx, _HASH_KEY)
    if known is None:
        known = secrets.token_hex(32)
        stores.maintenance.put_state(tx, _HASH_KEY, known)
    return known


def is_blocked(tx: Tx, stores: Stores, handles: Sequence[str]) -> bool:
    """Is one of these handles blocked by an erasure with `block_relearn`?"""
    key = stores.maintenance.fetch_state(tx, _HASH_KEY)
    if key is None or not handles:
        return False
    return stores.erasures.is_blocked(tx, [mark(key, normal_form(one)) for one in handles])
