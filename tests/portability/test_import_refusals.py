"""Lines that an import refuses: each has its event, and none closes a circle."""

from collections import Counter
from typing import Any

import pytest

from tests.support.memory.callers import Caller, Callers
from tests.support.memory.portability import MINE, SECRET, SSN, a_line, imports
from tests.support.world import new_id


def told(callers: Callers, caller: Caller) -> list[dict[str, Any]]:
    """Events of what was refused to somebody."""
    found = [
        event
        for kind in ("memory.refused", "memory.denied")
        for event in callers.auditor.lists("/events", event_type=kind)
    ]
    return [event for event in found if event["requester_id"] == caller.name]


def test_every_line_that_screening_or_a_right_refuses_has_an_event(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    mine, his = ann.registers()["id"], bob.registers()["id"]
    lines = [
        a_line(SECRET),
        a_line(f"it is {SSN}", agent_id=mine, space=None, visibility="public"),
        a_line("for him", agent_id=his, space=None, visibility="private"),
        {"schema": 1, "type": "chat", "id": new_id(), "kind": "group", "title": SECRET}
        | {"created_by": ann.name, "created_at": "2026-01-01T00:00:00Z"},
        a_line("fine"),
        a_line(""),
    ]
    codes = ["secret_refused", "pii_not_allowed", "not_owner", "secret_refused"]
    assert [one["code"] for one in imports(ann, lines, mode="fail", dry_run=True)["refused"]] == [
        *codes,
        "validation_error",
    ]
    assert told(callers, ann) == []
    done = imports(ann, lines, mode="fail")
    assert [one["line"] for one in done["refused"]] == [1, 2, 3, 4, 6]
    assert done["created"] == 1
    events = told(callers, ann)
    assert Counter(event["payload"]["code"] for event in events) == Counter(codes)
    assert {event["outcome"] for event in events} == {"denied"}
    assert [part for part in ("48213377", SSN) if part in str(events)] == []


def circle(size: int) -> list[dict[str, Any]]:
    """Memories each of which says to have replaced the one before it, and the first the last."""
    ids = [new_id() for _ in range(size)]
    return [
        a_line(f"step {place}", id=id_, supersedes=[ids[place - 1]])
        for place, id_ in enumerate(ids)
    ]


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("backwards", [False, True])
def test_the_line_that_closes_a_circle_is_refused(
    callers: Callers, size: int, backwards: bool
) -> None:
    ann, lines = callers.person("ann"), circle(size)
    lines = lines[::-1] if backwards else lines
    (refused,) = imports(ann, lines, mode="fail", dry_run=True)["refused"]
    assert (refused["line"], refused["code"]) == (size, "validation_error")
    assert imports(ann, lines, mode="fail")["refused"] == [refused]
    assert len(ann.lists("/memories", spaces="user")) == size - 1


def test_a_circle_of_successors_is_refused_too(callers: Callers) -> None:
    ann, lines = callers.person("ann"), circle(3)
    for line in lines:
        (line["superseded_by"],) = line.pop("supersedes")
        line["status"] = "superseded"
    assert [one["line"] for one in imports(ann, lines, mode="fail")["refused"]] == [3]


def test_a_circle_through_stored_memories_is_refused_and_a_line_of_them_is_not(
    callers: Callers,
) -> None:
    ann = callers.person("ann")
    oldest = ann.adds("step one", **MINE)
    middle = ann.adds("step two", supersedes=[oldest["id"]], **MINE)
    latest = ann.adds("step three", supersedes=[middle["id"]], **MINE)
    again = a_line("step one", id=oldest["id"], supersedes=[latest["id"]])
    (refused,) = imports(ann, [again], mode="replace")["refused"]
    assert (refused["line"], refused["code"]) == (1, "validation_error")
    further = a_line("step four", id=new_id(), supersedes=[latest["id"]])
    assert imports(ann, [further], mode="fail")["created"] == 1


@pytest.mark.amendment(21)
def test_a_refused_line_says_which_field_and_what_would_be_right(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    his = bob.registers()["id"]
    lines: list[Any] = [
        a_line("x", type_of_memory="fact"),
        a_line("x", visibilty="public"),
        a_line(""),
        a_line(SECRET),
        a_line("x", created_at="yesterday"),
        a_line("for him", agent_id=his, space=None, visibility="private"),
    ]
    refused = imports(ann, lines, mode="fail")["refused"]
    assert [(one["line"], one["field"]) for one in refused] == [
        (1, "type_of_memory"),
        (2, "visibilty"),
        (3, "content"),
        (4, "content"),
        (5, "created_at"),
        (6, None),
    ]
    messages = [one["message"] for one in refused]
    assert messages[1] == "visibilty: unknown field; did you mean `visibility`?"
    assert "1 to 100000 characters" in messages[2]
    assert "send it without" in messages[3]
    assert "ISO-8601" in messages[4]
    assert not any("48213377" in message for message in messages)
