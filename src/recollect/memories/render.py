"""JSON of memories, the same in every response."""

from datetime import datetime
from typing import Any

from recollect.http.render import instant_text
from recollect.kernel.space import Space
from recollect.memories.fields import RENDERED_FIELDS
from recollect.memories.model import StoredMemory, effective_status

_SHOWN_NAMES = tuple(field.name for field in RENDERED_FIELDS)


def memory_to_json(stored: StoredMemory, now: datetime) -> dict[str, Any]:
    """All fields, null included. An expired row has the status `expired`, whatever is stored. An
    unreadable one is marked."""
    memory = stored.memory
    answer = {name: _to_json(getattr(memory, name)) for name in _SHOWN_NAMES}
    answer["status"] = effective_status(now, memory.status, memory.expires_at)
    return answer | {"unreadable": True} if stored.unreadable else answer


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
