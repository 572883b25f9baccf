"""The line of a memory in an export, and the snapshot in a version's line: their fields, made from
the field table of a memory, and the values of a line."""

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.memories.fields import (
    EXPORTED_FIELDS,
    MEMORY_FIELDS,
    VERSIONED_FIELDS,
    MemoryField,
    ValueKind,
)
from recollect.memories.model import MemoryMessage, StoredMemory
from recollect.portability.fields import (
    ITEMS_MAX,
    FieldParser,
    LineField,
    LineValues,
    enum_parser,
    line_fields,
    list_parser,
    number_parser,
    object_parser,
    parse_bool,
    parse_chat_id,
    parse_content,
    parse_conversation_id,
    parse_instant,
    parse_memory_id,
    parse_metadata,
    parse_object,
    parse_owner_field,
    parse_raw,
    parse_space,
    refuse_unreadable,
    text_parser,
)

_NAME = text_parser()
_NAMES = list_parser(_NAME)
_PARSERS: Mapping[ValueKind, FieldParser] = {
    ValueKind.TEXT: parse_content,
    ValueKind.NAME: _NAME,
    ValueKind.MEMORY_ID: parse_memory_id,
    ValueKind.CHAT_ID: parse_chat_id,
    ValueKind.CONVERSATION_ID: parse_conversation_id,
    ValueKind.FLAG: parse_bool,
    ValueKind.COUNT: number_parser(),
    ValueKind.VERSION: number_parser(1),
    ValueKind.RATIO: number_parser(0, 1, whole=False),
    ValueKind.INSTANT: parse_instant,
    ValueKind.OBJECT: parse_metadata,
    ValueKind.NAMES: _NAMES,
    ValueKind.MEMORY_IDS: list_parser(parse_memory_id),
    ValueKind.SPACE: parse_space,
    # Checked with the payload as a whole.
    ValueKind.MESSAGES: parse_raw,
}
# A line may hold a value as a text, as other software exports it.
_LINE_PARSERS: Mapping[str, FieldParser] = {"value": parse_raw}
# A snapshot is what this or another server stored, so its ids are not checked again.
_SNAPSHOT_PARSERS: Mapping[str, FieldParser] = {
    "value": parse_object,
    "supersedes": _NAMES,
    "conflicts_with": _NAMES,
    "source_memories": _NAMES,
    "version": number_parser(),
}
# A removed memory in the middle of a chain of `supersedes`: see `removed_predecessors`.
_REMOVED_MEMORY = object_parser(
    LineField("memory_id", parse_memory_id, True),
    LineField("removed_at", parse_instant, True),
    LineField("supersedes", list_parser(parse_memory_id)),
)
# Fields that only a line has, by the field that they follow: aliases, and what is stored beside a
# memory.
_FOLLOWING: Mapping[str, LineField] = {
    "id": LineField("memory_id", parse_memory_id),
    "agent_id": LineField("agent_slug", _NAME),
    "subjects": LineField("bare_names", _NAMES),
    "supersedes": LineField("removed", list_parser(_REMOVED_MEMORY, ITEMS_MAX)),
}
_STORED_FIELDS = (
    LineField("status_at", parse_instant),
    LineField("written_by", parse_owner_field),
    LineField("privacy_said", parse_bool),
    LineField("suspicion", number_parser(0, 1, whole=False)),
    LineField("suspicion_reasons", _NAMES),
    *line_fields(parse_instant, "used_at", "compacted_at"),
)


def line_name(field: MemoryField) -> str:
    """The name of a field in a line, where `type` is the type of the line."""
    return "memory_type" if field.name == "type" else field.name


def _parser(field: MemoryField) -> FieldParser:
    kind = field.kind
    return _PARSERS[kind] if isinstance(kind, ValueKind) else enum_parser(kind)


def _memory_fields() -> Iterator[LineField]:
    for field in MEMORY_FIELDS:
        # `visibility` and `scope` are read, as they may name the space; `group_id` can't.
        if field.name != "group_id":
            yield LineField(line_name(field), _LINE_PARSERS.get(field.name, _parser(field)))
        if field.name in _FOLLOWING:
            yield _FOLLOWING[field.name]


UNREADABLE_FIELD = LineField("unreadable", refuse_unreadable)
LINE_MEMORY_FIELDS = (
    *_memory_fields(),
    *_STORED_FIELDS,
    LineField("embedding", parse_raw),
    UNREADABLE_FIELD,
)
# In the order in which versions store them, so that an export of an import has the same bytes. What
# the server has always written is needed.
SNAPSHOT_PARSER = object_parser(
    *(
        LineField(
            field.name,
            _SNAPSHOT_PARSERS.get(field.name, _parser(field)),
            needed=not (field.nullable or field.later),
        )
        for field in VERSIONED_FIELDS
    )
)


def memory_line_values(stored: StoredMemory) -> LineValues:
    """Everything that is stored of a memory except `import_id` and `erasure_id`, which mean
    something on this server only. An unreadable memory is marked, and no import takes its line."""
    memory = stored.memory
    mark = {"unreadable": True} if stored.unreadable else {}
    values: LineValues = {line_name(f): getattr(memory, f.name) for f in EXPORTED_FIELDS}
    return {
        **values,
        **{field.name: getattr(stored, field.name) for field in _STORED_FIELDS},
        "bare_names": stored.bare_names,
        "messages": [_message_values(one) for one in memory.messages] or None,
        "space": {"kind": memory.space.kind, "id": memory.space.id},
        **mark,
    }


def _message_values(one: MemoryMessage) -> dict[str, Any]:
    named = ("role", "content", "name", "user_id", "created_at")
    return {name: getattr(one, name) for name in named}
