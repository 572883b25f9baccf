"""The operation that lists events of a caller's own spaces."""

from recollect.api.memory.rows import ID, LIST, id_param, memory_operation, nullable_field, resource
from recollect.api.operation import Operation
from recollect.api.params import Param, Schema, instant_param, require_storable_text, text_param
from recollect.api.resources import INSTANT, OBJECT, TEXT
from recollect.domain.events import JUSTIFICATION_CHARS_MAX, AuditOutcome, EventKind, EventLevel

_TYPE_CHARS_MAX = 64


def _parse_event_type(value: str) -> tuple[str, str]:
    kind, dot, action = require_storable_text(value).partition(".")
    if not (dot and action and kind in {str(known) for known in EventKind}):
        raise ValueError("must be a kind of event, a dot and an action, such as memory.write")
    return kind, action


RESOURCES: dict[str, Schema] = {
    "MemoryEvent": resource(
        {
            "id": ID,
            "event_type": TEXT | {"examples": ["memory.write", "agent.register"]},
            "timestamp": INSTANT,
            "level": {"type": "string", "enum": [str(level) for level in EventLevel]},
            "message": TEXT,
            "run_id": nullable_field(TEXT),
            "agent_slug": nullable_field(TEXT),
            "requester_id": nullable_field(TEXT),
            "outcome": {"type": "string", "enum": [str(outcome) for outcome in AuditOutcome]},
            "payload": OBJECT,
        }
    )
}

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "listEvents",
        "GET /v1/events",
        200,
        "List what happened in the caller's own spaces, the newest first; an auditor sees all. "
        "With `Accept: text/event-stream` the answer is a stream instead: from `after` or "
        "`Last-Event-ID` on (else from `from`, else from now), the oldest first, and then as it "
        "happens.",
        response="MemoryEvent",
        query=(
            Param(
                "event_type",
                _parse_event_type,
                {"type": "string", "minLength": 3, "maxLength": _TYPE_CHARS_MAX},
                "Only events of this type, such as `memory.write`.",
            ),
            id_param("memory_id", "Only events of this memory."),
            id_param("agent_id", "Only events of this agent."),
            id_param("run_id", "Only events of this run."),
            instant_param("from", "Only events of this instant or later."),
            instant_param("to", "Only events before this instant."),
            text_param(
                "justification",
                "Why an auditor looks; it goes to the audit log.",
                chars_max=JUSTIFICATION_CHARS_MAX,
            ),
        ),
        paging=LIST,
        streams=True,
    ),
)
