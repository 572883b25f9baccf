"""JSON of memories, history items and explanations, the same in every response."""

from datetime import datetime
from typing import Any

from recollect.api.handlers.shapes import instant
from recollect.domain.expiry import status_at
from recollect.domain.memories import Memory
from recollect.domain.spaces import Space
from recollect.ports.memories import Stored
from recollect.services.explaining import Explanation
from recollect.services.past import HistoryItem

# Fields that need no conversion, in the order of the response.
_OF_CONTENT = ("id", "kind", "content", "key", "value")
_OF_PLACE = ("agent_id", "org_id")
_OF_BIRTH = ("stated_by", "learned_in", "origin")
_OF_LINKS = ("superseded_by", "repeats", "version", "source")
_OF_RUN = ("source_agent", "run_id", "parent_run_id")


def to_memory(stored: Stored, now: datetime) -> dict[str, Any]:
    """All fields, null included. An expired row has the status `expired`, whatever is stored."""
    memory = stored.memory
    return {
        **_members(memory, _OF_CONTENT),
        **_to_place(memory),
        **_to_marks(memory),
        **_to_terms(memory),
        **_to_links(memory),
        **_members(memory, _OF_RUN),
        "status": status_at(now, memory.status, memory.expires_at),
        "archive_reason": memory.archive_reason,
    }


def to_history_item(item: HistoryItem) -> dict[str, Any]:
    """Content and value only if the viewer may read this version."""
    shown = {
        "memory_id": item.memory_id,
        "version": item.version,
        "change": item.change,
        "at": instant(item.at),
        "by": None if item.by is None else item.by.spelling,
        "superseded_by": item.superseded_by,
        "depth": item.depth,
    }
    return shown | ({"content": item.content, "value": item.value} if item.readable else {})


def to_explanation(told: Explanation) -> dict[str, Any]:
    """The decision and its facts, without the text of the memory."""
    memory = told.memory
    shown = {
        "memory_id": memory.id,
        "allowed": told.allowed,
        "rule": told.rule,
        "context": told.context,
        "relations": list(told.relations),
        "space": _to_space(memory.space),
        "origin": memory.origin,
        "portable": memory.portable,
        "expires_at": instant(memory.expires_at),
        "expiry_rule": memory.expiry_rule,
        "trust": memory.trust,
        "sources": _to_sources(memory),
        "supersession": _to_supersession(memory),
    }
    return shown | ({"score": told.score} if told.score is not None else {})


def _members(memory: Memory, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in names}


def _to_space(space: Space) -> dict[str, Any]:
    return {"kind": space.kind, "id": space.id}


def _to_place(memory: Memory) -> dict[str, Any]:
    space = memory.space
    return {
        "space": _to_space(space),
        "group_id": space.group_id,
        "visibility": space.visibility,
        "scope": space.scope,
        **_members(memory, _OF_PLACE),
    }


def _to_marks(memory: Memory) -> dict[str, Any]:
    return {
        **_members(memory, ("type", "sensitivity", "portable")),
        "subjects": list(memory.subjects),
        **_members(memory, _OF_BIRTH),
        "observed_at": instant(memory.observed_at),
        **_members(memory, ("confidence", "verified", "trust")),
        "tags": list(memory.tags),
        "metadata": memory.metadata,
        "pii_tags": list(memory.pii_tags),
    }


def _to_terms(memory: Memory) -> dict[str, Any]:
    return {
        "retention_policy": memory.retention_policy,
        "expires_at": instant(memory.expires_at),
        "expiry_rule": memory.expiry_rule,
        "requested_expires_at": instant(memory.requested_expires_at),
        "valid_from": instant(memory.valid_from),
        "valid_until": instant(memory.valid_until),
        "created_at": instant(memory.created_at),
        "updated_at": instant(memory.updated_at),
        "retracted_at": instant(memory.retracted_at),
    }


def _to_links(memory: Memory) -> dict[str, Any]:
    return {
        "supersedes": list(memory.supersedes),
        "conflicts_with": list(memory.conflicts_with),
        **_members(memory, _OF_LINKS),
        "source_entries": list(memory.source_entries),
        "source_memories": list(memory.source_memories),
    }


def _to_sources(memory: Memory) -> list[dict[str, str]]:
    entries = [{"kind": "entry", "id": id_} for id_ in memory.source_entries]
    return entries + [{"kind": "memory", "id": id_} for id_ in memory.source_memories]


def _to_supersession(memory: Memory) -> list[dict[str, str]]:
    replaced = [{"relation": "supersedes", "id": str(id_)} for id_ in memory.supersedes]
    if memory.superseded_by is None:
        return replaced
    return [*replaced, {"relation": "superseded_by", "id": memory.superseded_by}]
