"""How an event is told: its type, level, message and place in a stream."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.audit.model import (
    AuditOutcome,
    Event,
    EventCursor,
    EventKind,
    EventLevel,
    decode_event_cursor,
    encode_event_cursor,
    mask_key,
)
from recollect.kernel.errors import InvalidInput
from recollect.kernel.pages import encode_key

AT = datetime(2030, 1, 1, tzinfo=UTC)
ID = "0190b0a3-5f0e-7cc3-9f3f-1a2b3c4d5e6f"


def test_a_message_holds_ids_and_the_masked_key_and_nothing_else() -> None:
    event = Event(
        ID,
        AT,
        EventKind.MEMORY,
        "write",
        memory_id="m-1",
        agent_id="guide",
        run_id="r-1",
        params={"key": "passport number", "source": "api", "note": "secret"},
        actor_user_id="ann",
    )
    assert event.event_type == "memory.write"
    assert event.message == "memory.write, memory m-1, agent guide, run r-1, key p***"
    assert Event(ID, AT, EventKind.AGENT, "remove").message == "agent.remove"


@pytest.mark.parametrize(
    ("kind", "action", "outcome", "level"),
    [
        (EventKind.MEMORY, "write", AuditOutcome.ALLOWED, EventLevel.INFO),
        (EventKind.MEMORY, "denied", AuditOutcome.DENIED, EventLevel.WARNING),
        (EventKind.ALERT, "mass_deletion", AuditOutcome.ALLOWED, EventLevel.WARNING),
        (EventKind.EXTRACTION, "failed", AuditOutcome.ALLOWED, EventLevel.ERROR),
        (EventKind.EXTRACTION, "done", AuditOutcome.ALLOWED, EventLevel.INFO),
    ],
)
def test_refusals_and_alerts_are_warnings_and_failures_errors(
    kind: EventKind, action: str, outcome: AuditOutcome, level: EventLevel
) -> None:
    assert Event(ID, AT, kind, action, outcome).level is level


@given(st.text(min_size=1))
def test_a_masked_key_shows_at_most_its_first_character(key: str) -> None:
    masked = mask_key(key)
    assert masked is not None
    assert masked == f"{key[0]}***"


@given(st.integers(0, 2**63 - 1), st.uuids())
def test_a_place_survives_its_cursor(position: int, event_id: object) -> None:
    place = EventCursor(position, str(event_id))
    assert decode_event_cursor(encode_event_cursor(place)) == place


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "e30",
        "bnVsbA",
        encode_key("events", AT, ID),
        encode_key("event stream", AT, ID),
        encode_event_cursor(EventCursor(-1, ID)),
        encode_event_cursor(EventCursor(2**63, ID)),
        encode_event_cursor(EventCursor(1, "no uuid")),
        encode_event_cursor(EventCursor(1, ID)) + "=",
        encode_event_cursor(EventCursor(True, ID)),
    ],
)
def test_a_cursor_of_nobody_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput):
        decode_event_cursor(cursor)


@given(st.text())
def test_any_text_is_a_cursor_or_refused(cursor: str) -> None:
    try:
        place = decode_event_cursor(cursor)
    except InvalidInput:
        return
    assert encode_event_cursor(place) == cursor
