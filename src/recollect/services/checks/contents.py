"""Rules of single memories about what is in them: words, personal data, secrets."""

from dataclasses import dataclass, replace
from typing import Any

from recollect.domain.doctor import Check
from recollect.domain.expiry import still_approved
from recollect.domain.memories import Memory, Status
from recollect.domain.retention import RetentionRules, Risk
from recollect.domain.search import index_terms
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
        return row.terms != index_terms(memory.content)

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
        return bool(row.personal.replaced or {*row.personal.pii} - {*tags})

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Tag it, with the cap of the tags. What holds a secret is left as it is: no such text is
        written again; nor is one that the marks make too long."""
        if row.has_secret or row.personal.outgrown is not None:
            return False
        after = self.terms.capped(self._tagged(row))
        changed = [name for name in _FIELDS if _differs(after, row.stored.memory, name)]
        self.mender.change(tx, order, row.stored, after, fields=changed)
        return True

    def _tagged(self, row: Examined) -> Memory:
        before, texts = row.stored.memory, row.personal.texts
        tags = row.personal.tagged(before.pii_tags)
        return replace(
            before,
            **texts.parts,
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
        """Looks at tags and text, by the risks that this server has loaded."""
        memory = row.stored.memory
        if memory.space.kind not in OPEN_KINDS or memory.status is Status.QUARANTINED:
            return False
        tags = {*memory.pii_tags, *row.personal.pii, *row.personal.replaced}
        return self.rules.riskiest(tags) is Risk.CRITICAL

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
