"""JSON of memories, history items and explanations, the same in every response."""

from datetime import datetime
from typing import Any

from recollect.http.render import instant_text
from recollect.kernel.space import Space
from recollect.memories.fields import RENDERED_FIELDS
from recollect.memories.model import Memory, StoredMemory, effective_status
from recollect.memories.read.history import HistoryItem
from recollect.visibility.explanation import VisibilityExplanation

_SHOWN_NAMES = tuple(field.name for field in RENDERED_FIELDS)


def memory_to_json(stored: StoredMemory, now: datetime) -> dict[str, Any]:
    """All fields, null included. An expired row has the status `expired`, whatever is stored."""
    memory = stored.memory
    answer = {name: _to_json(getattr(memory, name)) for name in _SHOWN_NAMES}
    return answer | {"status": effective_status(now, memory.status, memory.expires_at)}


def history_item_to_json(item: HistoryItem) -> dict[str, Any]:
    """Content and value only if the viewer may read this version."""
    answer = {
        "memory_id": item.memory_id,
        "version": item.version,
        "change": item.change,
        "at": instant_text(item.at),
        "by": None if item.by is None else item.by.spelling,
        "superseded_by": item.superseded_by,
        "depth": item.depth,
    }
    return answer | ({"content": item.content, "value": item.value} if item.is_readable else {})


def explanation_to_json(explanation: VisibilityExplanation) -> dict[str, Any]:
    """The decision and its facts, without the text of the memory."""
    memory = explanation.memory
    answer = {
        "memory_id": memory.id,
        "allowed": explanation.allowed,
        "rule": explanation.rule,
        "context": explanation.context,
        "relations": list(explanation.relations),
        "space": _space_json(memory.space),
        "origin": memory.origin,
        "portable": memory.portable,
        "expires_at": instant_text(memory.expires_at),
        "expiry_rule": memory.expiry_rule,
        "trust": memory.trust,
        "sources": _sources_json(memory),
        "supersession": _supersession_json(memory),
    }
    return answer | ({"score": explanation.score} if explanation.score is not None else {})


def _to_json(value: Any) -> Any:
    """The value in types that JSON has. By the type of the value, not by the kind of its field:
    this runs for every field of every memory of an answer."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, datetime):
        return instant_text(value)
    return _space_json(value) if isinstance(value, Space) else value


def _space_json(space: Space) -> dict[str, Any]:
    return {"kind": space.kind, "id": space.id}


def _sources_json(memory: Memory) -> list[dict[str, str]]:
    entries = [{"kind": "entry", "id": id_} for id_ in memory.source_entries]
    return entries + [{"kind": "memory", "id": id_} for id_ in memory.source_memories]


def _supersession_json(memory: Memory) -> list[dict[str, str]]:
    replaced = [{"relation": "supersedes", "id": str(id_)} for id_ in memory.supersedes]
    if memory.superseded_by is None:
        return replaced
    return [*replaced, {"relation": "superseded_by", "id": memory.superseded_by}]
