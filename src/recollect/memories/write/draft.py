"""Parses the fields of a new memory into a `MemoryDraft`: aliases, limits, payload, space, expiry.

Everything that can be checked without stored data is checked here, for REST, gRPC and all others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from recollect.conversations.model import is_blank
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import AgentId, ChatId, MemoryId, RunId
from recollect.kernel.retention_rules import (
    MemoryScope,
    RetentionPolicy,
    RetentionRules,
)
from recollect.kernel.space import (
    RequestedSpace,
    SpaceKind,
    SpaceRequest,
    parse_space_request,
    scope_for_kind,
    to_chat_id,
)
from recollect.kernel.validation import check_metadata, check_name, to_utc
from recollect.memories.commands import CreateMemory, MutableFields, OnConflict
from recollect.memories.expiry import explicit_expiry
from recollect.memories.fields import PLAIN_FIELDS
from recollect.memories.model import (
    SOURCES_MAX,
    MemoryKind,
    MemoryMessage,
    MemorySource,
    PlainFields,
    Sensitivity,
    StoredMemory,
    render_messages,
    render_record,
)
from recollect.memories.validation import (
    check_content,
    check_id,
    check_observed_at,
    check_record,
    check_run_id,
    check_validity,
    clean_source_entries,
    clean_subjects,
    clean_tags,
    infer_kind,
    parse_messages,
)
from recollect.memories.write.ttl_phrases import (
    has_likely_expiry,
    parse_expiry_phrase,
)
from recollect.people.model import check_time_zone
from recollect.screening.pii import normalise_tags

C = TypeVar("C", bound=MutableFields)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft(PlainFields):
    """A memory to write. None means that the caller sent nothing; times are in UTC.

    `subjects` are ids or names as sent. `explicit_expires_at` is what the caller asked for, in a
    field or in the words of the statement. `expiry_ignored`: the words seem to ask for an expiry
    that was not understood. `may_divert`: what the agent's public space does not take may go to
    the private one, if nothing said which. `carried` is the stored memory of a move; fields that a
    caller can't set are taken from it.
    """

    kind: MemoryKind
    content: str
    requested: RequestedSpace
    observed_at: datetime
    id: MemoryId | None = None
    key: str | None = None
    value: dict[str, Any] | None = None
    messages: tuple[MemoryMessage, ...] = ()
    run_id: RunId | None = None
    sensitivity: Sensitivity | None = None
    portable: bool | None = None
    subjects: tuple[str, ...] = ()
    stated_by: str | None = None
    learned_in: ChatId | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    pii_tags: tuple[str, ...] = ()
    policy: RetentionPolicy | None = None
    explicit_expires_at: datetime | None = None
    expiry_ignored: bool = False
    supersedes: tuple[MemoryId, ...] = ()
    source: MemorySource = MemorySource.API
    source_entries: tuple[str, ...] = ()
    extract: bool = False
    on_conflict: OnConflict = OnConflict.KEEP
    request_approval: bool = False
    may_divert: bool = True
    carried: StoredMemory | None = None


def parse_memory(
    command: CreateMemory,
    now: datetime,
    *,
    rules: RetentionRules,
    source: MemorySource = MemorySource.API,
) -> MemoryDraft:
    """The draft; raises ValidationFailed for the first fault. `now` is the start of a TTL."""
    command = _resolve_aliases(command)
    kind = infer_kind(
        messages=command.messages, content=command.content, key=command.key, value=command.value
    )
    requested = parse_space_request(_space_request(command))
    payload, phrase_expiry = _parse_payload(command, now)
    return MemoryDraft(
        kind=kind,
        requested=requested,
        source=source,
        explicit_expires_at=requested_expiry(command, now) or phrase_expiry,
        policy=_lookup_policy(command, rules, scope_for_kind(requested.kind)),
        **payload,
        **_parse_origin(command, requested, now),
        **_parse_annotations(command),
        **_parse_links(command, kind),
    )


def clean_fields(command: C) -> C:
    """The command with tags, subjects, PII tags, metadata and validity checked and normalised."""
    cleaned: dict[str, Any] = {}
    if command.tags is not None:
        cleaned["tags"] = list(clean_tags(command.tags))
    if command.subjects is not None:
        cleaned["subjects"] = list(clean_subjects(command.subjects))
    if command.pii_tags is not None:
        cleaned["pii_tags"] = list(normalise_tags(command.pii_tags))
    if command.metadata is not None:
        check_metadata(command.metadata)
    for name in ("valid_from", "valid_until"):
        at = getattr(command, name)
        if at is not None:
            cleaned[name] = to_utc(at, name)
    return command.model_copy(update=cleaned)


def requested_expiry(command: MutableFields, now: datetime) -> datetime | None:
    """The expiry that the fields of the command ask for."""
    return explicit_expiry(command.ttl_seconds, command.expires_at, counted_from=now)


def _resolve_aliases(command: CreateMemory) -> CreateMemory:
    """The command with its values under the canonical names. A field that was sent under two names
    must have one value."""
    named: dict[str, str | None] = {}
    for alias, name in (("agent_slug", "agent_id"), ("memory_id", "id"), ("chat_id", "learned_in")):
        value, other = getattr(command, name), getattr(command, alias)
        if name == "learned_in":
            value, other = (None if one is None else to_chat_id(one) for one in (value, other))
        if value is not None and other not in (None, value):
            raise ValidationFailed.for_field(alias, f"differs from `{name}`; send only one of them")
        named[name] = other if value is None else value
    return command.model_copy(update=named)


def _space_request(command: CreateMemory) -> SpaceRequest:
    if command.scope is MemoryScope.SESSION or command.run_id is not None:
        check_run_id(command.scope or MemoryScope.LONG_TERM, command.run_id)
    if command.space is not None and command.space.id:
        check_name(command.space.id, "space.id")
    return SpaceRequest(
        agent_id=None if command.agent_id is None else AgentId(command.agent_id),
        visibility=command.visibility,
        scope=command.scope,
        run_id=command.run_id,
        space=None if command.space is None else command.space.space_name,
        has_key=command.key is not None,
    )


def _parse_payload(command: CreateMemory, now: datetime) -> tuple[dict[str, Any], datetime | None]:
    """The fields of the payload, and the expiry that its words ask for."""
    if command.key is not None and command.value is not None:
        check_record(command.key, command.value)
        content = render_record(command.key, command.value)
        return {"key": command.key, "value": command.value, "content": content}, None
    name = "messages" if command.content is None else "content"
    text_or_messages = command.messages if command.content is None else command.content
    if not isinstance(text_or_messages, str):
        messages = parse_messages(text_or_messages or ())
        extract = command.extract is not False
        content = render_messages(messages)
        return {"messages": messages, "content": content, "extract": extract}, None
    check_content(text_or_messages, name)
    # An explicit `ttl_seconds` or `expires_at` wins over the words. A warning is due only if there
    # is neither, and the words look as if they meant one.
    text, expiry = _split_expiry_phrase(text_or_messages, now, _parse_time_zone(command))
    has_expiry = (expiry, command.ttl_seconds, command.expires_at) != (None, None, None)
    ignored = not has_expiry and has_likely_expiry(text_or_messages)
    return {"content": text, "extract": bool(command.extract), "expiry_ignored": ignored}, expiry


def _split_expiry_phrase(text: str, now: datetime, zone: tzinfo) -> tuple[str, datetime | None]:
    """The text without its expiry phrase ("for two weeks"), and the expiry. A text that would be
    blank without the phrase stays whole."""
    phrase = parse_expiry_phrase(text, now, zone)
    if phrase is None:
        return text, None
    rest = phrase.text_without_phrase
    return (text if is_blank(rest) else rest), phrase.expires_at


def _parse_time_zone(command: CreateMemory) -> tzinfo:
    if command.time_zone is None:
        return UTC
    check_time_zone(command.time_zone)
    return ZoneInfo(command.time_zone)


def _lookup_policy(
    command: CreateMemory, rules: RetentionRules, scope: MemoryScope
) -> RetentionPolicy | None:
    name = command.retention_policy
    return None if name is None else rules.require_policy(name, scope)


def _parse_origin(
    command: CreateMemory, requested: RequestedSpace, now: datetime
) -> dict[str, Any]:
    """When it was observed, in which chat and run, and who said it."""
    observed_at = to_utc(command.observed_at or now, "observed_at")
    check_observed_at(observed_at, now)
    chat = command.learned_in
    if chat is not None:
        check_name(chat, "chat_id")
    if requested.kind is SpaceKind.CHAT:
        chat = chat or requested.id
    run_id = requested.id if requested.kind is SpaceKind.RUN else command.run_id
    return {
        "observed_at": observed_at,
        "learned_in": None if chat is None else to_chat_id(chat),
        "stated_by": command.stated_by,
        "run_id": None if run_id is None else RunId(run_id),
    }


def _parse_annotations(command: CreateMemory) -> dict[str, Any]:
    if command.time_zone is not None:
        check_time_zone(command.time_zone)
    check_validity(command.valid_from, command.valid_until)
    command = clean_fields(command)
    plain = {field.name: getattr(command, field.name) for field in PLAIN_FIELDS}
    return {
        **{name: value for name, value in plain.items() if value is not None},
        "sensitivity": command.sensitivity,
        "portable": command.portable,
        "subjects": tuple(command.subjects or ()),
        "tags": tuple(command.tags or ()),
        "metadata": command.metadata or {},
        "pii_tags": tuple(command.pii_tags or ()),
    }


def _parse_links(command: CreateMemory, kind: MemoryKind) -> dict[str, Any]:
    """Ids that the memory refers to, its own id, and `on_conflict`."""
    if command.on_conflict is not None and kind is not MemoryKind.RECORD:
        raise ValidationFailed.for_field("on_conflict", "is for records: send `key` and `value`")
    if command.id is not None:
        check_id(command.id)
    return {
        "id": None if command.id is None else MemoryId(command.id),
        "supersedes": _parse_supersedes(command.supersedes or (), command.id),
        "source_entries": clean_source_entries(command.source_entries or ()),
        "on_conflict": command.on_conflict or OnConflict.KEEP,
        "request_approval": bool(command.request_approval),
    }


def _parse_supersedes(ids: Sequence[str], own_id: str | None) -> tuple[MemoryId, ...]:
    if len(ids) > SOURCES_MAX:
        raise ValidationFailed.for_field("supersedes", f"must have at most {SOURCES_MAX} items")
    for index, memory_id in enumerate(ids):
        check_id(memory_id, f"supersedes[{index}]")
        if memory_id == own_id:
            raise ValidationFailed.for_field(
                f"supersedes[{index}]", "must be another memory than this"
            )
    return tuple(MemoryId(memory_id) for memory_id in dict.fromkeys(ids))
