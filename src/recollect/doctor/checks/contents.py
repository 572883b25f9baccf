"""Row checks about the content of a memory: search words, personal data, secrets."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from recollect.db.transaction import Tx
from recollect.doctor.checks.order import DoctorOrder
from recollect.doctor.checks.rows import ExaminedMemory
from recollect.doctor.model import DoctorCheck
from recollect.doctor.repair import MemoryRepairer
from recollect.doctor.rows import VersionSnapshot
from recollect.kernel.open_spaces import refused_risk
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.space import OPEN_KINDS
from recollect.memories.expiry import surviving_approval
from recollect.memories.model import Memory, MemoryStatus, Sensitivity
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.screen import PersonalDataReport
from recollect.memories.write.sensitivity import stricter
from recollect.search.model import index_terms


@dataclass(frozen=True, slots=True)
class IndexRowsCheck:
    """The search index has exactly the words of every memory that search may find."""

    repairer: MemoryRepairer
    check: DoctorCheck = DoctorCheck.INDEX_ROWS
    repairable: bool = True

    def is_broken(self, row: ExaminedMemory) -> bool:
        """Compares the indexed words with those of the text. Quarantined memories have none; words
        that they still have are found by the check `orphan_index`."""
        memory = row.stored.memory
        if memory.status is MemoryStatus.QUARANTINED:
            return False
        return row.terms != index_terms(memory.content)

    def repair(self, tx: Tx, order: DoctorOrder, row: ExaminedMemory) -> bool:
        """Index the memory again."""
        self.repairer.index(tx, row.stored)
        return True


@dataclass(frozen=True, slots=True)
class UntaggedPiiCheck:
    """Personal data in a memory is tagged, or redacted where this server redacts. The same goes for
    earlier versions, since histories show them."""

    repairer: MemoryRepairer
    terms: ExpiryCalculator
    check: DoctorCheck = DoctorCheck.UNTAGGED_PII
    repairable: bool = True

    def is_broken(self, row: ExaminedMemory) -> bool:
        """Whether screening finds tags that are missing, or text that it would redact. A tag found
        in a version must be on the version and on the memory, whose tags cap its expiry."""
        tags = row.stored.memory.pii_tags
        pairs = zip(row.earlier_personal_data, row.earlier, strict=True)
        return _is_untagged(row.personal_data, tags) or any(
            _is_untagged(seen, {*tags}.intersection(kept.members["pii_tags"]))
            for seen, kept in pairs
        )

    def repair(self, tx: Tx, order: DoctorOrder, row: ExaminedMemory) -> bool:
        """Tag or redact the memory and its versions, and lower its expiry to the cap of its tags.

        Left alone is a memory that holds a secret, because that text must not be written again
        (a new version would copy it), and one that redaction would make longer than allowed.

        The history is read again for the rewrite: if the memory itself changed, storing it has
        added its previous state to the history as one more version, which needs the same redaction.
        """
        seen = (row.personal_data, *row.earlier_personal_data)
        if row.has_secret or any(one.outgrown is not None for one in seen):
            return False
        stored, after = row.stored, self.terms.cap(_tag_memory(row))
        changed = [name for name in _REPAIRED_FIELDS if _is_changed(after, stored.memory, name)]
        if changed:
            self.repairer.update(tx, order, stored, after, fields=changed)
        else:
            self.repairer.record_rewrite(tx, order, stored)
        self.repairer.rewrite_snapshots(
            tx, _corrected_snapshots(row, self.repairer.snapshots(tx, stored.memory.id))
        )
        return True


def _is_untagged(seen: PersonalDataReport, tags: Collection[str]) -> bool:
    return bool(seen.replaced or {*seen.pii}.difference(tags))


def _corrected_snapshots(
    row: ExaminedMemory, history: Iterable[VersionSnapshot]
) -> Iterator[VersionSnapshot]:
    """The snapshots that need other tags or texts, corrected. A snapshot that was not among the
    earlier versions is the state that the repair has just replaced, so the findings of the row
    itself apply to it."""
    known = dict(zip((kept.id for kept in row.earlier), row.earlier_personal_data, strict=True))
    for kept in history:
        seen = known.get(kept.id, row.personal_data)
        fresh = {**kept.members, "pii_tags": seen.merge_tags(kept.members["pii_tags"])}
        if seen.replaced:
            texts = seen.texts.text_fields
            fresh |= {name: texts[name] for name in texts.keys() & kept.members.keys()}
        if fresh != kept.members:
            yield VersionSnapshot(kept.id, fresh)


def _tag_memory(row: ExaminedMemory) -> Memory:
    """The memory with redacted texts, and the tags found in it and in its history. An approval to
    live longer lapses if a tag is new, since nobody has approved that one."""
    before, seen = row.stored.memory, (row.personal_data, *row.earlier_personal_data)
    found = {tag for one in seen for tag in one.pii}
    gone = {tag for one in seen for tag in one.replaced}
    tags = tuple(sorted({*before.pii_tags} - gone | found))
    return replace(
        before,
        **row.personal_data.texts.text_fields,
        pii_tags=tags,
        approved_expires_at=surviving_approval(before.approved_expires_at, before.pii_tags, tags),
    )


_REPAIRED_FIELDS = (
    "content",
    "expires_at",
    "key",
    "messages",
    "metadata",
    "pii_tags",
    "tags",
    "value",
)


def _is_changed(one: Memory, other: Memory, name: str) -> bool:
    first: Any = getattr(one, name)
    return bool(first != getattr(other, name))


@dataclass(frozen=True, slots=True)
class CriticalPiiCheck:
    """No critical personal data in spaces that anybody may read."""

    repairer: MemoryRepairer
    rules: RetentionRules
    check: DoctorCheck = DoctorCheck.CRITICAL_PII_IN_PUBLIC
    repairable: bool = True

    def is_broken(self, row: ExaminedMemory) -> bool:
        """Whether tags or texts of the memory or its history are of critical risk, by the retention
        rules of this server."""
        memory = row.stored.memory
        if memory.space.kind not in OPEN_KINDS or memory.status is MemoryStatus.QUARANTINED:
            return False
        return self.rules.is_critical(row.pii_tags)

    def repair(self, tx: Tx, order: DoctorOrder, row: ExaminedMemory) -> bool:
        """Quarantine it in its space. Moving it to another is for its writers to decide."""
        self.repairer.quarantine(tx, order, row.stored, reason="critical_pii")
        return True


@dataclass(frozen=True, slots=True)
class OpenSpaceContentCheck:
    """Open spaces hold only what a write may bring there today. It only reports: whether to move a
    memory that was written under looser rules is for its writers."""

    rules: RetentionRules
    check: DoctorCheck = DoctorCheck.OPEN_SPACE_CONTENT
    repairable: bool = False

    def is_broken(self, row: ExaminedMemory) -> bool:
        """Whether a write of the memory, or of a version of it, would be refused."""
        memory, kind = row.stored.memory, row.stored.memory.space.kind
        least = refused_risk(kind)
        if least is None or memory.status is MemoryStatus.QUARANTINED:
            return False
        risk = self.rules.highest_risk(row.pii_tags)
        lowest = stricter(*(floors.lowest_in(kind) for floors in row.floors))
        open_by_subject = row.stored.privacy_said or lowest is Sensitivity.PUBLIC
        public = open_by_subject and memory.sensitivity is Sensitivity.PUBLIC
        return not public or (risk is not None and risk >= least)

    def repair(self, tx: Tx, order: DoctorOrder, row: ExaminedMemory) -> bool:
        """Never repairs."""
        return False


@dataclass(frozen=True, slots=True)
class SecretsCheck:
    """No secret is stored. It only reports: removing one is for its writers."""

    check: DoctorCheck = DoctorCheck.SECRETS
    repairable: bool = False

    def is_broken(self, row: ExaminedMemory) -> bool:
        """Whether any text of the memory or its history holds a secret."""
        return row.has_secret

    def repair(self, tx: Tx, order: DoctorOrder, row: ExaminedMemory) -> bool:
        """Never repairs."""
        return False
