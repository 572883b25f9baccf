"""The field table of a memory: what each field holds, and where it is stored and shown.

Rows, version snapshots, responses with their schema, exported lines, imports and filters are made
from this table, as far as a field is plain. Fields with rules of their own (texts that are sealed,
lists that lie in other tables, expiry, privacy) have a row here too, and their code where it runs.
`CONTRIBUTING.md` lists the files that one more field touches.
"""

from dataclasses import dataclass, fields
from enum import Enum, StrEnum, auto
from typing import Any

from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.space import Visibility
from recollect.memories.model import (
    ArchiveReason,
    MemoryKind,
    MemoryOrigin,
    MemorySource,
    MemoryStatus,
    MemoryType,
    PlainFields,
    Sensitivity,
    TrustLevel,
)


class ValueKind(Enum):
    """What a field holds, if it is not a word of an enum. Each surface maps it to its own form: a
    JSON schema, a parser of lines, a codec of snapshots."""

    TEXT = auto()
    NAME = auto()
    MEMORY_ID = auto()
    CHAT_ID = auto()
    CONVERSATION_ID = auto()
    FLAG = auto()
    COUNT = auto()
    VERSION = auto()
    RATIO = auto()
    INSTANT = auto()
    OBJECT = auto()
    NAMES = auto()
    MEMORY_IDS = auto()
    SPACE = auto()
    MESSAGES = auto()


@dataclass(frozen=True, slots=True)
class MemoryField:
    """One field.

    `column`: a column of its name holds it as it is; other fields have their code in `store/`.
    `versioned`: a change may alter it, so snapshots of earlier versions have it. `derived`: it
    follows from the space and is not stored. `filtered`: a filter of its name compares it for
    equality. `later`: added after the first release, so that older versions and exported lines lack
    it and have the default of the model.
    """

    name: str
    kind: ValueKind | type[StrEnum]
    nullable: bool = False
    column: bool = False
    versioned: bool = False
    derived: bool = False
    is_rendered: bool = True
    filtered: bool = False
    later: bool = False

    @property
    def default(self) -> Any:
        """The value of a plain field that was not sent; None for all other fields."""
        return _DEFAULTS.get(self.name)


_DEFAULTS = {field.name: field.default for field in fields(PlainFields)}
_K = ValueKind
# In the order of responses, snapshots and exported lines.
MEMORY_FIELDS = (
    MemoryField("id", _K.MEMORY_ID, column=True),
    MemoryField("kind", MemoryKind, column=True, filtered=True),
    MemoryField("content", _K.TEXT, versioned=True),
    MemoryField("key", _K.NAME, nullable=True, column=True, filtered=True),
    MemoryField("value", _K.OBJECT, nullable=True, versioned=True),
    MemoryField("messages", _K.MESSAGES, is_rendered=False),
    MemoryField("space", _K.SPACE),
    MemoryField("group_id", _K.TEXT, derived=True),
    MemoryField("visibility", Visibility, nullable=True, derived=True),
    MemoryField("scope", MemoryScope, derived=True),
    MemoryField("agent_id", _K.NAME, nullable=True, column=True, filtered=True),
    MemoryField("org_id", _K.NAME, nullable=True, column=True),
    MemoryField("type", MemoryType, column=True, versioned=True),
    MemoryField("sensitivity", Sensitivity, column=True, versioned=True, filtered=True),
    MemoryField("portable", _K.FLAG, column=True, versioned=True),
    MemoryField("subjects", _K.NAMES, versioned=True),
    MemoryField("stated_by", _K.NAME, nullable=True, column=True, versioned=True, filtered=True),
    MemoryField("learned_in", _K.CHAT_ID, nullable=True, column=True),
    MemoryField(
        "learned_in_conversation", _K.CONVERSATION_ID, nullable=True, column=True, later=True
    ),
    MemoryField("origin", MemoryOrigin, column=True),
    MemoryField("observed_at", _K.INSTANT, column=True, versioned=True),
    MemoryField("confidence", _K.RATIO, nullable=True, column=True, versioned=True),
    MemoryField("verified", _K.FLAG, column=True, versioned=True),
    MemoryField("trust", TrustLevel, column=True, versioned=True),
    MemoryField("tags", _K.NAMES, versioned=True),
    MemoryField("metadata", _K.OBJECT, versioned=True),
    MemoryField("pii_tags", _K.NAMES, versioned=True),
    MemoryField("retention_policy", _K.NAME, nullable=True, column=True, versioned=True),
    MemoryField("expires_at", _K.INSTANT, nullable=True, column=True, versioned=True),
    MemoryField("expiry_rule", _K.NAME, column=True, versioned=True),
    MemoryField("requested_expires_at", _K.INSTANT, nullable=True, column=True, versioned=True),
    MemoryField("explicit_expires_at", _K.INSTANT, nullable=True, column=True, is_rendered=False),
    MemoryField("approved_expires_at", _K.INSTANT, nullable=True, column=True, is_rendered=False),
    MemoryField("valid_from", _K.INSTANT, nullable=True, column=True, versioned=True),
    MemoryField("valid_until", _K.INSTANT, nullable=True, column=True, versioned=True),
    MemoryField("created_at", _K.INSTANT, column=True),
    MemoryField("updated_at", _K.INSTANT, column=True, versioned=True),
    MemoryField("retracted_at", _K.INSTANT, nullable=True, column=True, versioned=True),
    MemoryField("supersedes", _K.MEMORY_IDS, versioned=True),
    MemoryField("superseded_by", _K.MEMORY_ID, nullable=True, column=True, versioned=True),
    MemoryField("conflicts_with", _K.MEMORY_IDS, versioned=True),
    MemoryField("repeats", _K.COUNT, column=True, versioned=True),
    MemoryField("version", _K.VERSION, column=True, versioned=True),
    MemoryField("source", MemorySource, column=True),
    MemoryField("source_entries", _K.NAMES, versioned=True),
    MemoryField("source_memories", _K.MEMORY_IDS, versioned=True),
    MemoryField("source_agent", _K.NAME, nullable=True, column=True),
    MemoryField("run_id", _K.NAME, nullable=True, column=True, filtered=True),
    MemoryField("parent_run_id", _K.NAME, nullable=True, column=True),
    MemoryField("status", MemoryStatus, column=True, versioned=True),
    MemoryField("archive_reason", ArchiveReason, nullable=True, column=True, versioned=True),
)

PLAIN_FIELDS = tuple(field for field in MEMORY_FIELDS if field.name in _DEFAULTS)
RENDERED_FIELDS = tuple(field for field in MEMORY_FIELDS if field.is_rendered)
COLUMN_FIELDS = tuple(field for field in MEMORY_FIELDS if field.column)
VERSIONED_FIELDS = tuple(field for field in MEMORY_FIELDS if field.versioned)
FILTERED_FIELDS = tuple(field for field in MEMORY_FIELDS if field.filtered)
EXPORTED_FIELDS = tuple(field for field in MEMORY_FIELDS if not field.derived)
