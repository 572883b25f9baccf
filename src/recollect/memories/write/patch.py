"""Parses a PATCH and computes the fields of the row after it. Pure, once subjects are resolved."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.identity.requester import Requester
from recollect.kernel.errors import Forbidden
from recollect.kernel.space import OPEN_KINDS
from recollect.memories.expiry import explicit_expiry, surviving_approval
from recollect.memories.model import (
    Memory,
    Sensitivity,
    StoredMemory,
    render_record,
)
from recollect.memories.supersede.apply import check_self_statement
from recollect.memories.validation import (
    check_content,
    check_loosening,
    check_record,
)
from recollect.memories.write.builder import may_loosen, stricter_sensitivity
from recollect.memories.write.draft import SentFields, clean_fields
from recollect.memories.write.screen import (
    MemoryTexts,
    ScreeningReport,
    ScreeningService,
    redact_personal,
)
from recollect.screening.pii import DETECTED_TAGS

_EXPIRY_FIELDS = ("ttl_seconds", "expires_at", "retention_policy")


@dataclass(frozen=True, slots=True)
class PreviousText:
    """A memory and the snapshots of its earlier versions, newest first.

    `earlier` is empty where the patch removes no tag.
    """

    memory: Memory
    earlier: Sequence[Mapping[str, Any]]

    @property
    def chars(self) -> int:
        """Roughly the length of all texts, to decide whether to use a thread."""
        return sum(len(content or "") for content in (self.memory.content, *self._earlier_contents))

    @property
    def _earlier_contents(self) -> Iterable[str | None]:
        return (kept["content"] for kept in self.earlier)


@dataclass(frozen=True, slots=True)
class DetectedTags:
    """The PII tags found in the texts of a memory, valid for one of its versions."""

    version: int
    found: frozenset[str]

    @classmethod
    def detect(cls, told: "PreviousText", sent: Collection[str]) -> "DetectedTags":
        """Scan the present texts, then only those earlier versions that have a tag which would be
        removed and was not found yet: a scan of much text takes long."""
        memory = told.memory
        found = _detect_pii(MemoryTexts.from_memory(memory))
        for kept in told.earlier:
            # `-` binds tighter than `&`: tags of the memory that a detector may have set, that were
            # not sent, and that no text has shown so far.
            doubtful = DETECTED_TAGS & {*memory.pii_tags} - {*sent} - found
            if doubtful & {*kept["pii_tags"]}:
                found |= _detect_pii(MemoryTexts.from_version(kept, memory.key))
        return cls(memory.version, frozenset(found))


@dataclass(frozen=True, slots=True)
class ScreenedPatch:
    """A PATCH, validated and screened as far as that is possible without the row.

    `sent` maps field names to values; None clears a field. `explicit_expires_at` counts only if
    `ttl_seconds` or `expires_at` was sent. `seen` is set after the stored texts were scanned, which
    only a patch of `pii_tags` needs. `event_id` is the id for the audit event of the change.
    """

    sent: Mapping[str, Any]
    findings: ScreeningReport
    explicit_expires_at: datetime | None = None
    seen: DetectedTags | None = None
    event_id: str | None = None

    @property
    def expected_version(self) -> int | None:
        """The version that the caller expects, for optimistic locking; None if it was not sent."""
        return self.sent.get("version")

    @property
    def field_names(self) -> set[str]:
        """The sent fields, without `version`, which changes nothing."""
        return {*self.sent} - {"version"}

    def changes_text(self, memory: Memory) -> bool:
        """Whether it changes the text or the value of the memory."""
        return any(
            name in self.sent and self.sent[name] != getattr(memory, name)
            for name in ("content", "value")
        )

    def changes_subjects(self, memory: Memory) -> bool:
        """Whether it changes the subjects of the memory."""
        return "subjects" in self.sent and {*self.sent["subjects"]} != {*memory.subjects}

    @property
    def sets_pii_tags(self) -> bool:
        """Whether `pii_tags` were sent."""
        return "pii_tags" in self.sent

    def drops_detected_tags(self, memory: Memory) -> bool:
        """Whether it removes a tag that a detector may have set."""
        return bool(DETECTED_TAGS & {*memory.pii_tags} - {*self.sent["pii_tags"]})

    def has_checked(self, memory: Memory) -> bool:
        """Whether no scan is needed, or the scan was made of the memory's present version."""
        seen = self.seen
        return not self.sets_pii_tags or (seen is not None and seen.version == memory.version)

    def with_detected_tags(self, told: "PreviousText") -> "ScreenedPatch":
        """The patch with the tags that can't be removed."""
        return replace(self, seen=DetectedTags.detect(told, self.sent["pii_tags"]))

    @property
    def sets_expiry(self) -> bool:
        """Whether it asks for an expiry or a retention policy."""
        return any(self.sent.get(name) is not None for name in _EXPIRY_FIELDS)


class PatchParser:
    """Makes a `ScreenedPatch` of the sent fields."""

    def __init__(self, screening: ScreeningService) -> None:
        self._screening = screening

    def parse(self, members: SentFields, now: datetime) -> ScreenedPatch:
        """The patch; raises ValidationFailed for the first fault in it."""
        if "content" in members:
            check_content(members["content"])
        if "value" in members:
            check_record("key", members["value"])
        sent = {**members, **clean_fields(members)}
        findings = self._screening.inspect_texts(_sent_texts(sent))
        until = explicit_expiry(sent.get("ttl_seconds"), sent.get("expires_at"), counted_from=now)
        return ScreenedPatch(sent, findings, until)


def _sent_texts(sent: SentFields) -> MemoryTexts:
    """The sent texts alone: the others were screened when they were written."""
    value = sent.get("value")
    return MemoryTexts(
        content=sent.get("content", "") if value is None else render_record("", value),
        value=value,
        metadata=sent.get("metadata", {}),
        tags=sent.get("tags", ()),
        names=sent.get("subjects", ()),
    )


def patched_fields(before: Memory, patch: ScreenedPatch) -> dict[str, Any]:
    """The changed fields that need no stored data, as they may be stored."""
    sent, texts = patch.sent, patch.findings.texts
    changes = {name: sent[name] for name in _DIRECT_FIELDS if name in sent}
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
    pii_tags = patch.findings.merge_tags(_resulting_pii_tags(before, patch))
    approved = surviving_approval(before.approved_expires_at, before.pii_tags, pii_tags)
    return changes | {"pii_tags": pii_tags, "approved_expires_at": approved}


def _resulting_pii_tags(before: Memory, patch: ScreenedPatch) -> set[str]:
    """The tags of the row after the patch, without those found in the sent texts.

    A tag can't be removed while its data is in the row or in a version: readers of the history are
    audited by these tags, and caps on personal data follow from them.
    """
    if patch.seen is None:
        return {*before.pii_tags}
    return {*patch.sent["pii_tags"], *patch.seen.found}


def _detect_pii(texts: MemoryTexts) -> set[str]:
    _, fields = redact_personal(texts)
    return {*fields}


def patched_sensitivity(before: Memory, requester: Requester, patch: ScreenedPatch) -> Sensitivity:
    """The sensitivity after the patch, by the rules of a new memory (`builder.py`). A patch that
    does not send it never lowers it."""
    lowest = patch.findings.floor
    said = _requested_sensitivity(before, patch)
    if before.space.kind in OPEN_KINDS:
        return said
    explicit = "sensitivity" in patch.sent
    if explicit and may_loosen(before.subjects, requester.person_id):
        return said
    return stricter_sensitivity(said, lowest)


def _requested_sensitivity(before: Memory, patch: ScreenedPatch) -> Sensitivity:
    sent: Sensitivity | None = patch.sent.get("sensitivity", before.sensitivity)
    return sent or Sensitivity.PUBLIC


def check_patch_self_statement(before: Memory, requester: Requester, patch: ScreenedPatch) -> None:
    """Raise Forbidden if the patch changes text or subjects of what somebody else said of
    themself."""
    if patch.changes_text(before) or patch.changes_subjects(before):
        check_self_statement(before, requester)


def check_patch_loosening(stored: StoredMemory, requester: Requester, patch: ScreenedPatch) -> None:
    """Raise Forbidden if somebody who is no subject makes the memory less private.

    The same goes for the subjects of a private memory: otherwise a caller could first make
    themself a subject and then lower the sensitivity. Unresolved names count as subjects who are
    not the caller.
    """
    before = stored.memory
    memory = replace(before, subjects=(*before.subjects, *stored.bare_names))
    portable = patch.sent.get("portable", before.portable)
    sensitivity = _requested_sensitivity(before, patch)
    check_loosening(memory, requester.person_id, sensitivity=sensitivity, portable=portable)
    private = before.sensitivity is not Sensitivity.PUBLIC or not before.portable
    allowed = may_loosen(memory.subjects, requester.person_id)
    if "subjects" in patch.sent and private and not allowed:
        message = "only a subject of a private memory may change its subjects"
        raise Forbidden(message, code="subject_only")


_DIRECT_FIELDS = ("type", "portable", "valid_from", "valid_until")
