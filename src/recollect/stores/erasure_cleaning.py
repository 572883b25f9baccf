"""Pure functions that redact a memory or one of its versions."""

from dataclasses import replace
from typing import Any

from recollect.domain.agents import Owner, OwnerKind
from recollect.domain.erasure import Target
from recollect.domain.injection import score
from recollect.domain.memories import Memory, Message, Trust, render_messages, render_record
from recollect.domain.traces import ERASED, Traces
from recollect.ports.erasures import Cleaning
from recollect.ports.memories import Stored

_TEXTS = ("content", "value", "tags", "metadata")


def cleaned_memory(stored: Stored, cleaning: Cleaning) -> Stored:
    """The memory without identifiers; if the target stated it, without stater and trust.

    Returns an equal value if there was nothing to redact: callers compare to see what changed.
    """
    traces = cleaning.of_memory(stored)
    fresh = _unsaid(_without(stored.memory, traces, cleaning.target), cleaning.target)
    cleaned = replace(
        stored,
        memory=fresh,
        bare_names=tuple(dict.fromkeys(map(traces.replaced, stored.bare_names))),
        written_by=_author(stored.written_by, cleaning.target),
    )
    return cleaned if fresh.content == stored.memory.content else _rescored(cleaned)


def cleaned_snapshot(
    kept: dict[str, Any], cleaning: Cleaning, *, linked: bool, key: str | None
) -> dict[str, Any]:
    """A version of a memory. One that was about the target loses all its text, even if the memory
    is about others now. In other versions identifiers are redacted: by the full plan if the memory
    is `linked`, else unambiguous ones only. `key` is the memory's key, None for a statement."""
    target, subjects = cleaning.target, set(kept.get("subjects", ()))
    if kept.get("stated_by") in target.person_ids:
        kept = kept | {"stated_by": None, "trust": str(Trust.UNKNOWN)}
    if subjects & set(target.person_ids):
        others = [one for one in kept["subjects"] if one not in target.person_ids]
        nothing: dict[str, Any] = {"content": ERASED, "value": None, "tags": [], "metadata": {}}
        return kept | nothing | {"subjects": others}
    if not linked:
        traces = cleaning.sure
    else:
        traces = cleaning.rare if subjects & cleaning.namesakes else cleaning.full
    cleaned: dict[str, Any] = {n: traces.cleaned(kept[n]) for n in _TEXTS if n in kept}
    if key is not None and cleaned.get("value") != kept.get("value"):
        text = render_record(traces.replaced(key), cleaned["value"])
        cleaned |= {"content": traces.replaced(text)}
    return kept | cleaned


def _without(memory: Memory, traces: Traces, target: Target) -> Memory:
    """Redact every text field. The content of records and messages is rendered from other fields:
    it is rendered again from the redacted ones, so that both agree (a field name that became
    ambiguous got a number) and redacted once more."""
    clean = replace(
        memory,
        content=traces.replaced(memory.content),
        value=None if memory.value is None else traces.cleaned(memory.value),
        key=None if memory.key is None else traces.replaced(memory.key),
        messages=tuple(_message(one, traces, target) for one in memory.messages),
        tags=tuple(dict.fromkeys(map(traces.replaced, memory.tags))),
        metadata=traces.cleaned(memory.metadata),
    )
    if all(getattr(clean, name) == getattr(memory, name) for name in ("key", "value", "messages")):
        return clean
    return replace(clean, content=traces.replaced(_rendered(clean)))


def _rendered(memory: Memory) -> str:
    """Messages or record rendered as content; a compacted memory has neither."""
    if memory.messages:
        return render_messages(memory.messages)
    return render_record(memory.key or "", memory.value) if memory.value else memory.content


def _rescored(stored: Stored) -> Stored:
    """Score the new text for prompt injection, as a write of this text would."""
    memory = stored.memory
    suspicion = score(memory.content, spoken=bool(memory.messages))
    return replace(stored, suspicion=suspicion.score, suspicion_reasons=suspicion.reasons)


def _unsaid(memory: Memory, target: Target) -> Memory:
    if memory.stated_by not in target.person_ids:
        return memory
    return replace(memory, stated_by=None, trust=Trust.UNKNOWN)


def _message(message: Message, traces: Traces, target: Target) -> Message:
    return replace(
        message,
        content=traces.replaced(message.content),
        name=None if message.name is None else traces.replaced(message.name),
        user_id=target.stand_in if message.user_id in target.user_ids else message.user_id,
    )


def _author(author: Owner, target: Target) -> Owner:
    theirs = author.kind is OwnerKind.USER and author.id in target.user_ids
    return Owner.user(target.stand_in) if theirs else author
