"""The format of an export: the types of lines, and the fields of each in their order.

A line is one JSON object. `from_line` reads what `to_line` writes without loss, and the same values
always give the same bytes, so two exports can be compared as files.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from recollect.agents.run import ERROR_CHARS_MAX, RunStatus
from recollect.graph.fact_patterns import EntityKind
from recollect.kernel import strict_json
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.owner import AGENT_ID_CHARS_MAX
from recollect.kernel.space import SpaceMode
from recollect.memories.expiry import ApprovalStatus
from recollect.memories.model import CONTENT_CHARS_MAX, MemoryStatus
from recollect.people.chat import ChatKind, ParticipantKind
from recollect.people.model import AliasKind
from recollect.portability.fields import (
    ITEMS_MAX,
    LineField,
    LineValues,
    choice_parser,
    enum_parser,
    line_fields,
    list_parser,
    number_parser,
    object_parser,
    parse_bool,
    parse_chat_id,
    parse_fields,
    parse_instant,
    parse_memory_id,
    parse_metadata,
    parse_object,
    parse_owner_field,
    text_parser,
    to_json_value,
)
from recollect.portability.memory_line import (
    LINE_MEMORY_FIELDS,
    SNAPSHOT_PARSER,
    UNREADABLE_FIELD,
)

SCHEMA_VERSION = 1
LONG_CHARS_MAX = 10_000
VERSION_CHANGES = ("created", "updated", "superseded", "removed", "compacted")
APPROVAL_STATUSES = tuple(
    str(status) for status in ApprovalStatus if status is not ApprovalStatus.EXPIRED
)
THING_KINDS = tuple(str(kind) for kind in EntityKind if kind is not EntityKind.PERSON)


class LineType(StrEnum):
    """What a line describes, in the order of a file. Each type comes after those that it refers to,
    so that one pass can import it: agents before their runs, chats before their participants, all
    of them before memories. Versions, relations and approvals directly follow their memory."""

    AGENT = "agent"
    PERSON = "person"
    MERGE = "merge"
    CHAT = "chat"
    PARTICIPANT = "participant"
    RUN = "run"
    MEMORY = "memory"
    VERSION = "version"
    RELATION = "relation"
    APPROVAL = "approval"


MEMORY_PART_TYPES = frozenset({LineType.VERSION, LineType.RELATION, LineType.APPROVAL})


_NAME, _LONG = text_parser(), text_parser(LONG_CHARS_MAX)
_IDS = list_parser(_NAME)
_PROVENANCE_FIELDS = (LineField("stated_by", _NAME), LineField("chat_id", parse_chat_id))
_ALIAS = object_parser(
    *line_fields(_NAME, "id", "value", needed=True),
    LineField("kind", enum_parser(AliasKind), True),
    LineField("provider", _NAME),
    LineField("added_by", parse_owner_field, True),
    *_PROVENANCE_FIELDS,
    LineField("created_at", parse_instant, True),
    LineField("verified", parse_bool),
)
_RELATIONSHIP = object_parser(
    *line_fields(_NAME, "id", "relationship", needed=True),
    LineField("to_person_id", _NAME),
    LineField("added_by", parse_owner_field, True),
    *_PROVENANCE_FIELDS,
    LineField("created_at", parse_instant, True),
)

_THING = object_parser(
    LineField("id", _NAME, True),
    LineField("kind", choice_parser(*THING_KINDS), True),
    LineField("name", text_parser(CONTENT_CHARS_MAX), True),
)
LINE_FIELDS: Mapping[LineType, tuple[LineField, ...]] = {
    LineType.AGENT: (
        LineField("id", text_parser(AGENT_ID_CHARS_MAX), True),
        LineField("name", _NAME),
        LineField("description", _LONG),
        LineField("owner_id", parse_owner_field, True),
        LineField("org_id", _NAME, True),
        LineField("space_mode", enum_parser(SpaceMode)),
        LineField("created_by", parse_owner_field, True),
        *line_fields(parse_instant, "created_at", "updated_at", needed=True),
        LineField("metadata", parse_metadata),
        LineField("removed_at", parse_instant),
    ),
    LineType.PERSON: (
        *line_fields(_NAME, "id", "name", needed=True),
        LineField(
            "users",
            list_parser(object_parser(LineField("id", _NAME, True), LineField("orgs", _IDS))),
        ),
        LineField("time_zone", _NAME),
        LineField("created_by", parse_owner_field),
        LineField("orgs", _IDS),
        *line_fields(parse_instant, "created_at", "updated_at", needed=True),
        LineField("merged_into", _NAME),
        LineField("metadata", parse_metadata),
        *line_fields(_NAME, "awaited_handle", "awaited_provider"),
        LineField("aliases", list_parser(_ALIAS)),
        LineField("relationships", list_parser(_RELATIONSHIP, ITEMS_MAX)),
    ),
    LineType.MERGE: (
        *line_fields(_NAME, "id", "primary_id", "secondary_id", needed=True),
        LineField("at", parse_instant, True),
        LineField("by", parse_owner_field, True),
        LineField("moved", parse_object, True),
        LineField("undone_at", parse_instant),
    ),
    LineType.CHAT: (
        LineField("id", parse_chat_id, True),
        LineField("kind", enum_parser(ChatKind), True),
        LineField("title", _LONG),
        LineField("provider", _NAME),
        LineField("created_by", parse_owner_field, True),
        LineField("created_at", parse_instant, True),
    ),
    LineType.PARTICIPANT: (
        LineField("chat_id", parse_chat_id, True),
        LineField("kind", enum_parser(ParticipantKind), True),
        LineField("member_id", _NAME, True),
        LineField("joined_at", parse_instant, True),
        LineField("left_at", parse_instant),
        LineField("confirmed_at", parse_instant),
    ),
    LineType.RUN: (
        *line_fields(_NAME, "id", "agent_id", needed=True),
        *line_fields(_NAME, "parent_run_id", "root_run_id"),
        LineField("status", enum_parser(RunStatus), True),
        LineField("error", text_parser(ERROR_CHARS_MAX)),
        LineField("started_at", parse_instant, True),
        LineField("completed_at", parse_instant),
        LineField("metadata", parse_metadata),
    ),
    LineType.MEMORY: LINE_MEMORY_FIELDS,
    LineType.VERSION: (
        LineField("memory_id", parse_memory_id, True),
        LineField("version", number_parser(1), True),
        LineField("change", choice_parser(*VERSION_CHANGES), True),
        LineField("at", parse_instant, True),
        LineField("until", parse_instant),
        LineField("by", parse_owner_field, True),
        LineField("status", enum_parser(MemoryStatus), True),
        *line_fields(parse_instant, "valid_from", "valid_until"),
        LineField("snapshot", SNAPSHOT_PARSER),
        UNREADABLE_FIELD,
    ),
    LineType.RELATION: (
        *line_fields(_NAME, "id", "from_id", "to_id", "relation", needed=True),
        LineField("memory_id", parse_memory_id, True),
        LineField("recorded_at", parse_instant, True),
        LineField("retracted_at", parse_instant),
        LineField("things", list_parser(_THING)),
    ),
    LineType.APPROVAL: (
        LineField("id", _NAME, True),
        LineField("memory_id", parse_memory_id, True),
        LineField("requested_by", parse_owner_field, True),
        LineField("requested_expires_at", parse_instant),
        LineField("status", choice_parser(*APPROVAL_STATUSES), True),
        LineField("decided_by", _NAME),
        LineField("decided_at", parse_instant),
        LineField("justification", _LONG),
        *line_fields(parse_instant, "valid_until", "created_at", needed=True),
    ),
}


def to_line(type_: LineType, values: Mapping[str, Any]) -> str:
    """One line, without its newline. Values that are no field of the type are left out."""
    members = {
        member.name: to_json_value(values[member.name]) for member in _present_fields(type_, values)
    }
    return strict_json.dump({"schema": SCHEMA_VERSION, "type": type_} | members)


def from_line(line: bytes) -> tuple[LineType, LineValues]:
    """The inverse: the type and every field of it, None where the line has none. ValidationFailed
    for anything else; the message names the field and never repeats its value."""
    parsed = strict_json.parse(line)
    if not isinstance(parsed, dict):
        raise ValidationFailed.for_field("line", "must be a JSON object")
    if parsed.pop("schema", SCHEMA_VERSION) != SCHEMA_VERSION:
        raise ValidationFailed.for_field("schema", f"must be {SCHEMA_VERSION}")
    type_ = LineType(enum_parser(LineType)(parsed.pop("type", None), "type"))
    return type_, parse_fields(LINE_FIELDS[type_], parsed, "")


def _present_fields(type_: LineType, values: Mapping[str, Any]) -> Iterable[LineField]:
    return (member for member in LINE_FIELDS[type_] if member.name in values)
