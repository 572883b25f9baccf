"""What a PATCH says, and what it makes of a row: pure, once people are known."""

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
    """A memory with what its earlier versions kept, the newest first, as far as it matters."""

    memory: Memory
    earlier: Sequence[Mapping[str, Any]]

    @property
    def chars(self) -> int:
        """Roughly how much there is to look at."""
        return sum(len(content or "") for content in (self.memory.content, *self._contents))

    @property
    def _contents(self) -> Iterable[str | None]:
        return (kept["content"] for kept in self.earlier)


@dataclass(frozen=True, slots=True)
class SeenTags:
    """The tags of the personal data that is in a memory at one of its versions."""

    version: int
    found: frozenset[str]

    @classmethod
    def of(cls, told: "Told", sent: Collection[str]) -> "SeenTags":
        """Looks at its texts, then at those of earlier versions that had a tag which is not `sent`
        any more: much text takes long."""
        memory = told.memory
        found = _found(Texts.of_memory(memory))
        for kept in told.earlier:
            doubtful = DETECTED & {*memory.pii_tags} - {*sent} - found
            if doubtful & {*kept["pii_tags"]}:
                found |= _found(Texts.of_version(kept, memory.key))
        return cls(memory.version, frozenset(found))


@dataclass(frozen=True, slots=True)
class Patch:
    """What is to change, checked and screened as far as it can be without the row.

    `sent` has the members by their names; null clears. `explicit_expires_at` counts only where a
    term was sent. `seen` is there once the row is known to which tags of personal data were sent.
    `event_id` is what the event of the change is to be known by.
    """

    sent: Mapping[str, Any]
    findings: Findings
    explicit_expires_at: datetime | None = None
    seen: SeenTags | None = None
    event_id: str | None = None

    @property
    def version(self) -> int | None:
        """The version that the caller has seen."""
        return self.sent.get("version")

    @property
    def names(self) -> set[str]:
        """The members that change something."""
        return {*self.sent} - {"version"}

    def rewords(self, memory: Memory) -> bool:
        """Would it say something else than the memory does?"""
        return any(
            name in self.sent and self.sent[name] != getattr(memory, name)
            for name in ("content", "value")
        )

    def tells_of_others(self, memory: Memory) -> bool:
        """Would it name others whom the memory is about?"""
        return "subjects" in self.sent and {*self.sent["subjects"]} != {*memory.subjects}

    @property
    def tells_tags(self) -> bool:
        """Does it say which personal data is in the memory?"""
        return "pii_tags" in self.sent

    def drops_tags_of(self, memory: Memory) -> bool:
        """Would a tag go that may have been found in a text?"""
        return bool(DETECTED & {*memory.pii_tags} - {*self.sent["pii_tags"]})

    def has_seen(self, memory: Memory) -> bool:
        """Is there nothing to look at in the memory, or was it looked at as it is?"""
        seen = self.seen
        return not self.tells_tags or (seen is not None and seen.version == memory.version)

    def looking_at(self, told: "Told") -> "Patch":
        """With the tags that can't be taken away."""
        return replace(self, seen=SeenTags.of(told, self.sent["pii_tags"]))

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
    pii_tags = patch.findings.tagged(_told_tags(before, patch))
    approved = still_approved(before.approved_expires_at, before.pii_tags, pii_tags)
    return changes | {"pii_tags": pii_tags, "approved_expires_at": approved}


def _told_tags(before: Memory, patch: Patch) -> set[str]:
    """The tags that the row has or is to have. Those of what is in it can't be taken away, nor of
    what was replaced, as long as the history has it."""
    if patch.seen is None:
        return {*before.pii_tags}
    return {*patch.sent["pii_tags"], *patch.seen.found}


def _found(texts: Texts) -> set[str]:
    _, fields = without_personal(texts)
    return {*fields}


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


def check_patch_of_own_word(before: Memory, requester: Requester, patch: Patch) -> None:
    """Who may not replace somebody's word of themself doesn't put others into their mouth."""
    if patch.rewords(before) or patch.tells_of_others(before):
        check_own_word(before, requester)


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
