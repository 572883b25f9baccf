"""Converts memories to rows and back. Only this module encrypts and decrypts their texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from recollect.db.columns import EncryptedColumn, OpenedText
from recollect.db.statements import Row
from recollect.db.tables.memories import memories, memory_versions
from recollect.kernel import strict_json
from recollect.kernel.clock import from_text, to_text
from recollect.kernel.errors import Conflict, Unreadable
from recollect.kernel.ids import MemoryId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.kernel.retention_rules import SHIPPED_RULES, RetentionRules
from recollect.kernel.runtime import Cipher
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.fields import (
    COLUMN_FIELDS,
    VERSIONED_FIELDS,
    MemoryField,
    ValueKind,
)
from recollect.memories.model import (
    Memory,
    MemoryKind,
    MemoryMessage,
    MessageRole,
    StoredMemory,
)
from recollect.text.normal_form import FoldedText

MEMORY_COLUMNS = tuple(memories.columns)

_NAMES = tuple(column.name for column in MEMORY_COLUMNS)
_COLUMN_NAMES = tuple(field.name for field in COLUMN_FIELDS)
# Words are stored as texts; every other column holds the value as it is.
_ENUMS = {
    field.name: field.kind for field in COLUMN_FIELDS if not isinstance(field.kind, ValueKind)
}
_STORED_FIELDS = ("import_id", "privacy_said", "suspicion", "used_at", "compacted_at", "erasure_id")


@dataclass(slots=True)
class RelatedRows:
    """The values of one memory that are stored in other tables."""

    subjects: tuple[str, ...] = ()
    supersedes: tuple[MemoryId, ...] = ()
    conflicts_with: tuple[MemoryId, ...] = ()
    source_entries: tuple[str, ...] = ()
    source_memories: tuple[MemoryId, ...] = ()


NO_RELATED_ROWS = RelatedRows()


class OpenedSnapshot(NamedTuple):
    """The fields of an earlier version; None if there is no snapshot, or if it is `unreadable`."""

    fields: dict[str, Any] | None
    unreadable: bool


class MemoryRows:
    """Converts rows to memories in plain text. The retention rules are needed to write rows: they
    give the risk of personal data."""

    def __init__(self, cipher: Cipher, rules: RetentionRules = SHIPPED_RULES) -> None:
        self._rules = rules
        self._content = EncryptedColumn(cipher, memories.c.content)
        self._value = EncryptedColumn(cipher, memories.c.value)
        self._messages = EncryptedColumn(cipher, memories.c.messages)
        self._metadata = EncryptedColumn(cipher, memories.c.metadata)
        self._snapshot = EncryptedColumn(cipher, memory_versions.c.snapshot)

    def from_row(self, row: Row, related: RelatedRows) -> StoredMemory:
        """The memory of a row with the columns `MEMORY_COLUMNS`."""
        named = dict(zip(_NAMES, row, strict=True))
        texts = self._open_texts(named)
        memory = _build_memory(named, related, texts)
        return StoredMemory(
            memory=memory,
            written_by=Owner(OwnerKind(named["written_by_kind"]), named["written_by_id"]),
            doc=named["doc"],
            bare_names=_parse_texts(named["bare_names"] or "[]"),
            status_at=named["status_at"],
            suspicion_reasons=_parse_texts(named["suspicion_reasons"]),
            folded=FoldedText(memory.content, named["fold"]) if named["fold"] else None,
            unreadable=any(text.unreadable for text in texts.values()),
            **{name: named[name] for name in _STORED_FIELDS},
        )

    def _open_texts(self, named: Mapping[str, Any]) -> dict[str, OpenedText]:
        columns = {
            "content": self._content,
            "value": self._value,
            "messages": self._messages,
            "metadata": self._metadata,
        }
        return {
            name: column.open_to_show(named[name], named["id"]) for name, column in columns.items()
        }

    def to_params(self, stored: StoredMemory) -> dict[str, Any]:
        """A parameter for each of `MEMORY_COLUMNS` but `doc`, which the database assigns. Raises
        Conflict for an unreadable memory: what is stored must not be overwritten by nothing."""
        require_changeable(stored)
        memory = stored.memory
        return {
            **{name: getattr(memory, name) for name in _COLUMN_NAMES},
            **{name: getattr(stored, name) for name in _STORED_FIELDS},
            **self._seal_texts(memory),
            "space_kind": memory.space.kind,
            "space_id": memory.space.id,
            "has_subjects": bool(memory.subjects or stored.bare_names),
            "bare_names": strict_json.dump(stored.bare_names) if stored.bare_names else None,
            "tags": strict_json.dump(memory.tags),
            "pii_tags": strict_json.dump(memory.pii_tags),
            "pii_risk": int(self._rules.highest_risk(memory.pii_tags) or 0),
            "status_at": stored.status_at or memory.created_at,
            "written_by_kind": stored.written_by.kind,
            "written_by_id": stored.written_by.id,
            "fold": fold_hash(stored),
            "suspicion_reasons": strict_json.dump(stored.suspicion_reasons),
        }

    def _seal_texts(self, memory: Memory) -> dict[str, Any]:
        """The texts as JSON, sealed. The content is JSON too, because a plain text could begin like
        a sealed one."""
        id_ = memory.id
        value = None if memory.value is None else strict_json.dump(memory.value)
        return {
            "content": self._content.seal(strict_json.dump(memory.content), id_),
            "value": self._value.seal(value, id_),
            "messages": self._messages.seal(_dump_messages(memory.messages), id_),
            "metadata": self._metadata.seal(strict_json.dump(memory.metadata), id_),
        }

    def make_snapshot(self, memory: Memory) -> str | None:
        """The sealed snapshot of a version: all fields that a later version may change."""
        kept = {field.name: getattr(memory, field.name) for field in VERSIONED_FIELDS}
        return self.seal_snapshot(kept, version_id(memory.id, memory.version))

    def seal_snapshot(self, kept: Mapping[str, Any], row_id: str) -> str | None:
        """These fields, as the row of a version stores them."""
        members = {name: _to_json(value) for name, value in kept.items()}
        return self._snapshot.seal(strict_json.dump(members), row_id)

    def open_snapshot(self, sealed: str | None, row_id: str) -> OpenedSnapshot:
        """The fields of a snapshot with their types; None for the present version, which has
        none."""
        text, unreadable = self._snapshot.open_to_show(sealed, row_id)
        if text is None:
            return OpenedSnapshot(None, unreadable)
        kept: dict[str, Any] = strict_json.load(text)
        fields = {field.name: _restore_value(field, kept) for field in VERSIONED_FIELDS}
        return OpenedSnapshot(fields, unreadable)


def _build_memory(
    named: Mapping[str, Any], related: RelatedRows, texts: Mapping[str, OpenedText]
) -> Memory:
    value = texts["value"].text
    values = {name: named[name] for name in _COLUMN_NAMES}
    for name, enum in _ENUMS.items():
        if values[name] is not None:
            values[name] = enum(values[name])
    return Memory(
        **values,
        content=strict_json.load(texts["content"].text or '""'),
        value=None if value is None else strict_json.load(value),
        messages=_load_messages(texts["messages"].text),
        space=Space(SpaceKind(named["space_kind"]), named["space_id"]),
        subjects=related.subjects,
        tags=_parse_texts(named["tags"]),
        metadata=strict_json.load(texts["metadata"].text or "{}"),
        pii_tags=_parse_texts(named["pii_tags"]),
        supersedes=related.supersedes,
        conflicts_with=related.conflicts_with,
        source_entries=related.source_entries,
        source_memories=related.source_memories,
    )


def require_changeable(stored: StoredMemory) -> None:
    """Raises Conflict for an unreadable memory: it can only be deleted."""
    if stored.unreadable:
        raise Conflict(
            f"memory {stored.memory.id} can't be changed: what is stored can't be decrypted; "
            "an operator can put the key back, and the memory can be deleted"
        )


def require_readable(stored: StoredMemory) -> StoredMemory:
    """The memory. Raises Unreadable where a decision needs its text."""
    if stored.unreadable:
        raise Unreadable(f"memory {stored.memory.id} can't be decrypted")
    return stored


def apply_snapshot(stored: StoredMemory, snapshot: Mapping[str, Any]) -> StoredMemory:
    """The row with the fields of an earlier version. Columns beside the memory stay as today."""
    return replace(stored, memory=replace(stored.memory, **snapshot), unreadable=False)


def hide_texts(stored: StoredMemory) -> StoredMemory:
    """The row as a version that can't be decrypted: without any text."""
    bare = replace(stored.memory, content="", value=None, messages=(), metadata={})
    return replace(stored, memory=bare, unreadable=True)


def version_id(memory_id: str, version: int) -> str:
    """The id of a version's row. It is unique though ids may contain `:`, because the number
    follows the last one."""
    return f"{memory_id}:{version}"


def fold_hash(stored: StoredMemory) -> str:
    """The hash by which equal statements are found. Records and compacted rows have none."""
    memory, folded = stored.memory, stored.folded
    if memory.kind is MemoryKind.RECORD or not memory.content:
        return ""
    if folded is None or folded.text != memory.content:
        folded = FoldedText.from_text(memory.content)
    return folded.digest


def _to_json(value: Any) -> Any:
    return to_text(value) if isinstance(value, datetime) else value


def _restore_value(field: MemoryField, kept: Mapping[str, Any]) -> Any:
    """The value of a snapshot's field with its type, which JSON lacks."""
    value = kept.get(field.name)
    match field.kind:
        case _ if value is None:
            return field.default if field.later else None
        case ValueKind.NAMES | ValueKind.MEMORY_IDS:
            return tuple(value)
        case ValueKind.INSTANT:
            return from_text(value)
        case ValueKind():
            return value
        case enum:
            return enum(value)


def _parse_texts(text: str) -> tuple[str, ...]:
    return tuple(strict_json.load(text))


def _dump_messages(items: Sequence[MemoryMessage]) -> str | None:
    if not items:
        return None
    return strict_json.dump(
        [
            [item.role, item.content, item.name, item.user_id, _to_json(item.created_at)]
            for item in items
        ]
    )


def _load_messages(text: str | None) -> tuple[MemoryMessage, ...]:
    if text is None:
        return ()
    return tuple(
        MemoryMessage(
            MessageRole(role), content, name, user_id, None if at is None else from_text(at)
        )
        for role, content, name, user_id, at in strict_json.load(text)
    )
