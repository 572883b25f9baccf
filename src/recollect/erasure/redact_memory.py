"""Pure functions that redact a memory or one of its versions."""

from dataclasses import replace
from typing import Any

from recollect.erasure.identifier_matcher import ERASED, IdentifierMatcher
from recollect.erasure.model import ErasureTarget
from recollect.erasure.plan import RedactionPlan
from recollect.kernel.owner import Owner, OwnerKind
from recollect.memories.model import (
    Memory,
    MemoryMessage,
    StoredMemory,
    TrustLevel,
    render_messages,
    render_record,
)
from recollect.screening.injection import score_injection

_TEXT_FIELDS = ("content", "value", "tags", "metadata")


def redact_memory(stored: StoredMemory, plan: RedactionPlan) -> StoredMemory:
    """The memory without identifiers; if the target stated it, without stater and trust.

    Returns an equal value if there was nothing to redact: callers compare to see what changed.
    """
    matcher = plan.matcher_for_memory(stored)
    fresh = _clear_stater(_redact_fields(stored.memory, matcher, plan.target), plan.target)
    cleaned = replace(
        stored,
        memory=fresh,
        bare_names=tuple(dict.fromkeys(map(matcher.redact, stored.bare_names))),
        written_by=_replace_author(stored.written_by, plan.target),
    )
    return cleaned if fresh.content == stored.memory.content else _rescore_suspicion(cleaned)


def redact_snapshot(
    kept: dict[str, Any], plan: RedactionPlan, *, linked: bool, key: str | None
) -> dict[str, Any]:
    """A version of a memory. One that was about the target loses all its text, even if the memory
    is about others now. In other versions identifiers are redacted: by the full plan if the memory
    is `linked`, else unambiguous ones only. `key` is the memory's key, None for a statement."""
    target, subjects = plan.target, set(kept.get("subjects", ()))
    if kept.get("stated_by") in target.person_ids:
        kept = kept | {"stated_by": None, "trust": str(TrustLevel.UNKNOWN)}
    if subjects & set(target.person_ids):
        others = [one for one in kept["subjects"] if one not in target.person_ids]
        nothing: dict[str, Any] = {"content": ERASED, "value": None, "tags": [], "metadata": {}}
        return kept | nothing | {"subjects": others}
    matcher = plan.sure
    if linked:
        matcher = plan.rare if subjects & plan.namesakes else plan.full
    cleaned: dict[str, Any] = {n: matcher.redact_json(kept[n]) for n in _TEXT_FIELDS if n in kept}
    if key is not None and cleaned.get("value") != kept.get("value"):
        text = render_record(matcher.redact(key), cleaned["value"])
        cleaned |= {"content": matcher.redact(text)}
    return kept | cleaned


def _redact_fields(memory: Memory, matcher: IdentifierMatcher, target: ErasureTarget) -> Memory:
    """Redact every text field. The content of records and messages is rendered from other fields:
    it is rendered again from the redacted ones, so that both agree (a field name that became
    ambiguous got a number) and redacted once more."""
    clean = replace(
        memory,
        content=matcher.redact(memory.content),
        value=None if memory.value is None else matcher.redact_json(memory.value),
        key=None if memory.key is None else matcher.redact(memory.key),
        messages=tuple(_redact_message(one, matcher, target) for one in memory.messages),
        tags=tuple(dict.fromkeys(map(matcher.redact, memory.tags))),
        metadata=matcher.redact_json(memory.metadata),
    )
    if all(getattr(clean, name) == getattr(memory, name) for name in ("key", "value", "messages")):
        return clean
    return replace(clean, content=matcher.redact(_render_content(clean)))


def _render_content(memory: Memory) -> str:
    """Messages or record rendered as content; a compacted memory has neither."""
    if memory.messages:
        return render_messages(memory.messages)
    return render_record(memory.key or "", memory.value) if memory.value else memory.content


def _rescore_suspicion(stored: StoredMemory) -> StoredMemory:
    """Score the new text for prompt injection, as a write of this text would."""
    memory = stored.memory
    suspicion = score_injection(memory.content, spoken=bool(memory.messages))
    return replace(stored, suspicion=suspicion.score, suspicion_reasons=suspicion.reasons)


def _clear_stater(memory: Memory, target: ErasureTarget) -> Memory:
    if memory.stated_by not in target.person_ids:
        return memory
    return replace(memory, stated_by=None, trust=TrustLevel.UNKNOWN)


def _redact_message(
    message: MemoryMessage, matcher: IdentifierMatcher, target: ErasureTarget
) -> MemoryMessage:
    return replace(
        message,
        content=matcher.redact(message.content),
        name=None if message.name is None else matcher.redact(message.name),
        user_id=target.stand_in if message.user_id in target.user_ids else message.user_id,
    )


def _replace_author(author: Owner, target: ErasureTarget) -> Owner:
    is_erased = author.kind is OwnerKind.USER and author.id in target.user_ids
    return Owner.user(target.stand_in) if is_erased else author
