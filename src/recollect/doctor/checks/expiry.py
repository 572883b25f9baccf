"""Row checks about retention policy and expiry."""

from dataclasses import dataclass, replace

from recollect.db.transaction import Tx
from recollect.doctor.checks.order import DoctorOrder
from recollect.doctor.checks.rows import ExaminedMemory
from recollect.doctor.model import DoctorCheck
from recollect.doctor.repair import MemoryRepairer
from recollect.kernel.retention_rules import RetentionRules
from recollect.memories.write.expiry_calculator import ExpiryCalculator


@dataclass(frozen=True, slots=True)
class PolicyMismatchCheck:
    """The scope of a memory allows its retention policy."""

    repairer: MemoryRepairer
    terms: ExpiryCalculator
    check: DoctorCheck = DoctorCheck.POLICY_MISMATCH
    repairable: bool = True

    def is_broken(self, row: ExaminedMemory) -> bool:
        """Asks the rules that this server has loaded."""
        memory, rules = row.stored.memory, self.terms.rules
        allowed = rules.allowed_policies(memory.space.scope)
        return memory.retention_policy in rules.policies.keys() - set(allowed)

    def repair(self, tx: Tx, order: DoctorOrder, row: ExaminedMemory) -> bool:
        """Remove the policy, and never extend the expiry by that."""
        memory = row.stored.memory
        bare = replace(memory, retention_policy=None)
        after = self.terms.apply(bare).memory
        if memory.expires_at is not None and (
            after.expires_at is None or after.expires_at > memory.expires_at
        ):
            # Without the policy it would expire later, or never. Its present expiry is kept as if
            # a caller had asked for it.
            after = replace(bare, explicit_expires_at=memory.expires_at, expiry_rule="explicit")
        fields = ["expires_at", "retention_policy"]
        self.repairer.update(tx, order, row.stored, after, fields=fields)
        return True


@dataclass(frozen=True, slots=True)
class UnknownPolicyCheck:
    """The retention policy of a memory exists. It only reports a policy that is no longer in the
    retention file: the expiry that was set by it stays."""

    rules: RetentionRules
    check: DoctorCheck = DoctorCheck.POLICY_MISMATCH
    repairable: bool = False

    def is_broken(self, row: ExaminedMemory) -> bool:
        """Asks the rules that this server has loaded."""
        policy = row.stored.memory.retention_policy
        return policy is not None and policy not in self.rules.policies

    def repair(self, tx: Tx, order: DoctorOrder, row: ExaminedMemory) -> bool:
        """Nothing is done."""
        return False


@dataclass(frozen=True, slots=True)
class ExpiryCapCheck:
    """No memory expires later than the caps of its personal data and its policy allow."""

    repairer: MemoryRepairer
    terms: ExpiryCalculator
    check: DoctorCheck = DoctorCheck.EXPIRY_OVER_CAP
    repairable: bool = True

    def is_broken(self, row: ExaminedMemory) -> bool:
        """Whether capping would change the expiry."""
        memory = row.stored.memory
        return self.terms.cap(memory).expires_at != memory.expires_at

    def repair(self, tx: Tx, order: DoctorOrder, row: ExaminedMemory) -> bool:
        """Lower the expiry to the cap."""
        after = self.terms.cap(row.stored.memory)
        self.repairer.update(tx, order, row.stored, after, fields=["expires_at"])
        return True
