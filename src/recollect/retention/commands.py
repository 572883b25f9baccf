"""Typed commands: what a caller sends to preview an expiry and to order a cleanup.

One declaration gives the OpenAPI schema, the parsing of REST and gRPC, and what the services take.
"""

from typing import Annotated, ClassVar

from pydantic import Field

from recollect.audit.model import JUSTIFICATION_CHARS_MAX
from recollect.http.bodies import StrictBody, exact_word
from recollect.http.operation import Id, Instant, JustifiedStrict
from recollect.kernel.retention_rules import TTL_SECONDS_MAX, VACUUM_DAYS, MemoryScope
from recollect.memories.model import MemoryType

_TAGS_MAX = 50

ScopeWord = Annotated[MemoryScope, exact_word(MemoryScope)]
Days = Annotated[int, Field(ge=0, le=10_000_000)]


class PreviewRetention(StrictBody, title="RetentionPreview"):
    """A memory that somebody thinks of writing. With `type` it is a statement, without a record,
    for which the default of the scope is."""

    scope: ScopeWord = Field(
        description="The scope that it would be written to.", examples=["long_term"]
    )
    type: Annotated[MemoryType, exact_word(MemoryType)] | None = Field(
        default=None, description="What sort of fact it is, for a statement.", examples=["task"]
    )
    retention_policy: Id | None = Field(
        default=None, description="The name of the policy that it would have."
    )
    ttl_seconds: Annotated[int, Field(ge=1, le=TTL_SECONDS_MAX)] | None = Field(
        default=None, description="The time to live that it would be sent with."
    )
    pii_tags: Annotated[list[str], Field(max_length=_TAGS_MAX)] | None = Field(
        default=None, description="The kinds of personal data in it."
    )
    created_at: Instant | None = Field(
        default=None, description="When it would be written; now if absent."
    )


class ExpireMemories(JustifiedStrict, title="ExpireBody"):
    """What to expire: everything, or one scope."""

    scope: ScopeWord | None = Field(
        default=None, description="Only memories of this scope; all if absent."
    )
    dry_run: bool = Field(description="Whether to tell only what would go.", examples=[True])


class VacuumMemories(ExpireMemories, title="VacuumBody"):
    """What to vacuum, and from which age on records go."""

    older_than_days: Days = Field(
        default=VACUUM_DAYS, description="The age in days from which on records go."
    )


class TidyMemories(JustifiedStrict, title="TidyBody"):
    """From which age on rows that were put away lose their text; unset: `gc.archive_days`."""

    dry_run: bool = Field(description="Whether to tell only what would change.", examples=[True])
    older_than_days: Days | None = Field(
        default=None,
        description="The age in days from which on archived rows lose their text; "
        "`gc.archive_days` if absent.",
    )


class DecideApproval(JustifiedStrict, title="ApprovalDecision"):
    """Why it was decided so."""

    optional: ClassVar[bool] = True


class DecideQuarantine(StrictBody, title="DecisionBody"):
    """Why; it goes to the audit log."""

    optional: ClassVar[bool] = True
    note: Annotated[str, Field(max_length=JUSTIFICATION_CHARS_MAX)] | None = Field(
        default=None,
        description="Why; it goes to the audit log.",
        examples=["It is a recipe, no order."],
    )
