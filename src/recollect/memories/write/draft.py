"""Parses the fields of a new memory into a `MemoryDraft`: aliases, limits, payload, space, expiry.

Everything that can be checked without stored data is checked here, for REST, gRPC and all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Any
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
    SpaceName,
    SpaceRequest,
    parse_space_request,
    scope_for_kind,
    to_chat_id,
)
from recollect.kernel.validation import check_metadata, check_name, to_utc
from recollect.memories.expiry import explicit_expiry
from recollect.memories.model import (
    SOURCES_MAX,
    MemoryKind,
    MemoryMessage,
    MemorySource,
    MemoryType,
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

SentFields = Mapping[str, Any]


class OnConflict(StrEnum):
    """What happens to records with the same key in the space of a new record."""

    KEEP = "keep"
    SUPERSEDE = "supersede"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft:
    """A memory to write. None means that the caller sent nothing; times are in UTC.

    `subjects` are ids or names as sent. `explicit_expires_at` is what the caller asked for, in a
    field or in the words of the statement. `term_ignored`: the words seem to ask for an expiry that
    was not understood. `carried` is the stored memory of a move; fields that a caller can't set are
    taken from it.
    """

    kind: MemoryKind
    content: str
    asked: RequestedSpace
    observed_at: datetime
    id: MemoryId | None = None
    key: str | None = None
    value: dict[str, Any] | None = None
    messages: tuple[MemoryMessage, ...] = ()
    run_id: RunId | None = None
    type: MemoryType = MemoryType.KNOWLEDGE
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
    term_ignored: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    supersedes: tuple[MemoryId, ...] = ()
    source: MemorySource = MemorySource.API
    source_entries: tuple[str, ...] = ()
    extract: bool = False
    on_conflict: OnConflict = OnConflict.KEEP
    request_approval: bool = False
    carried: StoredMemory | None = None


def parse_memory(
    members: SentFields,
    now: datetime,
    *,
    rules: RetentionRules,
    source: MemorySource = MemorySource.API,
) -> MemoryDraft:
    """The draft; raises ValidationFailed for the first fault. `now` is the start of a TTL."""
    sent = _resolve_aliases(members)
    kind = infer_kind(**{name: sent.get(name) for name in ("messages", "content", "key", "value")})
    asked = parse_space_request(_space_request(sent))
    payload, term = _parse_payload(sent, kind, now)
    return MemoryDraft(
        kind=kind,
        asked=asked,
        source=source,
        explicit_expires_at=_parse_expiry(sent, now) or term,
        policy=_lookup_policy(sent, rules, scope_for_kind(asked.kind)),
        **payload,
        **_parse_origin(sent, asked, now),
        **_parse_annotations(sent),
        **_parse_links(sent, kind),
    )


def clean_fields(sent: SentFields) -> dict[str, Any]:
    """The sent ones of tags, metadata, subjects, PII tags and validity, checked and normalised. A
    PATCH uses it too."""
    cleaned: dict[str, Any] = {}
    for name, clean in _CLEANERS.items():
        if name in sent:
            cleaned[name] = clean(sent[name])
    return cleaned


def _clean_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    check_metadata(metadata)
    return metadata


_CLEANERS: Mapping[str, Any] = {
    "tags": clean_tags,
    "subjects": clean_subjects,
    "pii_tags": normalise_tags,
    "metadata": _clean_metadata,
    "valid_from": lambda at: None if at is None else to_utc(at, "valid_from"),
    "valid_until": lambda at: None if at is None else to_utc(at, "valid_until"),
}
_ALIASES = {"agent_slug": "agent_id", "memory_id": "id", "chat_id": "learned_in"}
_CHAT_FIELDS = ("chat_id", "learned_in")


def _resolve_aliases(members: SentFields) -> dict[str, Any]:
    """The fields under their canonical names. None counts as absent; a field that was sent under
    two names must have one value."""
    sent = {name: value for name, value in members.items() if value is not None}
    sent |= {name: to_chat_id(sent[name]) for name in _CHAT_FIELDS if name in sent}
    for alias, name in _ALIASES.items():
        if alias not in sent:
            continue
        value = sent.pop(alias)
        if sent.setdefault(name, value) != value:
            raise ValidationFailed.for_field(alias, f"differs from `{name}`; send only one of them")
    return sent


def _space_request(sent: SentFields) -> SpaceRequest:
    if sent.get("scope") is MemoryScope.SESSION or "run_id" in sent:
        check_run_id(sent.get("scope", MemoryScope.LONG_TERM), sent.get("run_id"))
    name: SpaceName | None = sent.get("space")
    if name is not None and name.id:
        check_name(name.id, "space.id")
    agent_id = sent.get("agent_id")
    return SpaceRequest(
        agent_id=None if agent_id is None else AgentId(agent_id),
        visibility=sent.get("visibility"),
        scope=sent.get("scope"),
        run_id=sent.get("run_id"),
        space=name,
        has_key="key" in sent,
    )


def _parse_payload(
    sent: SentFields, kind: MemoryKind, now: datetime
) -> tuple[dict[str, Any], datetime | None]:
    """The fields of the payload, and the expiry that its words ask for."""
    if kind is MemoryKind.RECORD:
        key, value = sent["key"], sent["value"]
        check_record(key, value)
        return {"key": key, "value": value, "content": render_record(key, value)}, None
    name = "content" if "content" in sent else "messages"
    said = sent[name]
    if not isinstance(said, str):
        messages = parse_messages(said)
        extract = sent.get("extract", True)
        content = render_messages(messages)
        return {"messages": messages, "content": content, "extract": extract}, None
    check_content(said, name)
    # An explicit `ttl_seconds` or `expires_at` wins over the words. A warning is due only if there
    # is neither, and the words look as if they meant one.
    text, term = _split_expiry_phrase(said, now, _parse_time_zone(sent))
    told = term is not None or not sent.keys().isdisjoint(("ttl_seconds", "expires_at"))
    ignored = not told and has_likely_expiry(said)
    extract = sent.get("extract", False)
    return {"content": text, "extract": extract, "term_ignored": ignored}, term


def _split_expiry_phrase(text: str, now: datetime, zone: tzinfo) -> tuple[str, datetime | None]:
    """The text without its expiry phrase ("for two weeks"), and the expiry. A text that would be
    blank without the phrase stays whole."""
    term = parse_expiry_phrase(text, now, zone)
    if term is None:
        return text, None
    rest = term.text_without_phrase
    return (text if is_blank(rest) else rest), term.expires_at


def _parse_time_zone(sent: SentFields) -> tzinfo:
    if "time_zone" not in sent:
        return UTC
    check_time_zone(sent["time_zone"])
    return ZoneInfo(sent["time_zone"])


def _parse_expiry(sent: SentFields, now: datetime) -> datetime | None:
    return explicit_expiry(sent.get("ttl_seconds"), sent.get("expires_at"), counted_from=now)


def _lookup_policy(
    sent: SentFields, rules: RetentionRules, scope: MemoryScope
) -> RetentionPolicy | None:
    name = sent.get("retention_policy")
    return None if name is None else rules.require_policy(name, scope)


def _parse_origin(sent: SentFields, asked: RequestedSpace, now: datetime) -> dict[str, Any]:
    """When it was observed, in which chat and run, and who said it."""
    observed_at = to_utc(sent.get("observed_at", now), "observed_at")
    check_observed_at(observed_at, now)
    chat = sent.get("learned_in")
    if chat is not None:
        check_name(chat, "chat_id")
    if asked.kind is SpaceKind.CHAT:
        if chat not in (None, asked.id):
            message = "differs from the chat of the space; leave it out"
            raise ValidationFailed.for_field("chat_id", message)
        chat = asked.id
    run_id = asked.id if asked.kind is SpaceKind.RUN else sent.get("run_id")
    return {
        "observed_at": observed_at,
        "learned_in": None if chat is None else to_chat_id(chat),
        "stated_by": sent.get("stated_by"),
        "run_id": None if run_id is None else RunId(run_id),
    }


def _parse_annotations(sent: SentFields) -> dict[str, Any]:
    if "time_zone" in sent:
        check_time_zone(sent["time_zone"])
    check_validity(sent.get("valid_from"), sent.get("valid_until"))
    plain = {n: sent[n] for n in ("type", "sensitivity", "portable") if n in sent}
    return plain | clean_fields(sent)


def _parse_links(sent: SentFields, kind: MemoryKind) -> dict[str, Any]:
    """Ids that the memory refers to, its own id, and `on_conflict`."""
    on_conflict = sent.get("on_conflict", OnConflict.KEEP)
    if "on_conflict" in sent and kind is not MemoryKind.RECORD:
        raise ValidationFailed.for_field("on_conflict", "is for records: send `key` and `value`")
    own_id = sent.get("id")
    if own_id is not None:
        check_id(own_id)
    return {
        "id": None if own_id is None else MemoryId(own_id),
        "supersedes": _parse_supersedes(sent.get("supersedes", ()), own_id),
        "source_entries": clean_source_entries(sent.get("source_entries", ())),
        "on_conflict": on_conflict,
        "request_approval": sent.get("request_approval", False),
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
