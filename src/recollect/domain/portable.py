"""Lines of an export: which members each type has, in which order, and what they may hold.

A line is one JSON object. What is written by `to_line` is read by `from_line` without loss, and the
same values always make the same bytes.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from recollect.domain import jsontext
from recollect.domain.agents import AGENT_ID_CHARS_MAX
from recollect.domain.chats import ParticipantKind
from recollect.domain.disclosure import ChatKind
from recollect.domain.expiry import ApprovalStatus
from recollect.domain.memories import (
    CONTENT_CHARS_MAX,
    ArchiveReason,
    Kind,
    MemoryType,
    Origin,
    Sensitivity,
    Source,
    Status,
    Trust,
)
from recollect.domain.people import AliasKind
from recollect.domain.portable_members import (
    Member,
    Reader,
    Values,
    among,
    chat_id,
    content,
    instant,
    listed,
    nested,
    number,
    obj,
    own_id,
    owner,
    plain,
    raw,
    read_members,
    small_object,
    space,
    text,
    truth,
    word,
)
from recollect.domain.retention import MemoryScope
from recollect.domain.runs import ERROR_CHARS_MAX, RunStatus
from recollect.domain.sayings import EntityKind
from recollect.domain.spaces import SpaceMode, Visibility
from recollect.errors import ValidationFailed

SCHEMA = 1
LONG_CHARS_MAX = 10_000
ITEMS_MAX = 10_000
CHANGES = ("created", "updated", "superseded", "removed", "compacted")
DECISIONS = tuple(str(status) for status in ApprovalStatus if status is not ApprovalStatus.EXPIRED)
THINGS = tuple(str(kind) for kind in EntityKind if kind is not EntityKind.PERSON)


class LineType(StrEnum):
    """What a line describes, in the order of a file. Versions, relations and approvals stand right
    behind the memory that they belong to."""

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


def _all(read: Reader, *names: str, needed: bool = False) -> tuple[Member, ...]:
    return tuple(Member(name, read, needed) for name in names)


_NAME, _LONG = text(), text(LONG_CHARS_MAX)
_IDS = listed(_NAME)
_SAID = (Member("stated_by", _NAME), Member("chat_id", chat_id))
_ALIAS = nested(
    *_all(_NAME, "id", "value", needed=True),
    Member("kind", word(AliasKind), True),
    Member("provider", _NAME),
    Member("added_by", owner, True),
    *_SAID,
    Member("created_at", instant, True),
)
_RELATIONSHIP = nested(
    *_all(_NAME, "id", "relationship", needed=True),
    Member("to_person_id", _NAME),
    Member("added_by", owner, True),
    *_SAID,
    Member("created_at", instant, True),
)

# What stood between the memory and those that are still there.
_REMOVED = nested(
    Member("memory_id", own_id, True),
    Member("removed_at", instant, True),
    Member("supersedes", listed(own_id)),
)
_THING = nested(
    Member("id", _NAME, True),
    Member("kind", among(*THINGS), True),
    Member("name", text(CONTENT_CHARS_MAX), True),
)
# In the order in which a version keeps them; what a version always has is needed.
_SNAPSHOT = nested(
    Member("content", content, True),
    Member("value", obj),
    Member("type", word(MemoryType), True),
    Member("sensitivity", word(Sensitivity), True),
    Member("portable", truth, True),
    Member("subjects", _IDS, True),
    Member("observed_at", instant, True),
    Member("confidence", number(0, 1, whole=False)),
    Member("verified", truth, True),
    Member("trust", word(Trust), True),
    Member("tags", _IDS, True),
    Member("metadata", small_object, True),
    Member("pii_tags", _IDS, True),
    Member("retention_policy", _NAME),
    Member("expires_at", instant),
    Member("expiry_rule", _NAME, True),
    *_all(instant, "requested_expires_at", "valid_from", "valid_until"),
    Member("updated_at", instant, True),
    Member("retracted_at", instant),
    Member("supersedes", _IDS, True),
    Member("superseded_by", own_id),
    Member("conflicts_with", _IDS, True),
    *_all(number(), "repeats", "version", needed=True),
    *_all(_IDS, "source_entries", "source_memories", needed=True),
    Member("status", word(Status), True),
    Member("archive_reason", word(ArchiveReason)),
)

_MEMORY = (
    *_all(own_id, "id", "memory_id"),
    Member("kind", word(Kind)),
    Member("content", content),
    Member("key", _NAME),
    Member("value", raw),
    Member("messages", raw),
    Member("space", space),
    Member("visibility", word(Visibility)),
    Member("scope", word(MemoryScope)),
    *_all(_NAME, "agent_id", "agent_slug", "org_id"),
    Member("memory_type", word(MemoryType)),
    Member("sensitivity", word(Sensitivity)),
    Member("portable", truth),
    *_all(_IDS, "subjects", "bare_names"),
    Member("stated_by", _NAME),
    Member("learned_in", chat_id),
    Member("origin", word(Origin)),
    Member("observed_at", instant),
    Member("confidence", number(0, 1, whole=False)),
    Member("verified", truth),
    Member("trust", word(Trust)),
    Member("tags", _IDS),
    Member("metadata", small_object),
    Member("pii_tags", _IDS),
    Member("retention_policy", _NAME),
    Member("expires_at", instant),
    Member("expiry_rule", _NAME),
    *_all(instant, "requested_expires_at", "explicit_expires_at", "approved_expires_at"),
    *_all(instant, "valid_from", "valid_until", "created_at", "updated_at", "retracted_at"),
    Member("supersedes", listed(own_id)),
    Member("removed", listed(_REMOVED, ITEMS_MAX)),
    Member("superseded_by", own_id),
    Member("conflicts_with", listed(own_id)),
    Member("repeats", number()),
    Member("version", number(1)),
    Member("source", word(Source)),
    Member("source_entries", _IDS),
    Member("source_memories", listed(own_id)),
    *_all(_NAME, "source_agent", "run_id", "parent_run_id"),
    Member("status", word(Status)),
    Member("archive_reason", word(ArchiveReason)),
    Member("status_at", instant),
    Member("written_by", owner),
    Member("privacy_said", truth),
    Member("suspicion", number(0, 1, whole=False)),
    Member("suspicion_reasons", _IDS),
    *_all(instant, "used_at", "compacted_at"),
    Member("embedding", raw),
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
        *_all(instant, "created_at", "updated_at", needed=True),
        Member("metadata", small_object),
        Member("removed_at", instant),
    ),
    LineType.PERSON: (
        *_all(_NAME, "id", "name", needed=True),
        Member("users", listed(nested(Member("id", _NAME, True), Member("orgs", _IDS)))),
        Member("time_zone", _NAME),
        Member("created_by", owner),
        Member("orgs", _IDS),
        *_all(instant, "created_at", "updated_at", needed=True),
        Member("merged_into", _NAME),
        Member("metadata", small_object),
        Member("aliases", listed(_ALIAS)),
        Member("relationships", listed(_RELATIONSHIP, ITEMS_MAX)),
    ),
    LineType.MERGE: (
        *_all(_NAME, "id", "primary_id", "secondary_id", needed=True),
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
        *_all(_NAME, "id", "agent_id", needed=True),
        *_all(_NAME, "parent_run_id", "root_run_id"),
        Member("status", word(RunStatus), True),
        Member("error", text(ERROR_CHARS_MAX)),
        Member("started_at", instant, True),
        Member("completed_at", instant),
        Member("metadata", small_object),
    ),
    LineType.MEMORY: _MEMORY,
    LineType.VERSION: (
        Member("memory_id", own_id, True),
        Member("version", number(1), True),
        Member("change", among(*CHANGES), True),
        Member("at", instant, True),
        Member("until", instant),
        Member("by", owner, True),
        Member("status", word(Status), True),
        *_all(instant, "valid_from", "valid_until"),
        Member("snapshot", _SNAPSHOT),
    ),
    LineType.RELATION: (
        *_all(_NAME, "id", "from_id", "to_id", "relation", needed=True),
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
        *_all(instant, "valid_until", "created_at", needed=True),
    ),
}


def to_line(type_: LineType, values: Mapping[str, Any]) -> str:
    """One line without its end. Members that a shape does not have are left out."""
    members = {member.name: plain(values[member.name]) for member in _written(type_, values)}
    return jsontext.dump({"schema": SCHEMA, "type": type_} | members)


def from_line(line: bytes) -> tuple[LineType, Values]:
    """The inverse: every member of the shape, null where the line has none. ValidationFailed for
    what is no such line; the message does not repeat it."""
    parsed = jsontext.parse(line)
    if not isinstance(parsed, dict):
        raise ValidationFailed.of("line", "must be a JSON object")
    if parsed.pop("schema", SCHEMA) != SCHEMA:
        raise ValidationFailed.of("schema", f"must be {SCHEMA}")
    type_ = LineType(word(LineType)(parsed.pop("type", None), "type"))
    return type_, read_members(SHAPES[type_], parsed, "")


def _written(type_: LineType, values: Mapping[str, Any]) -> Iterable[Member]:
    return (member for member in SHAPES[type_] if member.name in values)
