"""Parses a PATCH and computes the fields of the row after it. Pure, once subjects are resolved."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.identity.requester import Requester
from recollect.kernel.errors import Forbidden
from recollect.memories.commands import PatchMemory
from recollect.memories.expiry import surviving_approval
from recollect.memories.fields import PLAIN_FIELDS
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
from recollect.memories.write.draft import clean_fields, requested_expiry
from recollect.memories.write.screen import (
    MemoryTexts,
    ScreeningReport,
    ScreeningService,
    redact_personal,
)
from recollect.memories.write.sensitivity import (
    SensitivityFloors,
    may_loosen,
    sensitivity_of_write,
    stricter,
)
from recollect.screening.pii import DETECTED_TAGS


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
    def detect(cls, previous: "PreviousText", sent: Collection[str]) -> "DetectedTags":
        """Scan the present texts, then only those earlier versions that have a tag which would be
        removed and was not found yet: a scan of much text takes long."""
        memory = previous.memory
        found = _detect_pii(MemoryTexts.from_memory(memory))
        for kept in previous.earlier:
            # `-` binds tighter than `&`: tags of the memory that a detector may have set, that were
            # not sent, and that no text has shown so far.
            doubtful = DETECTED_TAGS & {*memory.pii_tags} - {*sent} - found
            if doubtful & {*kept["pii_tags"]}:
                found |= _detect_pii(MemoryTexts.from_version(kept, memory.key))
        return cls(memory.version, frozenset(found))


@dataclass(frozen=True, slots=True)
class ScreenedPatch:
    """A PATCH, validated and screened as far as that is possible without the row.

    `command` has normalised values. `explicit_expires_at` counts only if `ttl_seconds` or
    `expires_at` was sent. `detected` is set after the stored texts were scanned, which only a patch
    of `pii_tags` needs. `event_id` is the id for the audit event of the change.
    """

    command: PatchMemory
    findings: ScreeningReport
    explicit_expires_at: datetime | None = None
    detected: DetectedTags | None = None
    event_id: str | None = None

    @property
    def field_names(self) -> set[str]:
        """The sent fields, without `version`, which changes nothing."""
        return self.command.model_fields_set - {"version"}

    def changes_text(self, memory: Memory) -> bool:
        """Whether it changes the text or the value of the memory."""
        content, value = self.command.content, self.command.value
        return content not in (None, memory.content) or value not in (None, memory.value)

    def changes_subjects(self, memory: Memory) -> bool:
        """Whether it changes the subjects of the memory."""
        subjects = self.command.subjects
        return subjects is not None and {*subjects} != {*memory.subjects}

    @property
    def sets_pii_tags(self) -> bool:
        """Whether `pii_tags` were sent."""
        return self.command.pii_tags is not None

    def drops_detected_tags(self, memory: Memory) -> bool:
        """Whether it removes a tag that a detector may have set."""
        return bool(DETECTED_TAGS & {*memory.pii_tags} - {*(self.command.pii_tags or ())})

    def has_checked(self, memory: Memory) -> bool:
        """Whether no scan is needed, or the scan was made of the memory's present version."""
        detected = self.detected
        current = detected is not None and detected.version == memory.version
        return current or not self.sets_pii_tags

    def with_detected_tags(self, previous: "PreviousText") -> "ScreenedPatch":
        """The patch with the tags that can't be removed."""
        sent = self.command.pii_tags or ()
        return replace(self, detected=DetectedTags.detect(previous, sent))

    @property
    def sets_expiry(self) -> bool:
        """Whether it asks for an expiry or a retention policy."""
        command = self.command
        wanted = (command.ttl_seconds, command.expires_at, command.retention_policy)
        return wanted != (None, None, None)


class PatchParser:
    """Makes a `ScreenedPatch` of a command."""

    def __init__(self, screening: ScreeningService) -> None:
        self._screening = screening

    def parse(self, command: PatchMemory, now: datetime) -> ScreenedPatch:
        """The patch; raises ValidationFailed for the first fault in it."""
        if command.content is not None:
            check_content(command.content)
        if command.value is not None:
            check_record("key", command.value)
        command = clean_fields(command)
        findings = self._screening.inspect_texts(_sent_texts(command))
        return ScreenedPatch(command, findings, requested_expiry(command, now))


def _sent_texts(command: PatchMemory) -> MemoryTexts:
    """The sent texts alone: the others were screened when they were written."""
    value = command.value
    return MemoryTexts(
        content=(command.content or "") if value is None else render_record("", value),
        value=value,
        metadata=command.metadata or {},
        tags=tuple(command.tags or ()),
        names=tuple(command.subjects or ()),
    )


def patched_fields(before: Memory, patch: ScreenedPatch) -> dict[str, Any]:
    """The changed fields that need no stored data, as they may be stored."""
    command, texts = patch.command, patch.findings.texts
    plain = ("portable", *(field.name for field in PLAIN_FIELDS))
    changes = {name: getattr(command, name) for name in plain if command.sends(name)}
    changes |= {name: getattr(texts, name) for name in ("tags", "metadata") if command.sends(name)}
    # A new text replaces the list of messages that the old one was rendered from.
    if command.content is not None:
        changes |= {"content": texts.content, "messages": ()}
    if texts.value is not None:
        content = render_record(before.key or "", texts.value)
        changes |= {"value": texts.value, "content": content}
    if command.sends("ttl_seconds", "expires_at"):
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
    if patch.detected is None:
        return {*before.pii_tags}
    return {*(patch.command.pii_tags or ()), *patch.detected.found}


def _detect_pii(texts: MemoryTexts) -> set[str]:
    _, fields = redact_personal(texts)
    return {*fields}


def added_pii_tags(before: Memory, after: Memory, patch: ScreenedPatch) -> frozenset[str]:
    """The PII tags that the patch brings: those in its texts, and those that the memory did not
    have. A change of a memory that has some already, in another field, brings none."""
    return frozenset({*patch.findings.pii} | ({*after.pii_tags} - {*before.pii_tags}))


def patched_sensitivity(
    before: Memory,
    after: Memory,
    requester: Requester,
    patch: ScreenedPatch,
    floors: SensitivityFloors,
) -> Sensitivity:
    """The sensitivity after the patch, by the rules of a new memory about the subjects that `after`
    has. A patch that does not send it never lowers it. `floors` are those of what the patch
    brings."""
    lowest, kind = floors.lowest_in(before.space.kind), before.space.kind
    level = _requested_sensitivity(before, patch)
    if not patch.command.sends("sensitivity"):
        return stricter(level, lowest)
    return sensitivity_of_write(
        level, lowest, kind=kind, subjects=after.subjects, person_id=requester.person_id
    )


def passes_to_others(before: Memory, after: Memory, requester: Requester) -> bool:
    """Whether the memory gets other subjects, and its writer is none of them. What they had said of
    its privacy, as a subject, is then no subject's word any more."""
    changed = {*before.subjects} != {*after.subjects}
    return changed and requester.person_id not in after.subjects


def _requested_sensitivity(before: Memory, patch: ScreenedPatch) -> Sensitivity:
    if not patch.command.sends("sensitivity"):
        return before.sensitivity
    return patch.command.sensitivity or Sensitivity.PUBLIC


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
    sent = patch.command.portable
    portable = before.portable if sent is None else sent
    sensitivity = _requested_sensitivity(before, patch)
    check_loosening(memory, requester.person_id, sensitivity=sensitivity, portable=portable)
    private = before.sensitivity is not Sensitivity.PUBLIC or not before.portable
    allowed = may_loosen(memory.subjects, requester.person_id)
    if patch.command.subjects is not None and private and not allowed:
        message = "only a subject of a private memory may change its subjects"
        raise Forbidden(message, code="subject_only")
