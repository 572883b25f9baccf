"""Rules for single fields of an imported memory: expiry, status, sensitivity, provenance."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.identity.requester import Requester
from recollect.kernel.ids import ChatId
from recollect.kernel.space import OPEN_KINDS, Space
from recollect.memories.expiry import (
    FOREVER,
    ApprovalStatus,
    Expiry,
    ExpiryInputs,
    apply_pii_cap,
)
from recollect.memories.model import (
    Memory,
    MemoryOrigin,
    MemoryStatus,
    Sensitivity,
    TrustLevel,
)
from recollect.memories.validation import check_observed_at
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.sensitivity import SensitivityFloors, sensitivity_of_write
from recollect.portability.fields import LineValues
from recollect.portability.import_model import LineGroup
from recollect.portability.lines import LineType
from recollect.screening.injection import InjectionScore


def apply_expiry(expiry: ExpiryCalculator, memory: Memory, values: LineValues) -> Memory:
    """The memory with the expiry of its line, lowered to the cap. A line without expiry and rule is
    treated like a write: the policy must exist and allow the scope, and defaults apply.

    A line with an expiry may name a policy that this server doesn't have: what was promised where
    it comes from still holds, and only the caps of personal data apply.
    """
    name, rules = memory.retention_policy, expiry.rules
    if values["expires_at"] is None and values["expiry_rule"] is None:
        if name is not None:
            rules.require_policy(name, memory.space.scope)
        return expiry.apply(memory).memory
    rule = values["expiry_rule"] or "explicit"
    kept = Expiry(values["expires_at"], rule, memory.requested_expires_at)
    policy = rules.policies.get(name) if name is not None else None
    term = apply_pii_cap(kept, ExpiryInputs.from_memory(memory, policy), rules)
    return replace(
        memory,
        expires_at=term.expires_at,
        expiry_rule=term.rule,
        requested_expires_at=term.requested_expires_at,
    )


def provenance_fields(
    stated_by: str | None, chat: ChatId | None, origin: MemoryOrigin, trust: TrustLevel
) -> dict[str, Any]:
    """The fields of a memory that say who stated it and where."""
    return {"stated_by": stated_by, "learned_in": chat, "origin": origin, "trust": trust}


def line_suspicion(values: LineValues) -> InjectionScore:
    """The injection score that the line carries from the server it was exported by."""
    return InjectionScore(values["suspicion"] or 0.0, tuple(values["suspicion_reasons"] or ()))


def stored_status(sent: MemoryStatus | None) -> MemoryStatus:
    """The status to store. `expired` is never stored: reads compute it from `expires_at`."""
    return MemoryStatus.ACTIVE if sent in (None, MemoryStatus.EXPIRED) else MemoryStatus(sent)


def imported_sensitivity(
    values: LineValues, floors: SensitivityFloors, space: Space, requester: Requester
) -> Sensitivity:
    """The sensitivity of a line, by the rules of a write. An admin's line is taken as it is, except
    that in an open space only what a subject chose counts against the words of the texts."""
    sent, kind = values["sensitivity"], space.kind
    if (
        requester.is_admin
        and sent is not None
        and (values["privacy_said"] or kind not in OPEN_KINDS)
    ):
        return Sensitivity(sent)
    return sensitivity_of_write(
        sent,
        floors.lowest_in(kind),
        kind=kind,
        # A name that means nobody here is a subject too, and not the importer.
        subjects=(*values["subjects"], *values["bare_names"]),
        person_id=requester.person_id,
    )


def approved_expiry(group: LineGroup) -> datetime | None:
    """Until when approvals let the memory outlive its cap; None without an approved one. The
    `approved_expires_at` of the line alone does not count: an approval has to come with it."""
    approved = [
        line.values["requested_expires_at"] or FOREVER
        for line in group.behind
        if line.type is LineType.APPROVAL and line.values["status"] == ApprovalStatus.APPROVED
    ]
    stated_by: datetime | None = group.head.values["approved_expires_at"]
    return (stated_by or max(approved)) if approved else None


def check_times(members: LineValues, now: datetime) -> None:
    """ValidationFailed if a time lies in the future. Caps of personal data count from `created_at`,
    so a later one would extend them."""
    check_observed_at(members["observed_at"], now)
    check_observed_at(members["created_at"], now)
