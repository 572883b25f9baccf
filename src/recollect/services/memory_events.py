"""The payload of events about a memory: its id, space, tags and key, never content or values."""

from typing import Any

from recollect.domain.events import mask_key
from recollect.domain.memories import Memory
from recollect.domain.retention import RetentionRules
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.services.memory_audit import MemoryAudit


def record_memory_event(
    audit: MemoryAudit,
    tx: Tx,
    requester: Requester | None,
    *,
    event_type: str,
    memory: Memory,
    event_id: str | None = None,
    **more: Any,
) -> str:
    """Record an event about this memory, with `more` in its payload, and return the event's id:
    `event_id` if that is unused, else a new one."""
    return audit.record(
        tx,
        requester,
        event_type,
        space=memory.space,
        memory_id=memory.id,
        agent_id=memory.agent_id,
        run_id=memory.run_id,
        payload=memory_payload(memory, audit.rules) | more,
        event_id=event_id,
    )


def memory_payload(memory: Memory, rules: RetentionRules) -> dict[str, Any]:
    """The payload that every event about a memory has. The key of a memory with critical personal
    data may hold some of that itself, so it is masked."""
    critical = rules.is_critical(memory.pii_tags)
    return {
        "memory_id": memory.id,
        "scope": str(memory.space.scope),
        "key": mask_key(memory.key) if critical else memory.key,
        "has_pii": bool(memory.pii_tags),
        "pii_tags": list(memory.pii_tags),
        "space": {"kind": str(memory.space.kind), "id": memory.space.id},
    }
