"""The fields of a memory's line in an export, and of the snapshot in a version's line."""

from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.space import Visibility
from recollect.memories.model import (
    ArchiveReason,
    MemoryKind,
    MemoryOrigin,
    MemorySource,
    MemoryStatus,
    MemoryType,
    Sensitivity,
    TrustLevel,
)
from recollect.portability.fields import (
    ITEMS_MAX,
    LineField,
    enum_parser,
    line_fields,
    list_parser,
    number_parser,
    object_parser,
    parse_bool,
    parse_chat_id,
    parse_content,
    parse_instant,
    parse_memory_id,
    parse_metadata,
    parse_object,
    parse_owner_field,
    parse_raw,
    parse_space,
    text_parser,
)

_NAME = text_parser()
_IDS = list_parser(_NAME)
# A removed memory in the middle of a chain of `supersedes`: see `removed_predecessors`.
_REMOVED_MEMORY = object_parser(
    LineField("memory_id", parse_memory_id, True),
    LineField("removed_at", parse_instant, True),
    LineField("supersedes", list_parser(parse_memory_id)),
)
# In the order in which versions store them, so that an export of an import has the same bytes. What
# the server always writes is needed.
SNAPSHOT_PARSER = object_parser(
    LineField("content", parse_content, True),
    LineField("value", parse_object),
    LineField("type", enum_parser(MemoryType), True),
    LineField("sensitivity", enum_parser(Sensitivity), True),
    LineField("portable", parse_bool, True),
    LineField("subjects", _IDS, True),
    LineField("stated_by", _NAME),
    LineField("observed_at", parse_instant, True),
    LineField("confidence", number_parser(0, 1, whole=False)),
    LineField("verified", parse_bool, True),
    LineField("trust", enum_parser(TrustLevel), True),
    LineField("tags", _IDS, True),
    LineField("metadata", parse_metadata, True),
    LineField("pii_tags", _IDS, True),
    LineField("retention_policy", _NAME),
    LineField("expires_at", parse_instant),
    LineField("expiry_rule", _NAME, True),
    *line_fields(parse_instant, "requested_expires_at", "valid_from", "valid_until"),
    LineField("updated_at", parse_instant, True),
    LineField("retracted_at", parse_instant),
    LineField("supersedes", _IDS, True),
    LineField("superseded_by", parse_memory_id),
    LineField("conflicts_with", _IDS, True),
    *line_fields(number_parser(), "repeats", "version", needed=True),
    *line_fields(_IDS, "source_entries", "source_memories", needed=True),
    LineField("status", enum_parser(MemoryStatus), True),
    LineField("archive_reason", enum_parser(ArchiveReason)),
)

MEMORY_FIELDS = (
    *line_fields(parse_memory_id, "id", "memory_id"),
    LineField("kind", enum_parser(MemoryKind)),
    LineField("content", parse_content),
    LineField("key", _NAME),
    LineField("value", parse_raw),
    LineField("messages", parse_raw),
    LineField("space", parse_space),
    LineField("visibility", enum_parser(Visibility)),
    LineField("scope", enum_parser(MemoryScope)),
    *line_fields(_NAME, "agent_id", "agent_slug", "org_id"),
    LineField("memory_type", enum_parser(MemoryType)),
    LineField("sensitivity", enum_parser(Sensitivity)),
    LineField("portable", parse_bool),
    *line_fields(_IDS, "subjects", "bare_names"),
    LineField("stated_by", _NAME),
    LineField("learned_in", parse_chat_id),
    LineField("origin", enum_parser(MemoryOrigin)),
    LineField("observed_at", parse_instant),
    LineField("confidence", number_parser(0, 1, whole=False)),
    LineField("verified", parse_bool),
    LineField("trust", enum_parser(TrustLevel)),
    LineField("tags", _IDS),
    LineField("metadata", parse_metadata),
    LineField("pii_tags", _IDS),
    LineField("retention_policy", _NAME),
    LineField("expires_at", parse_instant),
    LineField("expiry_rule", _NAME),
    *line_fields(
        parse_instant, "requested_expires_at", "explicit_expires_at", "approved_expires_at"
    ),
    *line_fields(
        parse_instant, "valid_from", "valid_until", "created_at", "updated_at", "retracted_at"
    ),
    LineField("supersedes", list_parser(parse_memory_id)),
    LineField("removed", list_parser(_REMOVED_MEMORY, ITEMS_MAX)),
    LineField("superseded_by", parse_memory_id),
    LineField("conflicts_with", list_parser(parse_memory_id)),
    LineField("repeats", number_parser()),
    LineField("version", number_parser(1)),
    LineField("source", enum_parser(MemorySource)),
    LineField("source_entries", _IDS),
    LineField("source_memories", list_parser(parse_memory_id)),
    *line_fields(_NAME, "source_agent", "run_id", "parent_run_id"),
    LineField("status", enum_parser(MemoryStatus)),
    LineField("archive_reason", enum_parser(ArchiveReason)),
    LineField("status_at", parse_instant),
    LineField("written_by", parse_owner_field),
    LineField("privacy_said", parse_bool),
    LineField("suspicion", number_parser(0, 1, whole=False)),
    LineField("suspicion_reasons", _IDS),
    *line_fields(parse_instant, "used_at", "compacted_at"),
    LineField("embedding", parse_raw),
)
