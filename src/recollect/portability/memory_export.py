"""The values of a memory's line in an export."""

from typing import Any

from recollect.memories.model import Memory, MemoryMessage, StoredMemory
from recollect.portability.fields import LineValues

# Attributes of Memory, then of Stored, that have the same name in the line.
MEMORY_ATTRIBUTES = (
    "id",
    "kind",
    "content",
    "key",
    "value",
    "agent_id",
    "org_id",
    "sensitivity",
    "portable",
    "subjects",
    "stated_by",
    "learned_in",
    "origin",
    "observed_at",
    "confidence",
    "verified",
    "trust",
    "tags",
    "metadata",
    "pii_tags",
    "retention_policy",
    "expires_at",
    "expiry_rule",
    "requested_expires_at",
    "explicit_expires_at",
    "approved_expires_at",
    "valid_from",
    "valid_until",
    "created_at",
    "updated_at",
    "retracted_at",
    "supersedes",
    "superseded_by",
    "conflicts_with",
    "repeats",
    "version",
    "source",
    "source_entries",
    "source_memories",
    "source_agent",
    "run_id",
    "parent_run_id",
    "status",
    "archive_reason",
)
STORED_ATTRIBUTES = (
    "written_by",
    "bare_names",
    "status_at",
    "privacy_said",
    "suspicion",
    "suspicion_reasons",
    "used_at",
    "compacted_at",
)


def memory_line_values(stored: StoredMemory) -> LineValues:
    """Everything that is stored of a memory except `import_id` and `erasure_id`, which mean
    something on this server only."""
    memory = stored.memory
    named: dict[str, Any] = {name: getattr(memory, name) for name in MEMORY_ATTRIBUTES}
    return {
        **named,
        **{name: getattr(stored, name) for name in STORED_ATTRIBUTES},
        "memory_type": memory.type,
        "messages": _messages_values(memory),
        "space": {"kind": memory.space.kind, "id": memory.space.id},
    }


def _messages_values(memory: Memory) -> list[LineValues] | None:
    return [_message_values(one) for one in memory.messages] or None


def _message_values(one: MemoryMessage) -> LineValues:
    named = ("role", "content", "name", "user_id", "created_at")
    return {name: getattr(one, name) for name in named}
