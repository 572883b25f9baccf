"""A memory: one thing known. Its fields, their limits, and the text that it is found by.

Checks raise ValidationFailed with the field's name and never repeat the text. Where a memory lives
is said by its space, how long by `expiry.py`; who may do what is not decided here.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import chain
from typing import Any, NewType

from recollect.domain import jsontext
from recollect.domain.agents import AgentId
from recollect.domain.conversations import METADATA_BYTES_MAX, is_blank
from recollect.domain.retention import PII_TAGS, MemoryScope
from recollect.domain.spaces import ChatId, OrgId, RunId, Space
from recollect.errors import Forbidden, ValidationFailed

MemoryId = NewType("MemoryId", str)

ID_CHARS_MAX = 128
CONTENT_CHARS_MAX = 100_000
KEY_CHARS_MAX = 255
VALUE_BYTES_MAX = 256 * 1024
VALUE_DEPTH_MAX = 32
NAME_CHARS_MAX = 255
SUBJECTS_MAX = 50
TAGS_MAX = 50
TAG_CHARS_MAX = 100
SOURCES_MAX = 1_000
MESSAGES_MAX = 1_000
MESSAGES_BYTES_MAX = 1024 * 1024
OBSERVED_AHEAD_MAX = timedelta(minutes=5)

_ID = re.compile("[A-Za-z0-9._:-]+")
_NAME_JOINTS = str.maketrans("_-", "  ")


class Kind(StrEnum):
    """A statement is a text, a record is a key with a JSON object."""

    STATEMENT = "statement"
    RECORD = "record"


class MemoryType(StrEnum):
    """What sort of fact it is. The last four fade with time."""

    PREFERENCE = "preference"
    IDENTITY = "identity"
    RELATIONSHIP = "relationship"
    KNOWLEDGE = "knowledge"
    CONTEXT = "context"
    EVENT = "event"
    TASK = "task"
    OBSERVATION = "observation"


class Sensitivity(StrEnum):
    """How private it is, from the least to the most."""

    PUBLIC = "public"
    PERSONAL = "personal"
    SENSITIVE = "sensitive"

    @property
    def rank(self) -> int:
        """Higher is stricter."""
        return list(Sensitivity).index(self)


class Trust(StrEnum):
    """How well it is known, from the least to the most."""

    HEARSAY = "hearsay"
    UNKNOWN = "unknown"
    FACT = "fact"


class Origin(StrEnum):
    """Whether it was learned in a chat, written outside any, or imported without saying."""

    CHAT = "chat"
    DIRECT = "direct"
    UNKNOWN = "unknown"


class Source(StrEnum):
    """Through which door it came."""

    API = "api"
    MCP = "mcp"
    CLI = "cli"
    CONSOLE = "console"
    RUNNER = "runner"
    EXTRACTION = "extraction"
    IMPORT = "import"


class Status(StrEnum):
    """As it is stored. A due row is `expired` whatever is stored: see `expiry.status_at`."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    ARCHIVED = "archived"
    QUARANTINED = "quarantined"


class ArchiveReason(StrEnum):
    """Why a memory was put away."""

    EVICTED = "evicted"
    AGENT_REMOVED = "agent_removed"
    ROLLED_BACK = "rolled_back"


class Role(StrEnum):
    """Who speaks in a message."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Message:
    """One item of a list that was sent to be remembered."""

    role: Role
    content: str
    name: str | None = None
    user_id: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory as it is stored.

    `group_id`, `visibility` and `scope` follow from the space. `explicit_expires_at` is the
    caller's own wish, from which every later write computes the expiry again, and
    `approved_expires_at` is how far past its cap somebody let it live; neither is shown.
    """

    id: MemoryId
    kind: Kind
    content: str
    space: Space
    created_at: datetime
    updated_at: datetime
    observed_at: datetime
    key: str | None = None
    value: dict[str, Any] | None = None
    messages: tuple[Message, ...] = ()
    agent_id: AgentId | None = None
    org_id: OrgId | None = None
    type: MemoryType = MemoryType.KNOWLEDGE
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    portable: bool = True
    subjects: tuple[str, ...] = ()
    stated_by: str | None = None
    learned_in: ChatId | None = None
    origin: Origin = Origin.DIRECT
    confidence: float | None = 1.0
    verified: bool = True
    trust: Trust = Trust.UNKNOWN
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    pii_tags: tuple[str, ...] = ()
    retention_policy: str | None = None
    expires_at: datetime | None = None
    expiry_rule: str = "never"
    requested_expires_at: datetime | None = None
    explicit_expires_at: datetime | None = None
    approved_expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    retracted_at: datetime | None = None
    supersedes: tuple[MemoryId, ...] = ()
    superseded_by: MemoryId | None = None
    conflicts_with: tuple[MemoryId, ...] = ()
    repeats: int = 0
    version: int = 1
    source: Source = Source.API
    source_entries: tuple[str, ...] = ()
    source_memories: tuple[MemoryId, ...] = ()
    source_agent: AgentId | None = None
    run_id: RunId | None = None
    parent_run_id: RunId | None = None
    status: Status = Status.ACTIVE
    archive_reason: ArchiveReason | None = None


_OF_PLACE = {"space", "group_id", "visibility", "scope", "agent_id", "agent_slug", "org_id"}
_OF_BIRTH = {"run_id", "created_at", "observed_at", "stated_by", "learned_in"}
_MARKS = {"type", "sensitivity", "portable", "subjects", "tags", "metadata", "pii_tags"}
_TERMS = {"retention_policy", "ttl_seconds", "expires_at", "valid_from", "valid_until"}

# With their aliases on input.
IMMUTABLE_FIELDS = frozenset({"id", "memory_id", "kind", "key"} | _OF_PLACE | _OF_BIRTH)
# `version` is the one that the caller has seen.
PATCH_FIELDS: Mapping[Kind, frozenset[str]] = {
    Kind.STATEMENT: frozenset({"content", "version"} | _MARKS | _TERMS),
    Kind.RECORD: frozenset({"value", "version"} | _MARKS | _TERMS),
}


def render_record(key: str, value: Mapping[str, Any]) -> str:
    """The text of a record: key, names and scalar values in document order, cut at the limit."""
    parts: list[str] = []
    room = CONTENT_CHARS_MAX
    for part in filter(None, chain([key], _parts(value))):
        parts.append(part[:room])
        room -= len(part) + 1
        if room <= 0:
            break
    return " ".join(parts)


def _parts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield name.translate(_NAME_JOINTS).strip()
            yield from _parts(member)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)
    else:
        yield value if isinstance(value, str) else jsontext.dump(value)


def render_messages(items: Iterable[Message]) -> str:
    """One line `role: content` for each item; line breaks inside become spaces."""
    return "\n".join(f"{item.role}: {' '.join(item.content.splitlines())}" for item in items)


def kind_of(
    *, messages: object = None, content: object = None, key: object = None, value: object = None
) -> Kind:
    """What a payload makes, where None is absent: exactly one of the three may be sent."""
    if (key is None) != (value is None):
        missing = "key" if key is None else "value"
        raise ValidationFailed.of(missing, "`key` and `value` are sent together or not at all")
    if sum(payload is not None for payload in (messages, content, key)) != 1:
        message = "send exactly one of `messages`, `content`, or `key` with `value`"
        raise ValidationFailed.of("content", message)
    return Kind.STATEMENT if key is None else Kind.RECORD


def check_id(text: str, name: str = "id") -> None:
    """An id that a caller chose."""
    if not (len(text) <= ID_CHARS_MAX and _ID.fullmatch(text)):
        message = f"must be 1 to {ID_CHARS_MAX} characters of A-Z a-z 0-9 . _ : -"
        raise ValidationFailed.of(name, message)


def check_content(text: str, name: str = "content") -> None:
    """A statement's text."""
    check_name(text, name, chars_max=CONTENT_CHARS_MAX)
    if is_blank(text):
        raise ValidationFailed.of(name, "must not be blank")


def check_name(text: str, name: str, *, chars_max: int = NAME_CHARS_MAX) -> None:
    """A short text: a record's key, a tag, a name, a foreign id."""
    if not 1 <= len(text) <= chars_max:
        raise ValidationFailed.of(name, f"must have 1 to {chars_max} characters")
    jsontext.check_text(text, name)


def check_record(key: str, value: object) -> None:
    """A record's key and value."""
    check_name(key, "key", chars_max=KEY_CHARS_MAX)
    _check_object(value, "value", bytes_max=VALUE_BYTES_MAX, depth_max=VALUE_DEPTH_MAX)


def check_metadata(metadata: object) -> None:
    """What the caller hangs on a memory."""
    _check_object(metadata, "metadata", bytes_max=METADATA_BYTES_MAX, depth_max=jsontext.DEPTH_MAX)


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags as sent, each once."""
    return _each_once(tags, "tags", most=TAGS_MAX, chars_max=TAG_CHARS_MAX)


def clean_subjects(subjects: Sequence[str]) -> tuple[str, ...]:
    """The person ids or names as sent, each once."""
    for index, subject in enumerate(subjects[:SUBJECTS_MAX]):
        if is_blank(subject):
            raise ValidationFailed.of(f"subjects[{index}]", "must not be blank")
    return _each_once(subjects, "subjects", most=SUBJECTS_MAX, chars_max=NAME_CHARS_MAX)


def clean_source_entries(ids: Sequence[str]) -> tuple[str, ...]:
    """The ids of the entries that a memory came from, each once."""
    return _each_once(ids, "source_entries", most=SOURCES_MAX, chars_max=NAME_CHARS_MAX)


def _each_once(texts: Sequence[str], name: str, *, most: int, chars_max: int) -> tuple[str, ...]:
    if len(texts) > most:
        raise ValidationFailed.of(name, f"must have at most {most} items")
    for index, text in enumerate(texts):
        check_name(text, f"{name}[{index}]", chars_max=chars_max)
    return tuple(dict.fromkeys(texts))


def clean_pii_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags in lower case, sorted, each once; each is one of the ten."""
    lower = [tag.lower() for tag in tags]
    for index, tag in enumerate(lower):
        if tag not in PII_TAGS:
            message = f"must be one of {', '.join(PII_TAGS)}"
            raise ValidationFailed.of(f"pii_tags[{index}]", message)
    return tuple(sorted(set(lower)))


def check_run(scope: MemoryScope, run_id: str | None) -> None:
    """Session memories belong to a run; absent, null and empty are all no run."""
    if scope is MemoryScope.SESSION and not run_id:
        raise ValidationFailed.of("run_id", "must name the run: the scope is session")
    if run_id is not None:
        check_name(run_id, "run_id")


def as_instant(at: datetime, name: str) -> datetime:
    """The instant in UTC; a time without offset is UTC."""
    try:
        return at.replace(tzinfo=UTC) if at.utcoffset() is None else at.astimezone(UTC)
    except OverflowError:
        raise ValidationFailed.of(name, "must lie within the years 1 to 9999 in UTC") from None


def check_observed(observed_at: datetime, now: datetime) -> None:
    """What was said can't have been said later; clocks may differ a little."""
    if as_instant(observed_at, "observed_at") - as_instant(now, "now") > OBSERVED_AHEAD_MAX:
        minutes = OBSERVED_AHEAD_MAX // timedelta(minutes=1)
        raise ValidationFailed.of("observed_at", f"must not lie more than {minutes} minutes ahead")


def check_validity(valid_from: datetime | None, valid_until: datetime | None) -> None:
    """World time is half open and not empty; None is open."""
    if valid_from is None or valid_until is None:
        return
    if as_instant(valid_from, "valid_from") >= as_instant(valid_until, "valid_until"):
        raise ValidationFailed.of("valid_until", "must lie after `valid_from`")


def check_patch(kind: Kind, names: Iterable[str]) -> None:
    """Only what may change may be sent."""
    for name in names:
        if name in IMMUTABLE_FIELDS:
            raise _immutable(name)
        if name not in PATCH_FIELDS[kind]:
            known = ", ".join(sorted(PATCH_FIELDS[kind]))
            raise ValidationFailed.of(name, f"can't be changed in a {kind}; what can be: {known}")


def _immutable(name: str) -> ValidationFailed:
    error = ValidationFailed.of(name, "can't be changed; write a new memory, or move this one")
    error.code = "immutable_field"
    return error


def check_loosening(
    memory: Memory, person_id: str | None, *, sensitivity: Sensitivity, portable: bool
) -> None:
    """Less privacy is for a subject to give, or for anybody where there is no subject."""
    looser = sensitivity.rank < memory.sensitivity.rank or (portable and not memory.portable)
    if looser and memory.subjects and person_id not in memory.subjects:
        message = "only a person whom it is about may lower its sensitivity or make it portable"
        raise Forbidden(message, code="subject_only")


def parse_messages(items: Sequence[object]) -> tuple[Message, ...]:
    """The messages of a list of objects; a malformed one is named by its index."""
    if not 1 <= len(items) <= MESSAGES_MAX:
        raise ValidationFailed.of("messages", f"must have 1 to {MESSAGES_MAX} items")
    messages = tuple(_message(item, f"messages[{index}]") for index, item in enumerate(items))
    if sum(len(message.content.encode()) for message in messages) > MESSAGES_BYTES_MAX:
        message = f"must have at most {MESSAGES_BYTES_MAX} bytes of content as UTF-8"
        raise ValidationFailed.of("messages", message)
    return messages


_MESSAGE_FIELDS = ("role", "content", "name", "user_id", "created_at")


def _message(item: object, at: str) -> Message:
    if not isinstance(item, Mapping):
        raise ValidationFailed.of(at, "must be an object with `role` and `content`")
    for name in item:
        if name not in _MESSAGE_FIELDS:
            known = ", ".join(_MESSAGE_FIELDS)
            raise ValidationFailed.of(f"{at}.{name}", f"unknown member; known are {known}")
    return Message(
        _role(item.get("role"), f"{at}.role"),
        _spoken(item.get("content"), f"{at}.content"),
        _optional_name(item.get("name"), f"{at}.name"),
        _optional_name(item.get("user_id"), f"{at}.user_id"),
        _optional_instant(item.get("created_at"), f"{at}.created_at"),
    )


def _role(value: object, name: str) -> Role:
    if not isinstance(value, str) or value not in set(Role):
        raise ValidationFailed.of(name, f"must be one of {', '.join(Role)}")
    return Role(value)


def _spoken(value: object, name: str) -> str:
    if not isinstance(value, str) or is_blank(value):
        raise ValidationFailed.of(name, "must be a text that is not blank")
    jsontext.check_text(value, name)
    return value


def _optional_name(value: object, name: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValidationFailed.of(name, "must be a text or null")
    check_name(value, name)
    return value


def _optional_instant(value: object, name: str) -> datetime | None:
    if value is None:
        return None
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        at = None
    if not isinstance(at, datetime):
        message = "must be an ISO-8601 instant such as 2026-01-31T12:00:00Z, or null"
        raise ValidationFailed.of(name, message)
    return as_instant(at, name)


def _check_object(value: object, name: str, *, bytes_max: int, depth_max: int) -> None:
    if not isinstance(value, dict):
        raise ValidationFailed.of(name, "must be an object")
    too_large = ValidationFailed.of(name, f"must have at most {bytes_max} bytes as compact JSON")
    for count, (item, depth) in enumerate(_walk(value)):
        # Each item takes a byte at least, so a value that refers to itself widely ends here.
        if count > bytes_max:
            raise too_large
        if depth > depth_max:
            raise ValidationFailed.of(name, f"must not be nested deeper than {depth_max} levels")
        _check_item(item, name)
    try:
        size = len(jsontext.dump(value).encode())
    except ValueError:
        raise ValidationFailed.of(name, "holds a number that is too long") from None
    if size > bytes_max:
        raise too_large


def _walk(value: object) -> Iterator[tuple[object, int]]:
    """Every value and member name inside, each container with its depth from 1, others with 0."""
    stack: list[tuple[object, int]] = [(value, 1)]
    while stack:
        item, depth = stack.pop()
        nested = isinstance(item, dict | list)
        yield item, depth if nested else 0
        if isinstance(item, dict):
            stack.extend((name, 0) for name in item)
            stack.extend((member, depth + 1) for member in item.values())
        elif isinstance(item, list):
            stack.extend((member, depth + 1) for member in item)


def _check_item(item: object, name: str) -> None:
    if isinstance(item, str):
        jsontext.check_text(item, name)
    elif isinstance(item, dict) and not all(isinstance(member, str) for member in item):
        raise ValidationFailed.of(name, "must have texts for member names")
    elif isinstance(item, float) and not math.isfinite(item):
        raise ValidationFailed.of(name, "must not hold a number that is not finite")
    elif not (item is None or isinstance(item, int | float | dict | list)):
        raise ValidationFailed.of(name, "must hold nothing but JSON values")
