"""Rules of single memories about what is in them: words, personal data, secrets."""

from dataclasses import dataclass, replace
from typing import Any

from recollect.domain.doctor import Check
from recollect.domain.expiry import still_approved
from recollect.domain.memories import Memory, Status
from recollect.domain.retention import TAG_RULES, Risk
from recollect.domain.search import index_words
from recollect.domain.spaces import OPEN_KINDS
from recollect.ports.database import Tx
from recollect.services.checks.mending import Mender
from recollect.services.checks.order import Order
from recollect.services.checks.rows import Examined
from recollect.services.memory_terms import Terms


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
        return row.terms != index_words(memory.content).terms

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Index it anew."""
        self.mender.index(tx, row.stored)
        return True


@dataclass(frozen=True, slots=True)
class UntaggedPii:
    """Personal data that is seen in a text is among its tags, or replaced where this server
    replaces it."""

    mender: Mender
    terms: Terms
    check: Check = Check.UNTAGGED_PII
    repairable: bool = True

    def is_broken(self, row: Examined) -> bool:
        """Sees tags that the row has not, or texts that would be stored otherwise."""
        tags = row.stored.memory.pii_tags
        return bool(row.findings.replaced or {*row.findings.pii} - {*tags})

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Tag it, with the cap of the tags. What holds a secret is left as it is: no such text is
        written again."""
        if row.findings.secret is not None:
            return False
        after = self.terms.capped(self._tagged(row))
        changed = [name for name in _FIELDS if _differs(after, row.stored.memory, name)]
        self.mender.change(tx, order, row.stored, after, fields=changed)
        return True

    def _tagged(self, row: Examined) -> Memory:
        before, texts = row.stored.memory, row.findings.texts
        tags = row.findings.tagged(before.pii_tags)
        return replace(
            before,
            content=texts.content,
            key=texts.key,
            value=texts.value,
            messages=texts.messages,
            pii_tags=tags,
            approved_expires_at=still_approved(before.approved_expires_at, before.pii_tags, tags),
        )


_FIELDS = ("content", "expires_at", "key", "messages", "pii_tags", "value")


def _differs(one: Memory, other: Memory, name: str) -> bool:
    first: Any = getattr(one, name)
    return bool(first != getattr(other, name))


@dataclass(frozen=True, slots=True)
class CriticalInPublic:
    """No critical personal data where anybody reads."""

    mender: Mender
    check: Check = Check.CRITICAL_PII_IN_PUBLIC
    repairable: bool = True

    def is_broken(self, row: Examined) -> bool:
        """Looks at tags and text."""
        memory = row.stored.memory
        if memory.space.kind not in OPEN_KINDS or memory.status is Status.QUARANTINED:
            return False
        tags = {*memory.pii_tags, *row.findings.pii, *row.findings.replaced}
        return any(TAG_RULES[tag].risk is Risk.CRITICAL for tag in tags)

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
        return row.findings.secret is not None

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Nothing is done."""
        return False
