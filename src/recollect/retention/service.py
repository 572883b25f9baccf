"""The loaded retention rules, and a preview of the expiry that they give a memory."""

from recollect.kernel.retention_rules import (
    RetentionProfile,
    RetentionRules,
)
from recollect.kernel.runtime import Runtime
from recollect.memories.expiry import (
    Expiry,
    ExpiryInputs,
    compute_expiry,
    explicit_expiry,
)
from recollect.memories.model import MemoryKind, MemoryType
from recollect.retention.commands import PreviewRetention
from recollect.screening import pii


class RetentionService:
    """Reads no stored row, so every caller may use it."""

    def __init__(
        self, runtime: Runtime, *, rules: RetentionRules, profile: RetentionProfile
    ) -> None:
        self._runtime = runtime
        self.rules = rules
        self.profile = profile

    def preview(self, command: PreviewRetention) -> Expiry:
        """When such a memory would expire, and by which rule."""
        created_at = command.created_at or self._runtime.clock.now()
        policy_name = command.retention_policy
        inputs = ExpiryInputs(
            scope=command.scope,
            kind=MemoryKind.RECORD if command.type is None else MemoryKind.STATEMENT,
            type=command.type or MemoryType.KNOWLEDGE,
            created_at=created_at,
            observed_at=created_at,
            explicit_expires_at=explicit_expiry(command.ttl_seconds, None, counted_from=created_at),
            policy=None
            if policy_name is None
            else self.rules.require_policy(policy_name, command.scope),
            pii_tags=pii.normalise_tags(tuple(command.pii_tags or ())),
        )
        return compute_expiry(inputs, self.rules, profile=self.profile)
