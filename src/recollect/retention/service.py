"""The loaded retention rules, and a preview of the expiry that they give a memory."""

from dataclasses import dataclass
from datetime import datetime

from recollect.kernel.retention_rules import (
    MemoryScope,
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
from recollect.screening import pii


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedMemory:
    """A memory that a caller may write. With a type it is a statement, without one a record; only
    records have the default TTL of their scope."""

    scope: MemoryScope
    type: MemoryType | None = None
    retention_policy: str | None = None
    ttl_seconds: int | None = None
    pii_tags: tuple[str, ...] = ()
    created_at: datetime | None = None


class RetentionService:
    """Reads no stored row, so every caller may use it."""

    def __init__(
        self, runtime: Runtime, *, rules: RetentionRules, profile: RetentionProfile
    ) -> None:
        self._runtime = runtime
        self.rules = rules
        self.profile = profile

    def preview(self, proposal: ProposedMemory) -> Expiry:
        """When such a memory would expire, and by which rule."""
        created_at = proposal.created_at or self._runtime.clock.now()
        named = proposal.retention_policy
        life = ExpiryInputs(
            scope=proposal.scope,
            kind=MemoryKind.RECORD if proposal.type is None else MemoryKind.STATEMENT,
            type=proposal.type or MemoryType.KNOWLEDGE,
            created_at=created_at,
            observed_at=created_at,
            explicit_expires_at=explicit_expiry(
                proposal.ttl_seconds, None, counted_from=created_at
            ),
            policy=None if named is None else self.rules.require_policy(named, proposal.scope),
            pii_tags=pii.normalise_tags(proposal.pii_tags),
        )
        return compute_expiry(life, self.rules, profile=self.profile)
