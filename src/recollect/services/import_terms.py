"""What an imported line says of a memory's origin, privacy and term, and how much of it holds."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.domain.expiry import FOREVER, ApprovalStatus, Expiry, Life, lowered
from recollect.domain.injection import Suspicion
from recollect.domain.memories import Memory, Origin, Sensitivity, Status, Trust
from recollect.domain.memory_checks import check_observed
from recollect.domain.portable import LineType
from recollect.domain.portable_members import Values
from recollect.domain.spaces import OPEN_KINDS, ChatId, Space
from recollect.services.import_orders import Group
from recollect.services.memory_terms import Terms
from recollect.services.screening import Findings


def termed(terms: Terms, memory: Memory, values: Values) -> Memory:
    """The expiry that the line tells, under the cap; without one that of a write."""
    name, rules = memory.retention_policy, terms.rules
    if values["expires_at"] is None and values["expiry_rule"] is None:
        if name is not None:
            rules.policy(name, memory.space.scope)
        return terms.settled(memory).memory
    rule = values["expiry_rule"] or "explicit"
    kept = Expiry(values["expires_at"], rule, memory.requested_expires_at)
    policy = rules.policies.get(name) if name is not None else None
    term = lowered(kept, Life.of(memory, policy), rules)
    return replace(
        memory,
        expires_at=term.expires_at,
        expiry_rule=term.rule,
        requested_expires_at=term.requested_expires_at,
    )


def told(said: str | None, chat: str | None, origin: Origin, trust: Trust) -> dict[str, Any]:
    """Members of a memory that tell where it comes from."""
    learned = None if chat is None else ChatId(chat)
    return {"stated_by": said, "learned_in": learned, "origin": origin, "trust": trust}


def told_suspicion(values: Values) -> Suspicion:
    """What a line says of how its text was judged before."""
    return Suspicion(values["suspicion"] or 0.0, tuple(values["suspicion_reasons"] or ()))


def stored_status(sent: Status | None) -> Status:
    """A row is never stored as expired: its time tells."""
    return Status.ACTIVE if sent in (None, Status.EXPIRED) else Status(sent)


def lowest(space: Space, findings: Findings) -> Sensitivity:
    """How private a line is that doesn't say: as its words ask for. An open space lifts nothing."""
    return Sensitivity.PUBLIC if space.kind in OPEN_KINDS else findings.floor


def approved_until(group: Group) -> datetime | None:
    """How far past its cap somebody let it live, by the approvals that came with it."""
    approved = [
        line.values["requested_expires_at"] or FOREVER
        for line in group.behind
        if line.type is LineType.APPROVAL and line.values["status"] == ApprovalStatus.APPROVED
    ]
    said: datetime | None = group.head.values["approved_expires_at"]
    return (said or max(approved)) if approved else None


def check_times(members: Values, now: datetime) -> None:
    """Caps count from `created_at`: it can't lie ahead."""
    check_observed(members["observed_at"], now)
    check_observed(members["created_at"], now)
