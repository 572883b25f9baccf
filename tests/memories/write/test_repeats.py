"""What a new memory does to those that are there: repeats, keys, explicit successors."""

from typing import Any

import pytest

from tests.support.memory.callers import Callers
from tests.support.memory.disclosure import OWN, a_chat, brings, is_shown, says
from tests.support.memory.people import person_of
from tests.support.world import at_once

pytestmark = pytest.mark.surfaces("grpc")


def violation(details: dict[str, Any]) -> dict[str, Any]:
    """The only one."""
    (only,) = details["violations"]
    found: dict[str, Any] = only
    return found


def test_an_equal_statement_is_counted_and_not_stored_twice(callers: Callers) -> None:
    ann = callers.person("ann")
    mine: dict[str, Any] = {"space": {"kind": "user"}}
    first = ann.adds("I like green tea.", **mine)
    again = ann.post("/memories", body={"content": "i like  GREEN tea"} | mine).expect(201)
    assert (again["id"], again["status"]) == (first["id"], "duplicate")
    assert again["memory"]["repeats"] == 1
    assert again["memory"]["observed_at"] > first["observed_at"]
    assert len(ann.lists("/memories", spaces="user")) == 1
    (event,) = ann.lists("/events", event_type="memory.duplicate", memory_id=first["id"])
    assert event["payload"]["repeats"] == 1


def test_equal_statements_at_once_become_one_row(callers: Callers) -> None:
    ann = callers.person("ann")
    person_of(ann)
    body = {"content": "The train leaves at six", "space": {"kind": "user"}}
    replies = at_once([lambda: ann.post("/memories", body=body)] * 8)
    assert {reply.expect(201)["id"] for reply in replies} == {replies[0].body["id"]}
    assert sorted(reply.body["status"] for reply in replies) == ["created"] + ["duplicate"] * 7
    (row,) = ann.lists("/memories", spaces="user")
    assert row["repeats"] == 7


def test_a_repeat_renews_decay_by_type(callers: Callers) -> None:
    ann = callers.person("ann")
    said = {"type": "observation", "space": {"kind": "user"}}
    first = ann.adds("The lift is broken", observed_at="2026-01-01T00:00:00Z", **said)
    assert first["status"] == "expired"
    second = ann.adds("The lift is broken", **said)
    assert second["id"] != first["id"]
    third = ann.adds("The lift is broken", **said)
    assert third["id"] == second["id"]
    assert third["expires_at"] > second["expires_at"]


def test_a_repeat_may_ask_for_another_term(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"content": "The code word is told at the gate", "space": {"kind": "user"}}
    first = ann.post("/memories", body=body).expect(201)["memory"]
    assert (first["expires_at"], first["expiry_rule"]) == (None, "never")
    again = ann.post("/memories", body=body | {"ttl_seconds": 3600}).expect(201)
    assert (again["id"], again["status"], again["warnings"]) == (first["id"], "duplicate", [])
    assert again["memory"]["expiry_rule"] == "explicit"
    plain = ann.post("/memories", body=body).expect(201)["memory"]
    assert plain["expires_at"] == again["memory"]["expires_at"]
    later = ann.post("/memories", body=body | {"ttl_seconds": 86_400}).expect(201)["memory"]
    assert (later["id"], later["expires_at"] > plain["expires_at"]) == (first["id"], True)
    policy = ann.post("/memories", body=body | {"retention_policy": "dev"}).expect(201)
    assert policy["memory"]["retention_policy"] == "dev"
    assert [warning["code"] for warning in policy["warnings"]] == ["expiry_clamped"]
    callers.world.clock.advance(seconds=3600)
    ann.get("/memories/{}", first["id"]).refused(404, "not_found")


def test_what_a_repeat_says_of_privacy_is_never_lost(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"content": "The gate opens at nine", "space": {"kind": "user"}}
    first = ann.post("/memories", body=body).expect(201)["memory"]
    assert (first["sensitivity"], first["portable"]) == ("public", True)
    strict = {"sensitivity": "sensitive", "portable": False, "pii_tags": ["health"]}
    again = ann.post("/memories", body=body | strict).expect(201)
    assert (again["id"], again["warnings"]) == (first["id"], [])
    assert {name: again["memory"][name] for name in strict} == strict
    assert again["memory"]["expiry_rule"] == "pii:critical"
    loose = ann.post("/memories", body=body | {"sensitivity": "public", "portable": True})
    assert {name: loose.expect(201)["memory"][name] for name in strict} == strict
    (warning,) = loose.body["warnings"]
    assert warning["code"] == "duplicate_kept"
    assert "portable, sensitivity" in warning["message"]


def test_a_repeat_adds_tags_and_metadata_and_tells_what_it_can_not_change(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"content": "The gate closes at ten", "space": {"kind": "user"}}
    marks = {"tags": ["a", "b"], "metadata": {"x": 1}}
    first = ann.post("/memories", body=body | marks).expect(201)["memory"]
    more = {"tags": ["b", "c"], "metadata": {"x": 1, "y": 2}}
    again = ann.post("/memories", body=body | more).expect(201)
    assert (again["id"], again["warnings"]) == (first["id"], [])
    assert again["memory"]["tags"] == ["a", "b", "c"]
    assert again["memory"]["metadata"] == {"x": 1, "y": 2}
    assert ann.lists("/memories", spaces="user", tags="c") == [again["memory"]]
    other = {"metadata": {"x": 3}, "tags": [str(n) for n in range(48)], "type": "event"}
    kept = ann.post("/memories", body=body | other).expect(201)
    (warning,) = kept["warnings"]
    assert (warning["code"], "metadata, tags, type" in warning["message"]) == (
        "duplicate_kept",
        True,
    )
    assert kept["memory"]["metadata"] == {"x": 1, "y": 2}
    assert (kept["memory"]["tags"], kept["memory"]["type"]) == (["a", "b", "c"], "knowledge")


def test_a_repeat_outside_its_chat_tells_nobody_who_came_later(callers: Callers) -> None:
    p, q, r, s = (callers.person(name) for name in "pqrs")
    chat = a_chat(p, q)
    first = says(p, s, chat_id=chat)
    callers.world.clock.advance(seconds=1)
    brings(p, r, chat)
    callers.world.clock.advance(seconds=1)
    again = p.adds(first["content"], subjects=first["subjects"], **OWN)
    assert (again["id"] != first["id"], again["learned_in"]) == (True, None)
    assert not is_shown(r, first)
    assert not is_shown(r, again)
    assert is_shown(q, first)


def test_what_is_said_again_in_its_chat_is_told_to_those_who_hear_it(callers: Callers) -> None:
    p, r, s = (callers.person(name) for name in "prs")
    chat = a_chat(p)
    first = says(p, s, chat_id=chat)
    callers.world.clock.advance(seconds=1)
    brings(p, r, chat)
    assert not is_shown(r, first)
    callers.world.clock.advance(seconds=1)
    again = p.adds(first["content"], subjects=first["subjects"], chat_id=chat, **OWN)
    assert (again["id"], again["repeats"]) == (first["id"], 1)
    assert is_shown(r, again)


def test_what_stays_in_its_chat_is_found_in_each_where_it_was_said(callers: Callers) -> None:
    p = callers.person("p")
    chats = [a_chat(p), a_chat(p)]
    rows = [
        p.adds("The demo is in room seven", chat_id=chat, portable=False, **OWN) for chat in chats
    ]
    for chat, row in zip(chats, rows, strict=True):
        assert [hit["id"] for hit in p.finds("demo room", chat_id=chat)] == [row["id"]]


def test_hearsay_becomes_fact_when_its_subject_repeats_it(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = callers.world.user("chat").name
    ann.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    ann.put("/chats/{}/participants/{}", chat, bob.name, body={"kind": "user"}).expect(200)
    said = {"space": {"kind": "chat", "id": chat}, "subjects": [person_of(bob)]}
    claim = ann.adds("Bob likes mayo", **said)
    assert claim["trust"] == "hearsay"
    agreed = bob.adds("Bob likes mayo", **said)
    assert (agreed["id"], agreed["trust"]) == (claim["id"], "fact")
    beside = ann.adds("Bob likes mayo", **said)
    assert (beside["id"] != claim["id"], beside["trust"]) == (True, "hearsay")


def test_records_are_never_deduplicated(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"key": "k", "value": {"a": 1}, "space": {"kind": "user"}}
    assert {ann.post("/memories", body=body).expect(201)["status"] for _ in "ab"} == {"created"}
    assert len(ann.lists("/memories", spaces="user")) == 2


def test_a_record_meets_its_key_as_it_was_asked_to(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"key": "theme", "value": {"name": "dark"}, "space": {"kind": "user"}}
    first = ann.post("/memories", body=body).expect(201)
    details = ann.post("/memories", body=body | {"on_conflict": "refuse"}).refused(409, "conflict")
    assert (details["id"], details["field"]) == (first["id"], "key")
    light = body | {"value": {"name": "light"}, "on_conflict": "supersede"}
    second = ann.post("/memories", body=light).expect(201)
    assert second["memory"]["supersedes"] == [first["id"]]
    assert [row["id"] for row in ann.lists("/memories", spaces="user")] == [second["id"]]
    third = ann.post("/memories", body=light | {"supersedes": [second["id"]]}).expect(201)
    assert third["memory"]["supersedes"] == [second["id"]]
    events = ann.lists("/events", event_type="memory.supersede")
    is_shown = {event["payload"]["memory_id"]: event["payload"]["reason"] for event in events}
    assert is_shown == {first["id"]: "key", second["id"]: "explicit"}


@pytest.mark.amendment(20)
def test_records_of_one_key_both_stay_unless_the_writer_says_otherwise(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"key": "theme", "value": {"name": "dark"}, "space": {"kind": "user"}}
    light = body | {"value": {"name": "light"}}
    ids = [ann.post("/memories", body=one).expect(201)["id"] for one in (body, light, light)]
    ids.append(ann.post("/memories", body=light | {"on_conflict": "keep"}).expect(201)["id"])
    item = {"op": "create"} | light
    batch = ann.post("/memories/batch", body={"items": [item]}).expect(200)
    ids += [one["id"] for one in batch["results"]]
    rows = ann.lists("/memories", spaces="user", key="theme")
    assert sorted(row["id"] for row in rows) == sorted(ids)
    assert {(row["status"], row["repeats"]) for row in rows} == {("active", 0)}


def test_of_records_that_want_their_key_alone_at_once_one_is_stored(callers: Callers) -> None:
    ann = callers.person("ann")
    person_of(ann)
    body = {"key": "only", "value": {}, "space": {"kind": "user"}, "on_conflict": "refuse"}
    replies = at_once([lambda: ann.post("/memories", body=body)] * 6)
    assert sorted(reply.status for reply in replies) == [201] + [409] * 5


def test_what_is_replaced_leaves_the_answers(callers: Callers) -> None:
    ann = callers.person("ann")
    mine: dict[str, Any] = {"space": {"kind": "user"}}
    red = ann.adds("My favourite colour is red", sensitivity="personal", **mine)
    blue = ann.adds("My favourite colour is blue", supersedes=[red["id"]], **mine)
    assert blue["supersedes"] == [red["id"]]
    assert blue["sensitivity"] == "personal"
    assert [row["id"] for row in ann.lists("/memories", spaces="user")] == [blue["id"]]
    (old,) = ann.lists("/memories", spaces="user", status="superseded")
    assert (old["superseded_by"], old["valid_until"]) == (blue["id"], blue["observed_at"])
    again = {"content": "No, green", "supersedes": [red["id"]]} | mine
    details = ann.post("/memories", body=again).refused(409, "conflict")
    assert details["reason"] == "wrong_state"


def test_only_ones_own_space_is_replaced_in(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()["id"]
    public = ann.adds("The shop is open", agent_id=agent)
    private = ann.adds("I am at home", space={"kind": "user"})
    mine: dict[str, Any] = {"content": "It is not so", "space": {"kind": "user"}}
    bob.post("/memories", body=mine | {"supersedes": [public["id"]]}).refused(403, "not_owner")
    bob.post("/memories", body=mine | {"supersedes": [private["id"]]}).refused(404, "not_found")
    details = ann.post("/memories", body=mine | {"supersedes": [public["id"]]}).refused(
        422, "validation_error"
    )
    assert violation(details)["field"] == "supersedes[0]"


def test_ones_own_word_about_oneself_is_replaced_by_nobody_else(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = callers.world.user("chat").name
    ann.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    ann.put("/chats/{}/participants/{}", chat, bob.name, body={"kind": "user"}).expect(200)
    said = {"space": {"kind": "chat", "id": chat}, "subjects": [person_of(ann)]}
    own = ann.adds("Ann is a baker", **said)
    body = {"content": "Ann is a butcher", "supersedes": [own["id"]]} | said
    bob.post("/memories", body=body).refused(403, "subject_only")
    assert ann.get("/memories/{}", own["id"]).expect(200)["status"] == "active"
