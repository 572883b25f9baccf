"""Row checks about retention policy and expiry."""

from dataclasses import dataclass, replace

from recollect.domain.doctor import Check
from recollect.domain.retention import RetentionRules
from recollect.ports.database import Tx
from recollect.services.checks.mending import Mender
from recollect.services.checks.order import Order
from recollect.services.checks.rows import Examined
from recollect.services.memory_terms import Terms


@dataclass(frozen=True, slots=True)
class PolicyMismatch:
    """The scope of a memory allows its retention policy."""

    mender: Mender
    terms: Terms
    check: Check = Check.POLICY_MISMATCH
    repairable: bool = True

    def is_broken(self, row: Examined) -> bool:
        """Asks the rules that this server has loaded."""
        memory, rules = row.stored.memory, self.terms.rules
        allowed = rules.allowed_policies(memory.space.scope)
        return memory.retention_policy in rules.policies.keys() - set(allowed)

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Remove the policy, and never extend the expiry by that."""
        memory = row.stored.memory
        bare = replace(memory, retention_policy=None)
        after = self.terms.settled(bare).memory
        if memory.expires_at is not None and (
            after.expires_at is None or after.expires_at > memory.expires_at
        ):
            # Without the policy it would expire later, or never. Its present expiry is kept as if
            # a caller had asked for it.
            after = replace(bare, explicit_expires_at=memory.expires_at, expiry_rule="explicit")
        fields = ["expires_at", "retention_policy"]
        self.mender.change(tx, order, row.stored, after, fields=fields)
        return True


@dataclass(frozen=True, slots=True)
class VanishedPolicy:
    """The retention policy of a memory exists. It only reports a policy that is no longer in the
    retention file: the expiry that was set by it stays."""

    rules: RetentionRules
    check: Check = Check.POLICY_MISMATCH
    repairable: bool = False

    def is_broken(self, row: Examined) -> bool:
        """Asks the rules that this server has loaded."""
        policy = row.stored.memory.retention_policy
        return policy is not None and policy not in self.rules.policies

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Nothing is done."""
        return False


@dataclass(frozen=True, slots=True)
class ExpiryOverCap:
    """No memory expires later than the caps of its personal data and its policy allow."""

    mender: Mender
    terms: Terms
    check: Check = Check.EXPIRY_OVER_CAP
    repairable: bool = True

    def is_broken(self, row: Examined) -> bool:
        """Whether capping would change the expiry."""
        memory = row.stored.memory
        return self.terms.capped(memory).expires_at != memory.expires_at

    def mend(self, tx: Tx, order: Order, row: Examined) -> bool:
        """Lower the expiry to the cap."""
        after = self.terms.capped(row.stored.memory)
        self.mender.change(tx, order, row.stored, after, fields=["expires_at"])
        return True
