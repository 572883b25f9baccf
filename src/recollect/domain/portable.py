"""The format of an export: the types of lines, and the fields of each in their order.

A line is one JSON object. `from_line` reads what `to_line` writes without loss, and the same values
always give the same bytes, so two exports can be compared as files.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from recollect.domain import jsontext
from recollect.domain.agents import AGENT_ID_CHARS_MAX
from recollect.domain.chats import ParticipantKind
from recollect.domain.disclosure import ChatKind
from recollect.domain.expiry import ApprovalStatus
from recollect.domain.memories import CONTENT_CHARS_MAX, Status
from recollect.domain.people import AliasKind
from recollect.domain.portable_members import (
    ITEMS_MAX,
    Member,
    Values,
    alike,
    among,
    chat_id,
    instant,
    listed,
    nested,
    number,
    obj,
    own_id,
    owner,
    plain,
    read_members,
    small_object,
    text,
    word,
)
from recollect.domain.portable_memory import MEMORY, SNAPSHOT
from recollect.domain.runs import ERROR_CHARS_MAX, RunStatus
from recollect.domain.sayings import EntityKind
from recollect.domain.spaces import SpaceMode
from recollect.errors import ValidationFailed

SCHEMA = 1
LONG_CHARS_MAX = 10_000
CHANGES = ("created", "updated", "superseded", "removed", "compacted")
DECISIONS = tuple(str(status) for status in ApprovalStatus if status is not ApprovalStatus.EXPIRED)
THINGS = tuple(str(kind) for kind in EntityKind if kind is not EntityKind.PERSON)


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


OF_MEMORY = frozenset({LineType.VERSION, LineType.RELATION, LineType.APPROVAL})


_NAME, _LONG = text(), text(LONG_CHARS_MAX)
_IDS = listed(_NAME)
_SAID = (Member("stated_by", _NAME), Member("chat_id", chat_id))
_ALIAS = nested(
    *alike(_NAME, "id", "value", needed=True),
    Member("kind", word(AliasKind), True),
    Member("provider", _NAME),
    Member("added_by", owner, True),
    *_SAID,
    Member("created_at", instant, True),
)
_RELATIONSHIP = nested(
    *alike(_NAME, "id", "relationship", needed=True),
    Member("to_person_id", _NAME),
    Member("added_by", owner, True),
    *_SAID,
    Member("created_at", instant, True),
)

_THING = nested(
    Member("id", _NAME, True),
    Member("kind", among(*THINGS), True),
    Member("name", text(CONTENT_CHARS_MAX), True),
)
SHAPES: Mapping[LineType, tuple[Member, ...]] = {
    LineType.AGENT: (
        Member("id", text(AGENT_ID_CHARS_MAX), True),
        Member("name", _NAME),
        Member("description", _LONG),
        Member("owner_id", owner, True),
        Member("org_id", _NAME, True),
        Member("space_mode", word(SpaceMode)),
        Member("created_by", owner, True),
        *alike(instant, "created_at", "updated_at", needed=True),
        Member("metadata", small_object),
        Member("removed_at", instant),
    ),
    LineType.PERSON: (
        *alike(_NAME, "id", "name", needed=True),
        Member("users", listed(nested(Member("id", _NAME, True), Member("orgs", _IDS)))),
        Member("time_zone", _NAME),
        Member("created_by", owner),
        Member("orgs", _IDS),
        *alike(instant, "created_at", "updated_at", needed=True),
        Member("merged_into", _NAME),
        Member("metadata", small_object),
        Member("aliases", listed(_ALIAS)),
        Member("relationships", listed(_RELATIONSHIP, ITEMS_MAX)),
    ),
    LineType.MERGE: (
        *alike(_NAME, "id", "primary_id", "secondary_id", needed=True),
        Member("at", instant, True),
        Member("by", owner, True),
        Member("moved", obj, True),
        Member("undone_at", instant),
    ),
    LineType.CHAT: (
        Member("id", chat_id, True),
        Member("kind", word(ChatKind), True),
        Member("title", _LONG),
        Member("provider", _NAME),
        Member("created_by", owner, True),
        Member("created_at", instant, True),
    ),
    LineType.PARTICIPANT: (
        Member("chat_id", chat_id, True),
        Member("kind", word(ParticipantKind), True),
        Member("member_id", _NAME, True),
        Member("joined_at", instant, True),
        Member("left_at", instant),
    ),
    LineType.RUN: (
        *alike(_NAME, "id", "agent_id", needed=True),
        *alike(_NAME, "parent_run_id", "root_run_id"),
        Member("status", word(RunStatus), True),
        Member("error", text(ERROR_CHARS_MAX)),
        Member("started_at", instant, True),
        Member("completed_at", instant),
        Member("metadata", small_object),
    ),
    LineType.MEMORY: MEMORY,
    LineType.VERSION: (
        Member("memory_id", own_id, True),
        Member("version", number(1), True),
        Member("change", among(*CHANGES), True),
        Member("at", instant, True),
        Member("until", instant),
        Member("by", owner, True),
        Member("status", word(Status), True),
        *alike(instant, "valid_from", "valid_until"),
        Member("snapshot", SNAPSHOT),
    ),
    LineType.RELATION: (
        *alike(_NAME, "id", "from_id", "to_id", "relation", needed=True),
        Member("memory_id", own_id, True),
        Member("recorded_at", instant, True),
        Member("retracted_at", instant),
        Member("things", listed(_THING)),
    ),
    LineType.APPROVAL: (
        Member("id", _NAME, True),
        Member("memory_id", own_id, True),
        Member("requested_by", owner, True),
        Member("requested_expires_at", instant),
        Member("status", among(*DECISIONS), True),
        Member("decided_by", _NAME),
        Member("decided_at", instant),
        Member("justification", _LONG),
        *alike(instant, "valid_until", "created_at", needed=True),
    ),
}


def to_line(type_: LineType, values: Mapping[str, Any]) -> str:
    """One line, without its newline. Values that are no field of the type are left out."""
    members = {member.name: plain(values[member.name]) for member in _written(type_, values)}
    return jsontext.dump({"schema": SCHEMA, "type": type_} | members)


def from_line(line: bytes) -> tuple[LineType, Values]:
    """The inverse: the type and every field of it, None where the line has none. ValidationFailed
    for anything else; the message names the field and never repeats its value."""
    parsed = jsontext.parse(line)
    if not isinstance(parsed, dict):
        raise ValidationFailed.of("line", "must be a JSON object")
    if parsed.pop("schema", SCHEMA) != SCHEMA:
        raise ValidationFailed.of("schema", f"must be {SCHEMA}")
    type_ = LineType(word(LineType)(parsed.pop("type", None), "type"))
    return type_, read_members(SHAPES[type_], parsed, "")


def _written(type_: LineType, values: Mapping[str, Any]) -> Iterable[Member]:
    return (member for member in SHAPES[type_] if member.name in values)
