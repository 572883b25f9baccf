"""Tables of memories: rows, related rows, indexes, graph, approvals, idempotency and erasures."""

from sqlalchemy import Column, Table

from recollect.db.columns import flag, metadata, number, real, text, timestamp
from recollect.db.engines.expressions import VectorType

# `doc` is a row number for the search indexes. `place` in related tables is the order of items.
# `bare_names` are subjects that could not be resolved to people. `fold` is a hash of the text for
# finding repeats. `repeats` counts how often a memory was stated again. Of the four expiry columns
# `expires_at` is in force; the others are what was requested, set explicitly and approved.
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
    text("learned_in_conversation"),
    text("origin"),
    timestamp("observed_at"),
    real("confidence"),
    flag("verified"),
    text("trust"),
    text("tags"),
    text("metadata"),
    text("pii_tags"),
    number("pii_risk"),
    text("retention_policy"),
    timestamp("expires_at"),
    text("expiry_rule"),
    timestamp("requested_expires_at"),
    timestamp("explicit_expires_at"),
    timestamp("approved_expires_at"),
    timestamp("valid_from"),
    timestamp("valid_until"),
    timestamp("created_at"),
    timestamp("updated_at"),
    timestamp("retracted_at"),
    text("superseded_by"),
    number("repeats"),
    number("version"),
    text("source"),
    text("source_agent"),
    text("run_id"),
    text("parent_run_id"),
    text("status"),
    text("archive_reason"),
    timestamp("status_at"),
    text("written_by_kind"),
    text("written_by_id"),
    text("import_id"),
    text("fold"),
    flag("privacy_said"),
    real("suspicion"),
    text("suspicion_reasons"),
    timestamp("used_at"),
    timestamp("compacted_at"),
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

# Where a memory came from: entries, or other memories.
memory_sources = Table(
    "memory_sources",
    metadata,
    text("memory_id"),
    text("kind"),
    text("source_id"),
    number("place"),
)

# `supersedes` goes from the successor to what it replaced, and outlives both. `conflict` is stored
# in both directions.
memory_links = Table(
    "memory_links",
    metadata,
    text("from_id"),
    text("kind"),
    text("to_id"),
    timestamp("at"),
    text("reason"),
)

# Every version of a memory; the present one has no snapshot. Half open: in force from `at` up to,
# and without, `until`.
memory_versions = Table(
    "memory_versions",
    metadata,
    text("id"),
    text("memory_id"),
    number("version"),
    text("change"),
    timestamp("at"),
    timestamp("until"),
    text("by_kind"),
    text("by_id"),
    text("status"),
    timestamp("valid_from"),
    timestamp("valid_until"),
    text("snapshot"),
)

# Removed memories that the histories of others still name.
memory_removals = Table(
    "memory_removals",
    metadata,
    text("memory_id"),
    timestamp("removed_at"),
)

# The words of memories, as `entry_index` has those of entries. Encrypted words are not in the
# engine's full-text index. `vector_model` repeats the model of the row's vector: a search reads
# many rows, and the vectors lie far apart.
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
    timestamp("recorded_at"),
    timestamp("retracted_at"),
)

approvals = Table(
    "approvals",
    metadata,
    text("id"),
    text("memory_id"),
    text("requested_by_kind"),
    text("requested_by_id"),
    timestamp("requested_expires_at"),
    text("status"),
    text("decided_by"),
    timestamp("decided_at"),
    text("justification"),
    timestamp("valid_until"),
    timestamp("created_at"),
)

# Claimed idempotency keys. `answer` holds the reserved id and the recorded body, encrypted.
idempotency_answers = Table(
    "idempotency_answers",
    metadata,
    text("requester_kind"),
    text("requester_id"),
    text("key"),
    text("fingerprint"),
    number("status"),
    text("answer"),
    timestamp("claimed_at"),
)

# The ids that a recorded answer mentions: it is deleted when one of them is.
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
    timestamp("at"),
    text("by_kind"),
    text("by_id"),
    text("source"),
    text("changes"),
    timestamp("undone_at"),
)

# `target` says who is erased; it is removed when the job ends. The report stays.
erasures = Table(
    "erasures",
    metadata,
    text("id"),
    text("status"),
    timestamp("created_at"),
    timestamp("finished_at"),
    text("target"),
    text("report"),
)

blocked_handles = Table(
    "blocked_handles",
    metadata,
    text("hash"),
    text("erasure_id"),
)
