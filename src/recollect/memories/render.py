"""JSON of memories, history items and explanations, the same in every response."""

from datetime import datetime
from typing import Any

from recollect.http.render import instant_text
from recollect.kernel.space import Space
from recollect.memories.model import Memory, StoredMemory, effective_status
from recollect.memories.read.history import HistoryItem
from recollect.visibility.explanation import VisibilityExplanation

# Fields that need no conversion, in the order of the response.
_CONTENT_FIELDS = ("id", "kind", "content", "key", "value")
_AGENT_FIELDS = ("agent_id", "org_id")
_ORIGIN_FIELDS = ("stated_by", "learned_in", "origin")
_LINK_FIELDS = ("superseded_by", "repeats", "version", "source")
_RUN_FIELDS = ("source_agent", "run_id", "parent_run_id")


def memory_to_json(stored: StoredMemory, now: datetime) -> dict[str, Any]:
    """All fields, null included. An expired row has the status `expired`, whatever is stored."""
    memory = stored.memory
    return {
        **_pick_fields(memory, _CONTENT_FIELDS),
        **_location_json(memory),
        **_annotation_json(memory),
        **_time_json(memory),
        **_link_json(memory),
        **_pick_fields(memory, _RUN_FIELDS),
        "status": effective_status(now, memory.status, memory.expires_at),
        "archive_reason": memory.archive_reason,
    }


def history_item_to_json(item: HistoryItem) -> dict[str, Any]:
    """Content and value only if the viewer may read this version."""
    shown = {
        "memory_id": item.memory_id,
        "version": item.version,
        "change": item.change,
        "at": instant_text(item.at),
        "by": None if item.by is None else item.by.spelling,
        "superseded_by": item.superseded_by,
        "depth": item.depth,
    }
    return shown | ({"content": item.content, "value": item.value} if item.is_readable else {})


def explanation_to_json(told: VisibilityExplanation) -> dict[str, Any]:
    """The decision and its facts, without the text of the memory."""
    memory = told.memory
    shown = {
        "memory_id": memory.id,
        "allowed": told.allowed,
        "rule": told.rule,
        "context": told.context,
        "relations": list(told.relations),
        "space": _space_json(memory.space),
        "origin": memory.origin,
        "portable": memory.portable,
        "expires_at": instant_text(memory.expires_at),
        "expiry_rule": memory.expiry_rule,
        "trust": memory.trust,
        "sources": _sources_json(memory),
        "supersession": _supersession_json(memory),
    }
    return shown | ({"score": told.score} if told.score is not None else {})


def _pick_fields(memory: Memory, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in names}


def _space_json(space: Space) -> dict[str, Any]:
    return {"kind": space.kind, "id": space.id}


def _location_json(memory: Memory) -> dict[str, Any]:
    space = memory.space
    return {
        "space": _space_json(space),
        "group_id": space.group_id,
        "visibility": space.visibility,
        "scope": space.scope,
        **_pick_fields(memory, _AGENT_FIELDS),
    }


def _annotation_json(memory: Memory) -> dict[str, Any]:
    return {
        **_pick_fields(memory, ("type", "sensitivity", "portable")),
        "subjects": list(memory.subjects),
        **_pick_fields(memory, _ORIGIN_FIELDS),
        "observed_at": instant_text(memory.observed_at),
        **_pick_fields(memory, ("confidence", "verified", "trust")),
        "tags": list(memory.tags),
        "metadata": memory.metadata,
        "pii_tags": list(memory.pii_tags),
    }


def _time_json(memory: Memory) -> dict[str, Any]:
    return {
        "retention_policy": memory.retention_policy,
        "expires_at": instant_text(memory.expires_at),
        "expiry_rule": memory.expiry_rule,
        "requested_expires_at": instant_text(memory.requested_expires_at),
        "valid_from": instant_text(memory.valid_from),
        "valid_until": instant_text(memory.valid_until),
        "created_at": instant_text(memory.created_at),
        "updated_at": instant_text(memory.updated_at),
        "retracted_at": instant_text(memory.retracted_at),
    }


def _link_json(memory: Memory) -> dict[str, Any]:
    return {
        "supersedes": list(memory.supersedes),
        "conflicts_with": list(memory.conflicts_with),
        **_pick_fields(memory, _LINK_FIELDS),
        "source_entries": list(memory.source_entries),
        "source_memories": list(memory.source_memories),
    }


def _sources_json(memory: Memory) -> list[dict[str, str]]:
    entries = [{"kind": "entry", "id": id_} for id_ in memory.source_entries]
    return entries + [{"kind": "memory", "id": id_} for id_ in memory.source_memories]


def _supersession_json(memory: Memory) -> list[dict[str, str]]:
    replaced = [{"relation": "supersedes", "id": str(id_)} for id_ in memory.supersedes]
    if memory.superseded_by is None:
        return replaced
    return [*replaced, {"relation": "superseded_by", "id": memory.superseded_by}]
