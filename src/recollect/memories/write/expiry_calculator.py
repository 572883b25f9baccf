"""Computes the expiry of memories by the retention rules and the profile of this server."""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.kernel.retention_rules import (
    RetentionPolicy,
    RetentionProfile,
    RetentionRules,
)
from recollect.memories.expiry import (
    FOREVER,
    Expiry,
    ExpiryInputs,
    apply_pii_cap,
    compute_expiry,
    needed_extension,
    renew_observed_at,
)
from recollect.memories.model import Memory, is_expired


@dataclass(frozen=True, slots=True)
class ExpiryResult:
    """A memory with its expiry. `clamped`: a ceiling shortened the expiry that was asked for."""

    memory: Memory
    clamped: bool


@dataclass(frozen=True, slots=True)
class ExpiryCalculator:
    """Computes the expiry anew on every write, from the fields of the row alone."""

    rules: RetentionRules
    profile: RetentionProfile = RetentionProfile.RECORDS

    def apply(self, memory: Memory) -> ExpiryResult:
        """The memory with the expiry that follows from its fields."""
        return _with_expiry(
            memory,
            self._calculate(memory, ExpiryInputs.from_memory(memory, self._find_policy(memory))),
        )

    def renew(self, memory: Memory, observed_at: datetime) -> Memory:
        """The memory after a repeat: the default TTL of its type starts again, caps don't."""
        life = renew_observed_at(
            ExpiryInputs.from_memory(memory, self._find_policy(memory)), observed_at
        )
        later = replace(memory, observed_at=life.observed_at)
        return _with_expiry(later, self._calculate(later, life)).memory

    def cap(self, memory: Memory) -> Memory:
        """The memory with its stored expiry, shortened only by ceilings: that of its policy and
        that of its personal data. Default TTLs don't count.

        An infinite explicit expiry makes `compute_expiry` return just the ceilings.
        """
        life = replace(
            ExpiryInputs.from_memory(memory, self._find_policy(memory)), explicit_expires_at=FOREVER
        )
        most = compute_expiry(life, self.rules, profile=self.profile)
        at = memory.expires_at
        if most.expires_at is None or not most.clamped or is_expired(most.expires_at, at):
            return memory
        requested_until = memory.requested_expires_at or at
        return _with_expiry(
            memory, Expiry(most.expires_at, most.rule, requested_until, clamped=True)
        ).memory

    def needed_extension(self, memory: Memory) -> datetime | None:
        """The expiry that needs an approval; None if the request is granted or clamped."""
        life = ExpiryInputs.from_memory(memory, self._find_policy(memory))
        return needed_extension(life, self.rules, profile=self.profile)

    def _calculate(self, memory: Memory, life: ExpiryInputs) -> Expiry:
        vanished = memory.retention_policy is not None and life.policy is None
        if vanished and life.explicit_expires_at is None:
            # The policy is no longer in the retention file. The row keeps the expiry that it got
            # from it, under the cap on personal data.
            kept = Expiry(memory.expires_at, memory.expiry_rule, memory.requested_expires_at)
            return apply_pii_cap(kept, life, self.rules)
        return compute_expiry(life, self.rules, profile=self.profile)

    def _find_policy(self, memory: Memory) -> RetentionPolicy | None:
        name = memory.retention_policy
        return None if name is None else self.rules.policies.get(name)


def _with_expiry(memory: Memory, term: Expiry) -> ExpiryResult:
    settled = replace(
        memory,
        expires_at=term.expires_at,
        expiry_rule=term.rule,
        requested_expires_at=term.requested_expires_at,
    )
    return ExpiryResult(settled, term.clamped)
