"""The field table of a memory: what each field holds, and where it is stored and shown.

Rows, version snapshots, responses with their schema, exported lines, imports and filters are made
from this table, as far as a field is plain. Fields with rules of their own (texts that are sealed,
lists that lie in other tables, expiry, privacy) have a row here too, and their code where it runs.
`CONTRIBUTING.md` lists the files that one more field touches.
"""

from dataclasses import dataclass, fields
from enum import Enum, StrEnum, auto
from typing import Any

from recollect.http.examples import MEMORY_ID, USER_ID, USER_PERSON_ID
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

    `description` and `example` are for the API documents. `column`: a column of its name holds it
    as it is; other fields have their code in `store/`.
    `versioned`: a change may alter it, so snapshots of earlier versions have it. `derived`: it
    follows from the space and is not stored. `filtered`: a filter of its name compares it for
    equality. `later`: added after the first release, so that older versions and exported lines lack
    it and have the default of the model.
    """

    name: str
    kind: ValueKind | type[StrEnum]
    description: str
    example: Any = None
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
    MemoryField("id", _K.MEMORY_ID, "The id of the memory.", MEMORY_ID, column=True),
    MemoryField(
        "kind",
        MemoryKind,
        "A statement is a text, a record is a key with an object.",
        "statement",
        column=True,
        filtered=True,
    ),
    MemoryField(
        "content",
        _K.TEXT,
        "The text; of a record the words of its key and value.",
        "Ann is vegetarian.",
        versioned=True,
    ),
    MemoryField("key", _K.NAME, "The key of a record.", nullable=True, column=True, filtered=True),
    MemoryField("value", _K.OBJECT, "The object of a record.", nullable=True, versioned=True),
    MemoryField("messages", _K.MESSAGES, "The messages that it was made of.", is_rendered=False),
    MemoryField("space", _K.SPACE, "The space that it is in."),
    MemoryField("group_id", _K.TEXT, "The name of that space.", f"user-{USER_ID}", derived=True),
    MemoryField(
        "visibility",
        Visibility,
        "Whether anyone may read the agent's space; null in other spaces.",
        nullable=True,
        derived=True,
    ),
    MemoryField("scope", MemoryScope, "The scope of the space.", "long_term", derived=True),
    MemoryField(
        "agent_id",
        _K.NAME,
        "The agent that it belongs to.",
        nullable=True,
        column=True,
        filtered=True,
    ),
    MemoryField("org_id", _K.NAME, "The org that it belongs to.", nullable=True, column=True),
    MemoryField(
        "type", MemoryType, "What sort of fact it is.", "preference", column=True, versioned=True
    ),
    MemoryField(
        "sensitivity",
        Sensitivity,
        "How private it is.",
        "public",
        column=True,
        versioned=True,
        filtered=True,
    ),
    MemoryField(
        "portable",
        _K.FLAG,
        "Whether it may be told outside of the chat where it was learned.",
        True,
        column=True,
        versioned=True,
    ),
    MemoryField(
        "subjects", _K.NAMES, "The people that it is about: ids of people.", versioned=True
    ),
    MemoryField(
        "stated_by",
        _K.NAME,
        "The person who said it.",
        USER_PERSON_ID,
        nullable=True,
        column=True,
        versioned=True,
        filtered=True,
    ),
    MemoryField(
        "learned_in", _K.CHAT_ID, "The chat where it was learned.", nullable=True, column=True
    ),
    MemoryField(
        "learned_in_conversation",
        _K.CONVERSATION_ID,
        "The fork where it was learned, if that is not the whole tree.",
        nullable=True,
        column=True,
        later=True,
    ),
    MemoryField("origin", MemoryOrigin, "Whether it was learned in a chat.", "direct", column=True),
    MemoryField("observed_at", _K.INSTANT, "When it was said.", column=True, versioned=True),
    MemoryField(
        "confidence",
        _K.RATIO,
        "How sure an extraction was, from 0 to 1; 1 for what was sent.",
        1.0,
        nullable=True,
        column=True,
        versioned=True,
    ),
    MemoryField(
        "verified",
        _K.FLAG,
        "Whether it was sent, and not extracted.",
        True,
        column=True,
        versioned=True,
    ),
    MemoryField("trust", TrustLevel, "How reliable it is.", "fact", column=True, versioned=True),
    MemoryField("tags", _K.NAMES, "Words to filter by.", ["food"], versioned=True),
    MemoryField("metadata", _K.OBJECT, "Your own data.", versioned=True),
    MemoryField("pii_tags", _K.NAMES, "The kinds of personal data in it.", versioned=True),
    MemoryField(
        "retention_policy",
        _K.NAME,
        "The name of its retention policy.",
        nullable=True,
        column=True,
        versioned=True,
    ),
    MemoryField(
        "expires_at",
        _K.INSTANT,
        "When it expires; null for never.",
        nullable=True,
        column=True,
        versioned=True,
    ),
    MemoryField(
        "expiry_rule",
        _K.NAME,
        "The rule that set its expiry.",
        "never",
        column=True,
        versioned=True,
    ),
    MemoryField(
        "requested_expires_at",
        _K.INSTANT,
        "The expiry that was asked for, if a cap made it shorter.",
        nullable=True,
        column=True,
        versioned=True,
    ),
    MemoryField(
        "explicit_expires_at",
        _K.INSTANT,
        "The expiry that a caller sent.",
        nullable=True,
        column=True,
        is_rendered=False,
    ),
    MemoryField(
        "approved_expires_at",
        _K.INSTANT,
        "The expiry that an approval allows.",
        nullable=True,
        column=True,
        is_rendered=False,
    ),
    MemoryField(
        "valid_from",
        _K.INSTANT,
        "From when on it is true; null if nobody said.",
        nullable=True,
        column=True,
        versioned=True,
    ),
    MemoryField(
        "valid_until",
        _K.INSTANT,
        "Until when it is true; null if nobody said.",
        nullable=True,
        column=True,
        versioned=True,
    ),
    MemoryField("created_at", _K.INSTANT, "When it was stored.", column=True),
    MemoryField("updated_at", _K.INSTANT, "When it was last changed.", column=True, versioned=True),
    MemoryField(
        "retracted_at",
        _K.INSTANT,
        "When it stopped counting as true.",
        nullable=True,
        column=True,
        versioned=True,
    ),
    MemoryField("supersedes", _K.MEMORY_IDS, "The memories that it replaced.", versioned=True),
    MemoryField(
        "superseded_by",
        _K.MEMORY_ID,
        "The memory that replaced it.",
        nullable=True,
        column=True,
        versioned=True,
    ),
    MemoryField(
        "conflicts_with", _K.MEMORY_IDS, "Memories that seem to say something else.", versioned=True
    ),
    MemoryField(
        "repeats", _K.COUNT, "How often the same was written again.", 0, column=True, versioned=True
    ),
    MemoryField(
        "version",
        _K.VERSION,
        "The number of its version; each change adds one.",
        1,
        column=True,
        versioned=True,
    ),
    MemoryField(
        "source", MemorySource, "The surface or process that wrote it.", "api", column=True
    ),
    MemoryField(
        "source_entries",
        _K.NAMES,
        "The entries of conversations that it was derived from.",
        versioned=True,
    ),
    MemoryField(
        "source_memories", _K.MEMORY_IDS, "The memories that it was derived from.", versioned=True
    ),
    MemoryField("source_agent", _K.NAME, "The agent that wrote it.", nullable=True, column=True),
    MemoryField(
        "run_id", _K.NAME, "The run that wrote it.", nullable=True, column=True, filtered=True
    ),
    MemoryField(
        "parent_run_id", _K.NAME, "The run that started that run.", nullable=True, column=True
    ),
    MemoryField(
        "status",
        MemoryStatus,
        "Whether it is active, or why not.",
        "active",
        column=True,
        versioned=True,
    ),
    MemoryField(
        "archive_reason",
        ArchiveReason,
        "Why it was archived.",
        nullable=True,
        column=True,
        versioned=True,
    ),
)

PLAIN_FIELDS = tuple(field for field in MEMORY_FIELDS if field.name in _DEFAULTS)
RENDERED_FIELDS = tuple(field for field in MEMORY_FIELDS if field.is_rendered)
COLUMN_FIELDS = tuple(field for field in MEMORY_FIELDS if field.column)
VERSIONED_FIELDS = tuple(field for field in MEMORY_FIELDS if field.versioned)
FILTERED_FIELDS = tuple(field for field in MEMORY_FIELDS if field.filtered)
EXPORTED_FIELDS = tuple(field for field in MEMORY_FIELDS if not field.derived)
