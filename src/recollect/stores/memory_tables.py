"""Tables of memories: rows, related rows, indexes, graph, approvals, idempotency and erasures."""

from sqlalchemy import Column, Table

from recollect.stores.columns import at, flag, metadata, number, real, text
from recollect.stores.engines.expressions import VectorType

memories = Table(
    "memories",
    metadata,
    number("doc"),
    text("id"),
    text("kind"),
    text("content"),
    text("key"),
    text("value"),
    text("messages"),
    text("space_kind"),
    text("space_id"),
    text("agent_id"),
    text("org_id"),
    text("type"),
    text("sensitivity"),
    flag("portable"),
    flag("has_subjects"),
    text("bare_names"),
    text("stated_by"),
    text("learned_in"),
    text("origin"),
    at("observed_at"),
    real("confidence"),
    flag("verified"),
    text("trust"),
    text("tags"),
    text("metadata"),
    text("pii_tags"),
    number("pii_risk"),
    text("retention_policy"),
    at("expires_at"),
    text("expiry_rule"),
    at("requested_expires_at"),
    at("explicit_expires_at"),
    at("approved_expires_at"),
    at("valid_from"),
    at("valid_until"),
    at("created_at"),
    at("updated_at"),
    at("retracted_at"),
    text("superseded_by"),
    number("repeats"),
    number("version"),
    text("source"),
    text("source_agent"),
    text("run_id"),
    text("parent_run_id"),
    text("status"),
    text("archive_reason"),
    at("status_at"),
    text("written_by_kind"),
    text("written_by_id"),
    text("import_id"),
    text("fold"),
    flag("privacy_said"),
    real("suspicion"),
    text("suspicion_reasons"),
    at("used_at"),
    at("compacted_at"),
    text("erasure_id"),
)

memory_subjects = Table(
    "memory_subjects",
    metadata,
    text("memory_id"),
    text("person_id"),
    number("place"),
)

memory_tags = Table(
    "memory_tags",
    metadata,
    text("memory_id"),
    text("tag"),
)

memory_sources = Table(
    "memory_sources",
    metadata,
    text("memory_id"),
    text("kind"),
    text("source_id"),
    number("place"),
)

memory_links = Table(
    "memory_links",
    metadata,
    text("from_id"),
    text("kind"),
    text("to_id"),
    at("at"),
    text("reason"),
)

memory_versions = Table(
    "memory_versions",
    metadata,
    text("id"),
    text("memory_id"),
    number("version"),
    text("change"),
    at("at"),
    at("until"),
    text("by_kind"),
    text("by_id"),
    text("status"),
    at("valid_from"),
    at("valid_until"),
    text("snapshot"),
)

memory_removals = Table(
    "memory_removals",
    metadata,
    text("memory_id"),
    at("removed_at"),
)

memory_index = Table(
    "memory_index",
    metadata,
    number("doc"),
    text("memory_id"),
    number("revision"),
    number("head"),
    text("vector_model"),
    text("terms"),
    text("stems"),
    flag("pending"),
)

memory_embeddings = Table(
    "memory_embeddings",
    metadata,
    number("doc"),
    text("memory_id"),
    Column("embedding", VectorType()),
    text("model"),
    number("dimensions"),
)

entities = Table(
    "entities",
    metadata,
    text("id"),
    text("kind"),
    text("name"),
    text("fold"),
    text("space_kind"),
    text("space_id"),
)

relations = Table(
    "relations",
    metadata,
    text("id"),
    text("from_id"),
    text("to_id"),
    text("relation"),
    text("memory_id"),
    at("recorded_at"),
    at("retracted_at"),
)

approvals = Table(
    "approvals",
    metadata,
    text("id"),
    text("memory_id"),
    text("requested_by_kind"),
    text("requested_by_id"),
    at("requested_expires_at"),
    text("status"),
    text("decided_by"),
    at("decided_at"),
    text("justification"),
    at("valid_until"),
    at("created_at"),
)

idempotency_answers = Table(
    "idempotency_answers",
    metadata,
    text("requester_kind"),
    text("requester_id"),
    text("key"),
    text("fingerprint"),
    number("status"),
    text("answer"),
    at("claimed_at"),
)

idempotency_mentions = Table(
    "idempotency_mentions",
    metadata,
    text("mentioned_id"),
    text("requester_kind"),
    text("requester_id"),
    text("key"),
)

rollbacks = Table(
    "rollbacks",
    metadata,
    text("id"),
    at("at"),
    text("by_kind"),
    text("by_id"),
    text("source"),
    text("changes"),
    at("undone_at"),
)

erasures = Table(
    "erasures",
    metadata,
    text("id"),
    text("status"),
    at("created_at"),
    at("finished_at"),
    text("target"),
    text("report"),
)

blocked_handles = Table(
    "blocked_handles",
    metadata,
    text("hash"),
    text("erasure_id"),
)
