"""What a PATCH says, and what it makes of a row: pure, once people are known."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.domain.expiry import explicit_expiry, still_approved
from recollect.domain.memories import Kind, Memory, Sensitivity, render_record
from recollect.domain.memory_checks import check_content, check_loosening, check_record
from recollect.domain.spaces import OPEN_KINDS
from recollect.errors import Forbidden
from recollect.policy.requesters import Requester
from recollect.ports.memories import Stored
from recollect.services.drafts import Members, cleaned_marks
from recollect.services.memory_making import at_least, may_loosen
from recollect.services.screening import Findings, Screening, Texts, without_personal

_WISHES = ("ttl_seconds", "expires_at", "retention_policy")


@dataclass(frozen=True, slots=True)
class Patch:
    """What is to change, checked and screened as far as it can be without the row.

    `sent` has the members by their names; null clears. `explicit_expires_at` counts only where a
    term was sent.
    """

    sent: Mapping[str, Any]
    findings: Findings
    explicit_expires_at: datetime | None = None

    @property
    def version(self) -> int | None:
        """The version that the caller has seen."""
        return self.sent.get("version")

    @property
    def names(self) -> set[str]:
        """The members that change something."""
        return {*self.sent} - {"version"}

    @property
    def wishes(self) -> bool:
        """Does it ask for a term?"""
        return any(self.sent.get(name) is not None for name in _WISHES)


class Patches:
    """Makes patches of what was sent."""

    def __init__(self, screening: Screening) -> None:
        self._screening = screening

    def of(self, members: Members, now: datetime) -> Patch:
        """The patch, or the first thing that is wrong with it."""
        if "content" in members:
            check_content(members["content"])
        if "value" in members:
            check_record("key", members["value"])
        sent = {**members, **cleaned_marks(members)}
        findings = self._screening.look(_texts(sent))
        until = explicit_expiry(sent.get("ttl_seconds"), sent.get("expires_at"), counted_from=now)
        return Patch(sent, findings, until)


def _texts(sent: Members) -> Texts:
    """Only what was sent: the rest was looked at when it came."""
    value = sent.get("value")
    return Texts(
        content=sent.get("content", "") if value is None else render_record("", value),
        value=value,
        metadata=sent.get("metadata", {}),
        tags=sent.get("tags", ()),
        names=sent.get("subjects", ()),
    )


def plain_changes(before: Memory, patch: Patch) -> dict[str, Any]:
    """The members that need nobody else to be known, as they may be stored."""
    sent, texts = patch.sent, patch.findings.texts
    changes = {name: sent[name] for name in _AS_SENT if name in sent}
    changes |= {name: getattr(texts, name) for name in ("tags", "metadata") if name in sent}
    if "content" in sent:
        changes |= {"content": texts.content, "messages": ()}
    if "value" in sent and texts.value is not None:
        content = render_record(before.key or "", texts.value)
        changes |= {"value": texts.value, "content": content}
    if {"ttl_seconds", "expires_at"} & sent.keys():
        changes["explicit_expires_at"] = patch.explicit_expires_at
    pii_tags = patch.findings.tagged(_told_tags(before, sent))
    approved = still_approved(before.approved_expires_at, before.pii_tags, pii_tags)
    return changes | {"pii_tags": pii_tags, "approved_expires_at": approved}


def _told_tags(before: Memory, sent: Members) -> set[str]:
    """The tags that the row has or is to have; those of what stays in it can't be taken away."""
    if "pii_tags" not in sent:
        return {*before.pii_tags}
    _, found = without_personal(_kept(before, sent))
    return {*sent["pii_tags"], *found}


def _kept(before: Memory, sent: Members) -> Texts:
    """What is not replaced. A record's key never is."""
    told = "content" in sent or "value" in sent
    value = {} if told and before.kind is Kind.RECORD else before.value
    return Texts(
        content="" if told else before.content,
        key=before.key,
        value=value,
        messages=() if told else before.messages,
        metadata={} if "metadata" in sent else before.metadata,
        tags=() if "tags" in sent else before.tags,
    )


def changed_sensitivity(before: Memory, requester: Requester, patch: Patch) -> Sensitivity:
    """As `memory_making` tells for a new memory; nobody's silence lowers it."""
    lowest = patch.findings.floor
    said = _said(before, patch)
    if before.space.kind in OPEN_KINDS:
        return said
    explicit = "sensitivity" in patch.sent
    if explicit and may_loosen(before.subjects, requester.person_id):
        return said
    return at_least(said, lowest)


def _said(before: Memory, patch: Patch) -> Sensitivity:
    sent: Sensitivity | None = patch.sent.get("sensitivity", before.sensitivity)
    return sent or Sensitivity.PUBLIC


def check_patch_loosening(stored: Stored, requester: Requester, patch: Patch) -> None:
    """Less privacy is for a subject to give; so is, of what is private, another list of subjects,
    else one could first become one. A subject whom nobody could resolve is nobody who asks."""
    before = stored.memory
    memory = replace(before, subjects=(*before.subjects, *stored.bare_names))
    portable = patch.sent.get("portable", before.portable)
    sensitivity = _said(before, patch)
    check_loosening(memory, requester.person_id, sensitivity=sensitivity, portable=portable)
    private = before.sensitivity is not Sensitivity.PUBLIC or not before.portable
    allowed = may_loosen(memory.subjects, requester.person_id)
    if "subjects" in patch.sent and private and not allowed:
        message = "only a person whom it is about may say whom a private memory is about"
        raise Forbidden(message, code="subject_only")


_AS_SENT = ("type", "portable", "valid_from", "valid_until")
