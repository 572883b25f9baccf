"""Rules of single memories about what is in them: words, personal data, secrets."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from recollect.domain.doctor import Check
from recollect.domain.expiry import still_approved
from recollect.domain.memories import Memory, Status
from recollect.domain.retention import RetentionRules
from recollect.domain.search import index_terms
from recollect.domain.spaces import OPEN_KINDS
from recollect.ports.database import Tx
from recollect.ports.doctor import Kept
from recollect.services.checks.mending import Mender
from recollect.services.checks.order import Order
from recollect.services.checks.rows import Examined
from recollect.services.memory_terms import Terms
from recollect.services.screening import Personal


@dataclass(frozen=True, slots=True)
class IndexRows:
    """Every memory that can be found has its words in the index, and no others."""

    mender: Mender
    check: Check = Check.INDEX_ROWS
    repairable: bool = True

    def is_broken(self, row: Examined) -> bool:
        """Compares the words with those of the text. What is set aside has none: that is the
        business of `orphan_index`."""
        memory = row.stored.memory
        if memory.status is Status.QUARANTINED:
            return False
        return row.terms != index_terms(memory.content)

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Index it anew."""
        self.mender.index(tx, row.stored)
        return True


@dataclass(frozen=True, slots=True)
class UntaggedPii:
    """Personal data that is seen in a text is among its tags, or replaced where this server
    replaces it; in that of an earlier version too, since histories show it."""

    mender: Mender
    terms: Terms
    check: Check = Check.UNTAGGED_PII
    repairable: bool = True

    def is_broken(self, row: Examined) -> bool:
        """Sees tags that the row or the version has not, or texts that would be stored
        otherwise."""
        tags = row.stored.memory.pii_tags
        pairs = zip(row.personal_before, row.earlier, strict=True)
        return _is_untagged(row.personal, tags) or any(
            _is_untagged(seen, {*tags}.intersection(kept.members["pii_tags"]))
            for seen, kept in pairs
        )

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Tag it, with the cap of the tags, and its earlier versions. What holds a secret is left
        as it is: no such text is written again; nor is one that the marks make too long."""
        seen = (row.personal, *row.personal_before)
        if row.has_secret or any(one.outgrown is not None for one in seen):
            return False
        stored, after = row.stored, self.terms.capped(_tagged(row))
        changed = [name for name in _FIELDS if _differs(after, stored.memory, name)]
        if changed:
            self.mender.change(tx, order, stored, after, fields=changed)
        else:
            self.mender.tell_rewritten(tx, order, stored)
        self.mender.rewrite(tx, _rewritten(row, self.mender.history(tx, stored.memory.id)))
        return True


def _is_untagged(seen: Personal, tags: Collection[str]) -> bool:
    return bool(seen.replaced or {*seen.pii}.difference(tags))


def _rewritten(row: Examined, history: Iterable[Kept]) -> Iterator[Kept]:
    """Those of the versions that would be stored otherwise. What is not known as an earlier version
    is what the row itself was until now."""
    known = dict(zip((kept.id for kept in row.earlier), row.personal_before, strict=True))
    for kept in history:
        seen = known.get(kept.id, row.personal)
        fresh = {**kept.members, "pii_tags": seen.tagged(kept.members["pii_tags"])}
        if seen.replaced:
            texts = seen.texts.parts
            fresh |= {name: texts[name] for name in texts.keys() & kept.members.keys()}
        if fresh != kept.members:
            yield Kept(kept.id, fresh)


def _tagged(row: Examined) -> Memory:
    """With all tags: a tag is that of the row and of its history."""
    before, seen = row.stored.memory, (row.personal, *row.personal_before)
    found = {tag for one in seen for tag in one.pii}
    gone = {tag for one in seen for tag in one.replaced}
    tags = tuple(sorted({*before.pii_tags} - gone | found))
    return replace(
        before,
        **row.personal.texts.parts,
        pii_tags=tags,
        approved_expires_at=still_approved(before.approved_expires_at, before.pii_tags, tags),
    )


_FIELDS = ("content", "expires_at", "key", "messages", "metadata", "pii_tags", "tags", "value")


def _differs(one: Memory, other: Memory, name: str) -> bool:
    first: Any = getattr(one, name)
    return bool(first != getattr(other, name))


@dataclass(frozen=True, slots=True)
class CriticalInPublic:
    """No critical personal data where anybody reads."""

    mender: Mender
    rules: RetentionRules
    check: Check = Check.CRITICAL_PII_IN_PUBLIC
    repairable: bool = True

    def is_broken(self, row: Examined) -> bool:
        """Looks at tags and texts, by the risks that this server has loaded. Whoever reads the row
        reads its history."""
        memory = row.stored.memory
        if memory.space.kind not in OPEN_KINDS or memory.status is Status.QUARANTINED:
            return False
        tags = {tag for kept in row.earlier for tag in kept.members["pii_tags"]}
        for seen in (row.personal, *row.personal_before):
            tags |= {*seen.pii, *seen.replaced}
        return self.rules.is_critical({*memory.pii_tags, *tags})

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Set it aside in its space: to move it to another is for its writers to decide."""
        self.mender.set_aside(tx, order, row.stored, reason="critical_pii")
        return True


@dataclass(frozen=True, slots=True)
class Secrets:
    """No secret is stored. What is found is only told: to remove it is for its writers."""

    check: Check = Check.SECRETS
    repairable: bool = False

    def is_broken(self, row: Examined) -> bool:
        """Looks at all texts."""
        return row.has_secret

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Nothing is done."""
        return False
