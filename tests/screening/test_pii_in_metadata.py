"""Personal data in what hangs on a memory, its tags and metadata, counts like that in its text."""

from typing import Any

import pytest

from tests.conftest import Host
from tests.support.memory.callers import Callers
from tests.support.memory.portability import MINE, SSN, a_line, codes, imports

MAIL = "zqmarks@example.com"
MARKS: dict[str, dict[str, Any]] = {
    "tags[1]": {"tags": ["plain", SSN]},
    "metadata": {"metadata": {"file": [{"note": f"it is {SSN}"}]}},
}
NAMED = {"metadata": {"file": {SSN: True}}}
KEYED = {"key": f"of {SSN}", "value": {"a": 1}}


@pytest.mark.parametrize("marks", [*MARKS.values(), NAMED])
def test_it_is_tagged_at_creation_and_in_a_change(callers: Callers, marks: dict[str, Any]) -> None:
    ann = callers.person("ann")
    memory = ann.adds("a plain text", **marks, **MINE)
    assert (memory["pii_tags"], memory["expiry_rule"]) == (["ssn"], "pii:critical")
    other = ann.adds("another plain text", **MINE)
    changed = ann.patch("/memories/{}", other["id"], body=marks).expect(200)
    assert (changed["pii_tags"], changed["expiry_rule"]) == (["ssn"], "pii:critical")
    item = {"op": "create", "content": "one more"} | marks | MINE
    done = ann.post("/memories/batch", body={"items": [item]}).expect(200)
    made = ann.get("/memories/{}", done["results"][0]["id"]).expect(200)
    assert made["pii_tags"] == ["ssn"]


@pytest.mark.parametrize("marks", [*MARKS.values(), NAMED])
def test_a_caller_can_not_take_the_tag_away_while_the_mark_or_the_history_has_it(
    callers: Callers, marks: dict[str, Any]
) -> None:
    ann = callers.person("ann")
    memory = ann.adds("a plain text", **marks, **MINE)
    kept: list[dict[str, Any]] = [
        {"content": "a newer text"},
        {"tags": [], "metadata": {}},
        {"type": "event"},
    ]
    for change in [{}, *kept]:
        told = ann.patch("/memories/{}", memory["id"], body={"pii_tags": []} | change).expect(200)
        assert (told["pii_tags"], told["expires_at"]) == (["ssn"], memory["expires_at"])


def test_the_tag_of_a_key_stays_when_the_value_changes(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.post("/memories", body=KEYED | MINE).expect(201)["memory"]
    change = {"value": {"b": 2}, "pii_tags": []}
    assert ann.patch("/memories/{}", memory["id"], body=change).expect(200)["pii_tags"] == ["ssn"]


@pytest.mark.parametrize("field", MARKS)
def test_no_open_space_takes_it(callers: Callers, field: str) -> None:
    ann, marks = callers.person("ann"), MARKS[field]
    agent = ann.registers()["id"]
    body = {"content": "a plain text", "agent_id": agent}
    plain = ann.post("/memories", body=body).expect(201)["memory"]
    private = ann.adds("a private text", agent_id=agent, visibility="private", **marks)
    item = {"op": "create"} | body | marks
    replies = [
        ann.post("/memories", body=body | marks | {"visibility": "public"}),
        ann.post("/memories", body=body | marks | {"scope": "org"}),
        ann.patch("/memories/{}", plain["id"], body=marks),
        ann.post("/memories/batch", body={"items": [item]}),
        ann.post("/memories/{}/move", private["id"], body={"visibility": "public"}),
    ]
    for reply in replies:
        details = reply.refused(422, "pii_not_allowed")
        assert (details["field"], details["pii_tags"]) == (field, ["ssn"])
        assert SSN not in str(reply.body)
    told = imports(
        ann,
        [a_line("x", agent_id=agent, space=None, visibility="public", **marks)],
        mode="fail",
    )
    assert codes(told) == [(1, "pii_not_allowed")]
    assert {row["id"] for row in ann.lists("/memories", agent_id=agent)} == {
        plain["id"],
        private["id"],
    }


@pytest.mark.parametrize("field", MARKS)
def test_a_server_that_rejects_it_rejects_it_there(host: Host, field: str) -> None:
    with host(pii__mode="reject") as world:
        ann = Callers(world).person("ann")
        body = {"content": "a plain text"} | MARKS[field] | MINE
        assert ann.post("/memories", body=body).refused(422, "pii_refused")["field"] == field
        assert SSN not in world.database.stored_text()


def test_marks_stand_for_it_and_no_tag_and_no_member_is_doubled_or_lost(host: Host) -> None:
    with host(pii__mode="redact") as world:
        ann = Callers(world).person("ann")
        agent = ann.registers()["id"]
        marks: dict[str, Any] = {
            "tags": [MAIL, "a", "other" + MAIL],
            "metadata": {MAIL: 1, "other" + MAIL: 2, "[email]": 3, "list": [SSN]},
        }
        clean = {
            "tags": ["[email]", "a"],
            "metadata": {"[email] 2": 1, "[email] 3": 2, "[email]": 3, "list": ["[ssn]"]},
        }
        shown = ("tags", "metadata", "pii_tags")
        expected = (*clean.values(), [])
        memory = ann.adds("a plain text", agent_id=agent, **marks)
        assert tuple(memory[name] for name in shown) == expected
        other = ann.adds("another plain text", agent_id=agent)
        changed = ann.patch("/memories/{}", other["id"], body=marks).expect(200)
        assert tuple(changed[name] for name in shown) == expected
        imports(
            ann,
            [a_line("one more", id="taken-in", agent_id=agent, space=None, **marks)],
            mode="fail",
        )
        taken = ann.get("/memories/{}", "taken-in").expect(200)
        assert tuple(taken[name] for name in shown) == expected
        assert [one for one in (SSN, MAIL) if one in world.database.stored_text()] == []


def test_what_marks_make_too_long_is_refused_by_its_name(host: Host) -> None:
    with host(pii__mode="redact") as world:
        ann = Callers(world).person("ann")
        long: dict[str, dict[str, Any]] = {
            "tags[0]": {"content": "a", "tags": [" ".join(["1.2.3.4"] * 12)]},
            "metadata": {"content": "a", "metadata": {"a": " ".join(["1.2.3.4"] * 2_000)}},
            "content": {"content": " ".join(["1.2.3.4"] * 12_000)},
        }
        for field, body in long.items():
            details = ann.post("/memories", body=body | MINE).refused(422, "validation_error")
            assert details["violations"][0]["field"] == field
        assert ann.lists("/memories", spaces="user") == []
