"""Parses a PATCH and computes the fields of the row after it. Pure, once subjects are resolved."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.domain.expiry import explicit_expiry, still_approved
from recollect.domain.memories import Memory, Sensitivity, render_record
from recollect.domain.memory_checks import check_content, check_loosening, check_record
from recollect.domain.pii import DETECTED
from recollect.domain.spaces import OPEN_KINDS
from recollect.errors import Forbidden
from recollect.policy.requesters import Requester
from recollect.ports.memories import Stored
from recollect.services.drafts import Members, cleaned_marks
from recollect.services.memory_making import at_least, may_loosen
from recollect.services.screening import Findings, Screening, Texts, without_personal
from recollect.services.superseding import check_own_word

_WISHES = ("ttl_seconds", "expires_at", "retention_policy")


@dataclass(frozen=True, slots=True)
class Told:
    """A memory and the snapshots of its earlier versions, newest first.

    `earlier` is empty where the patch removes no tag.
    """

    memory: Memory
    earlier: Sequence[Mapping[str, Any]]

    @property
    def chars(self) -> int:
        """Roughly the length of all texts, to decide whether to use a thread."""
        return sum(len(content or "") for content in (self.memory.content, *self._contents))

    @property
    def _contents(self) -> Iterable[str | None]:
        return (kept["content"] for kept in self.earlier)


@dataclass(frozen=True, slots=True)
class SeenTags:
    """The PII tags found in the texts of a memory, valid for one of its versions."""

    version: int
    found: frozenset[str]

    @classmethod
    def of(cls, told: "Told", sent: Collection[str]) -> "SeenTags":
        """Scan the present texts, then only those earlier versions that have a tag which would be
        removed and was not found yet: a scan of much text takes long."""
        memory = told.memory
        found = _found(Texts.of_memory(memory))
        for kept in told.earlier:
            # `-` binds tighter than `&`: tags of the memory that a detector may have set, that were
            # not sent, and that no text has shown so far.
            doubtful = DETECTED & {*memory.pii_tags} - {*sent} - found
            if doubtful & {*kept["pii_tags"]}:
                found |= _found(Texts.of_version(kept, memory.key))
        return cls(memory.version, frozenset(found))


@dataclass(frozen=True, slots=True)
class Patch:
    """A PATCH, validated and screened as far as that is possible without the row.

    `sent` maps field names to values; None clears a field. `explicit_expires_at` counts only if
    `ttl_seconds` or `expires_at` was sent. `seen` is set after the stored texts were scanned, which
    only a patch of `pii_tags` needs. `event_id` is the id for the audit event of the change.
    """

    sent: Mapping[str, Any]
    findings: Findings
    explicit_expires_at: datetime | None = None
    seen: SeenTags | None = None
    event_id: str | None = None

    @property
    def version(self) -> int | None:
        """The version that the caller expects, for optimistic locking; None if it was not sent."""
        return self.sent.get("version")

    @property
    def names(self) -> set[str]:
        """The sent fields, without `version`, which changes nothing."""
        return {*self.sent} - {"version"}

    def rewords(self, memory: Memory) -> bool:
        """Whether it changes the text or the value of the memory."""
        return any(
            name in self.sent and self.sent[name] != getattr(memory, name)
            for name in ("content", "value")
        )

    def tells_of_others(self, memory: Memory) -> bool:
        """Whether it changes the subjects of the memory."""
        return "subjects" in self.sent and {*self.sent["subjects"]} != {*memory.subjects}

    @property
    def tells_tags(self) -> bool:
        """Whether `pii_tags` were sent."""
        return "pii_tags" in self.sent

    def drops_tags_of(self, memory: Memory) -> bool:
        """Whether it removes a tag that a detector may have set."""
        return bool(DETECTED & {*memory.pii_tags} - {*self.sent["pii_tags"]})

    def has_seen(self, memory: Memory) -> bool:
        """Whether no scan is needed, or the scan was made of the memory's present version."""
        seen = self.seen
        return not self.tells_tags or (seen is not None and seen.version == memory.version)

    def looking_at(self, told: "Told") -> "Patch":
        """The patch with the tags that can't be removed."""
        return replace(self, seen=SeenTags.of(told, self.sent["pii_tags"]))

    @property
    def wishes(self) -> bool:
        """Whether it asks for an expiry or a retention policy."""
        return any(self.sent.get(name) is not None for name in _WISHES)


class Patches:
    """Makes a `ScreenedPatch` of the sent fields."""

    def __init__(self, screening: Screening) -> None:
        self._screening = screening

    def of(self, members: Members, now: datetime) -> Patch:
        """The patch; raises ValidationFailed for the first fault in it."""
        if "content" in members:
            check_content(members["content"])
        if "value" in members:
            check_record("key", members["value"])
        sent = {**members, **cleaned_marks(members)}
        findings = self._screening.look(_texts(sent))
        until = explicit_expiry(sent.get("ttl_seconds"), sent.get("expires_at"), counted_from=now)
        return Patch(sent, findings, until)


def _texts(sent: Members) -> Texts:
    """The sent texts alone: the others were screened when they were written."""
    value = sent.get("value")
    return Texts(
        content=sent.get("content", "") if value is None else render_record("", value),
        value=value,
        metadata=sent.get("metadata", {}),
        tags=sent.get("tags", ()),
        names=sent.get("subjects", ()),
    )


def plain_changes(before: Memory, patch: Patch) -> dict[str, Any]:
    """The changed fields that need no stored data, as they may be stored."""
    sent, texts = patch.sent, patch.findings.texts
    changes = {name: sent[name] for name in _AS_SENT if name in sent}
    changes |= {name: getattr(texts, name) for name in ("tags", "metadata") if name in sent}
    # A new text replaces the list of messages that the old one was rendered from.
    if "content" in sent:
        changes |= {"content": texts.content, "messages": ()}
    if "value" in sent and texts.value is not None:
        content = render_record(before.key or "", texts.value)
        changes |= {"value": texts.value, "content": content}
    if {"ttl_seconds", "expires_at"} & sent.keys():
        changes["explicit_expires_at"] = patch.explicit_expires_at
    # An approval to live past the cap was given for certain personal data. It ends if the patch
    # adds other tags.
    pii_tags = patch.findings.tagged(_told_tags(before, patch))
    approved = still_approved(before.approved_expires_at, before.pii_tags, pii_tags)
    return changes | {"pii_tags": pii_tags, "approved_expires_at": approved}


def _told_tags(before: Memory, patch: Patch) -> set[str]:
    """The tags of the row after the patch, without those found in the sent texts.

    A tag can't be removed while its data is in the row or in a version: readers of the history are
    audited by these tags, and caps on personal data follow from them.
    """
    if patch.seen is None:
        return {*before.pii_tags}
    return {*patch.sent["pii_tags"], *patch.seen.found}


def _found(texts: Texts) -> set[str]:
    _, fields = without_personal(texts)
    return {*fields}


def changed_sensitivity(before: Memory, requester: Requester, patch: Patch) -> Sensitivity:
    """The sensitivity after the patch, by the rules of a new memory (`builder.py`). A patch that
    does not send it never lowers it."""
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


def check_patch_of_own_word(before: Memory, requester: Requester, patch: Patch) -> None:
    """Raise Forbidden if the patch changes text or subjects of what somebody else said of
    themself."""
    if patch.rewords(before) or patch.tells_of_others(before):
        check_own_word(before, requester)


def check_patch_loosening(stored: Stored, requester: Requester, patch: Patch) -> None:
    """Raise Forbidden if somebody who is no subject makes the memory less private.

    The same goes for the subjects of a private memory: otherwise a caller could first make
    themself a subject and then lower the sensitivity. Unresolved names count as subjects who are
    not the caller.
    """
    before = stored.memory
    memory = replace(before, subjects=(*before.subjects, *stored.bare_names))
    portable = patch.sent.get("portable", before.portable)
    sensitivity = _said(before, patch)
    check_loosening(memory, requester.person_id, sensitivity=sensitivity, portable=portable)
    private = before.sensitivity is not Sensitivity.PUBLIC or not before.portable
    allowed = may_loosen(memory.subjects, requester.person_id)
    if "subjects" in patch.sent and private and not allowed:
        message = "only a subject of a private memory may change its subjects"
        raise Forbidden(message, code="subject_only")


_AS_SENT = ("type", "portable", "valid_from", "valid_until")
