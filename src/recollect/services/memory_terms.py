"""Computes the expiry of memories by the retention rules and the profile of this server."""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.expiry import (
    FOREVER,
    Expiry,
    Life,
    Profile,
    expiry,
    extension_needed,
    is_due,
    lowered,
    renewed,
)
from recollect.domain.memories import Memory
from recollect.domain.retention import Policy, RetentionRules


@dataclass(frozen=True, slots=True)
class Termed:
    """A memory with its expiry. `clamped`: a ceiling shortened the expiry that was asked for."""

    memory: Memory
    clamped: bool


@dataclass(frozen=True, slots=True)
class Terms:
    """Computes the expiry anew on every write, from the fields of the row alone."""

    rules: RetentionRules
    profile: Profile = Profile.RECORDS

    def settled(self, memory: Memory) -> Termed:
        """The memory with the expiry that follows from its fields."""
        return _with(memory, self._expiry(memory, Life.of(memory, self._policy(memory))))

    def repeated(self, memory: Memory, observed_at: datetime) -> Memory:
        """The memory after a repeat: the default TTL of its type starts again, caps don't."""
        life = renewed(Life.of(memory, self._policy(memory)), observed_at)
        later = replace(memory, observed_at=life.observed_at)
        return _with(later, self._expiry(later, life)).memory

    def capped(self, memory: Memory) -> Memory:
        """The memory with its stored expiry, shortened only by ceilings: that of its policy and
        that of its personal data. Default TTLs don't count.

        An infinite explicit expiry makes `expiry` return just the ceilings.
        """
        life = replace(Life.of(memory, self._policy(memory)), explicit_expires_at=FOREVER)
        most = expiry(life, self.rules, profile=self.profile)
        at = memory.expires_at
        if most.expires_at is None or not most.clamped or is_due(most.expires_at, at):
            return memory
        asked = memory.requested_expires_at or at
        return _with(memory, Expiry(most.expires_at, most.rule, asked, clamped=True)).memory

    def extension(self, memory: Memory) -> datetime | None:
        """The expiry that needs an approval; None if the asked one is granted or simply clamped."""
        life = Life.of(memory, self._policy(memory))
        return extension_needed(life, self.rules, profile=self.profile)

    def _expiry(self, memory: Memory, life: Life) -> Expiry:
        vanished = memory.retention_policy is not None and life.policy is None
        if vanished and life.explicit_expires_at is None:
            # The policy is no longer in the retention file. The row keeps the expiry that it got
            # from it, under the cap on personal data.
            kept = Expiry(memory.expires_at, memory.expiry_rule, memory.requested_expires_at)
            return lowered(kept, life, self.rules)
        return expiry(life, self.rules, profile=self.profile)

    def _policy(self, memory: Memory) -> Policy | None:
        name = memory.retention_policy
        return None if name is None else self.rules.policies.get(name)


def _with(memory: Memory, term: Expiry) -> Termed:
    settled = replace(
        memory,
        expires_at=term.expires_at,
        expiry_rule=term.rule,
        requested_expires_at=term.requested_expires_at,
    )
    return Termed(settled, term.clamped)
