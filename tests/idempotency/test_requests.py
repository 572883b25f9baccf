"""A request that is sent again under one key is done once."""

import json
from functools import partial
from typing import Any

import pytest

from recollect.idempotency.service import (
    ABANDONED_AFTER,
    KEY_CHARS_MAX,
    KEY_LIFETIME,
)
from tests.support.api import Reply, headers_of, reply_of
from tests.support.memory.callers import Caller, Callers
from tests.support.world import at_once

pytestmark = pytest.mark.surfaces("grpc")

BODY = {"name": "Once"}
WORDS = "the tide turns at noon"


def test_a_repeat_gets_the_first_answer_and_changes_nothing(callers: Callers) -> None:
    ann = callers.person("ann")
    first = register(ann, "k").expect(201)
    assert register(ann, "k").expect(201) == first
    assert [agent["id"] for agent in owned(ann)] == [first["id"]]
    assert register(ann, "other").expect(201)["id"] != first["id"]


def test_the_first_answer_comes_even_if_the_thing_has_changed_or_gone(callers: Callers) -> None:
    ann = callers.person("ann")
    first = register(ann, "k").expect(201)
    ann.delete("/agents/{}", first["id"]).expect(204)
    assert register(ann, "k").expect(201) == first
    ann.get("/agents/{}", first["id"]).refused(404, "not_found")


def test_another_request_under_the_key_is_refused(callers: Callers) -> None:
    ann = callers.person("ann")
    first = register(ann, "k").expect(201)
    for reply in (
        register(ann, "k", body=BODY | {"description": "x"}),
        ann.call("POST", "/runs", body={"agent_id": first["id"]}, headers=key("k")),
    ):
        assert reply.refused(409, "conflict")["reason"] == "idempotency"
    assert register(ann, "k").expect(201) == first


def test_white_space_and_the_order_of_members_make_no_other_request(callers: Callers) -> None:
    ann = callers.person("ann")
    bodies = [
        b'{"name": "One", "metadata": {"a": 1, "b": "\xc3\xa9"}}',
        b'{ "metadata":{"b":"\\u00e9","a":1},\n"name":"One" }',
    ]
    first, again = (raw(ann, "k", body) for body in bodies)
    assert first.expect(201) == again.expect(201)
    assert len(owned(ann)) == 1
    other = raw(ann, "k", b'{"name": "One", "metadata": {"a": 1, "b": "e"}}')
    assert other.refused(409, "conflict")["reason"] == "idempotency"


def test_a_key_belongs_to_the_one_who_asks(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    hers, his = register(ann, "same").expect(201), register(bob, "same").expect(201)
    assert hers["id"] != his["id"]
    agent = callers.agent(ann.name)
    assert register(agent, "same").expect(201)["id"] not in {hers["id"], his["id"]}


def test_after_a_refusal_the_corrected_request_may_have_the_key(callers: Callers) -> None:
    ann = callers.person("ann")
    register(ann, "k", body={"nmae": "x"}).refused(422, "validation_error")
    register(ann, "k", body=BODY | {"org_id": "acme"}).refused(403, "forbidden")
    taken = {"id": ann.registers()["id"]}
    register(ann, "k", body=taken).refused(409, "conflict")
    register(ann, "k").expect(201)


def test_of_many_at_once_all_get_one_answer_or_are_told_to_wait(callers: Callers) -> None:
    ann = callers.person("ann")
    replies = at_once([lambda: register(ann, "race")] * 8)
    made = [reply.body for reply in replies if reply.status == 201]
    waiting = [reply for reply in replies if reply.status != 201]
    assert made
    assert all(agent == made[0] for agent in made)
    assert all(reply.refused(409, "conflict")["reason"] == "idempotency" for reply in waiting)
    assert len(owned(ann)) == 1


def test_a_day_later_the_key_is_free(callers: Callers) -> None:
    ann = callers.person("ann")
    first = register(ann, "k").expect(201)
    callers.world.clock.advance(seconds=KEY_LIFETIME.total_seconds() - 60)
    assert register(ann, "k").expect(201) == first
    callers.world.clock.advance(seconds=60)
    assert register(ann, "k", body={"name": "Anew"}).expect(201)["name"] == "Anew"


def test_a_request_that_was_cut_off_is_done_again_with_the_same_id(callers: Callers) -> None:
    ann = callers.person("ann")
    first = register(ann, "k").expect(201)
    cut_off(callers, ann)
    assert register(ann, "k").refused(409, "conflict")["reason"] == "idempotency"
    callers.world.clock.advance(seconds=ABANDONED_AFTER.total_seconds())
    assert register(ann, "k").expect(201) == first
    assert len(owned(ann)) == 1


@pytest.mark.parametrize("value", ["", "k" * (KEY_CHARS_MAX + 1), "tab\there"])
def test_a_malformed_key_is_refused(callers: Callers, value: str) -> None:
    ann = callers.person("ann")
    details = register(ann, value).refused(422, "validation_error")
    assert details["violations"][0]["field"] == "Idempotency-Key"
    assert owned(ann) == []


def test_a_key_may_have_its_full_length_and_no_meaning_on_other_methods(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = register(ann, "k" * KEY_CHARS_MAX).expect(201)
    for name in ("one", "two"):
        reply = ann.call("PATCH", "/agents/{}", agent["id"], body={"name": name}, headers=key("p"))
        assert reply.expect(200)["name"] == name


def test_a_memory_is_written_once_under_one_key(callers: Callers) -> None:
    ann = callers.person("ann")
    first = remember(ann, "k").expect(201)
    assert remember(ann, "k").expect(201) == first
    assert first["memory"]["repeats"] == 0
    cut_off(callers, ann)
    callers.world.clock.advance(seconds=ABANDONED_AFTER.total_seconds())
    again = remember(ann, "k").expect(201)
    assert (again["id"], again["memory"]["repeats"]) == (first["id"], 0)


@pytest.mark.parametrize("atomic", [True, False])
def test_a_batch_that_was_cut_off_stores_nothing_twice(callers: Callers, atomic: bool) -> None:
    ann = callers.person("ann")
    mine: dict[str, Any] = {"space": {"kind": "user"}}
    items = [{"op": "create", "key": "same", "value": {"n": 1}} | mine] * 3
    items.append({"op": "create", "content": WORDS} | mine)
    body = {"items": items, "atomic": atomic}
    first = ann.call("POST", "/memories/batch", body=body, headers=key("k")).expect(200)
    cut_off(callers, ann)
    callers.world.clock.advance(seconds=ABANDONED_AFTER.total_seconds())
    again = ann.call("POST", "/memories/batch", body=body, headers=key("k")).expect(200)
    assert again == first
    ids = {result["id"] for result in first["results"]}
    stored = ann.lists("/memories", spaces="user")
    assert {row["id"] for row in stored} == ids
    assert (len(ids), {row["repeats"] for row in stored}) == (4, {0})


def deleting(caller: Caller, *, atomic: bool) -> tuple[dict[str, Any], list[str]]:
    """A batch that changes and deletes, and the ids of what it deletes."""
    mine: dict[str, Any] = {"space": {"kind": "user"}}
    kept, changed, gone = (caller.adds(text, **mine)["id"] for text in ("kept", "changed", "gone"))
    items = [
        {"op": "create", "content": WORDS} | mine,
        {"op": "update", "id": kept, "content": "new", "version": 1},
        {"op": "update", "id": changed, "tags": ["late"]},
        {"op": "delete", "id": changed},
        {"op": "delete", "id": gone, "version": 1},
    ]
    return {"items": items, "atomic": atomic}, [changed, gone]


@pytest.mark.parametrize("atomic", [True, False])
def test_a_batch_that_deletes_gets_its_first_answer_again(callers: Callers, atomic: bool) -> None:
    ann = callers.person("ann")
    body, _ = deleting(ann, atomic=atomic)
    send = partial(ann.call, "POST", "/memories/batch", body=body, headers=key("k"))
    first = send().expect(200)
    assert [one["status"] for one in first["results"]] == [201, 200, 200, 204, 204]
    assert send().expect(200) == first
    cut_off(callers, ann)
    callers.world.clock.advance(seconds=ABANDONED_AFTER.total_seconds())
    assert send().expect(200) == first
    assert sorted(row["content"] for row in ann.lists("/memories", spaces="user")) == ["new", WORDS]


def test_without_a_key_what_is_gone_is_not_found(callers: Callers) -> None:
    ann = callers.person("ann")
    body, gone = deleting(ann, atomic=True)
    ann.post("/memories/batch", body=body).expect(200)
    again = {"items": [{"op": "delete", "id": id_} for id_ in gone]}
    ann.post("/memories/batch", body=again).refused(404, "not_found")
    other = ann.call("POST", "/memories/batch", body=again, headers=key("other"))
    other.refused(404, "not_found")


def test_what_an_earlier_try_made_and_deleted_is_gone_after_the_next(callers: Callers) -> None:
    ann = callers.person("ann")
    id_ = callers.world.user("note").name
    items: list[dict[str, Any]] = [
        {"op": "create", "content": WORDS, "id": id_, "space": {"kind": "user"}},
        {"op": "delete", "id": id_},
    ]
    send = partial(ann.call, "POST", "/memories/batch", body={"items": items}, headers=key("k"))
    first = send().expect(200)
    cut_off(callers, ann)
    callers.world.clock.advance(seconds=ABANDONED_AFTER.total_seconds())
    assert send().expect(200) == first
    ann.get("/memories/{}", id_).refused(404, "not_found")


def test_a_move_that_was_cut_off_is_told_again(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds(WORDS, agent_id=ann.registers()["id"], visibility="private")
    body = {"space": {"kind": "user"}}
    path = ("POST", "/memories/{}/move", memory["id"])
    first = ann.call(*path, body=body, headers=key("k")).expect(201)
    cut_off(callers, ann)
    callers.world.clock.advance(seconds=ABANDONED_AFTER.total_seconds())
    assert ann.call(*path, body=body, headers=key("k")).expect(201)["id"] == first["id"]
    assert [row["id"] for row in ann.lists("/memories", spaces="all")] == [first["id"]]


def test_with_a_memory_the_kept_answers_that_hold_it_go(callers: Callers) -> None:
    ann = callers.person("ann")
    memory_id = remember(ann, "k").expect(201)["id"]
    assert kept_answers(callers, ann) != [None]
    ann.delete("/memories/{}", memory_id).expect(204)
    assert remember(ann, "k").refused(409, "conflict")["reason"] == "idempotency"
    ann.get("/memories/{}", memory_id).refused(404, "not_found")
    assert kept_answers(callers, ann) == [None]


def test_a_repeated_question_is_answered_by_what_holds_now_and_nothing_of_it_is_kept(
    callers: Callers,
) -> None:
    ann = callers.person("ann")
    memory_id = ann.adds(WORDS, space={"kind": "user"})["id"]
    asked: dict[str, Any] = {"query": "tide", "spaces": [{"kind": "user"}]}

    def found() -> list[list[str]]:
        hits = ann.call("POST", "/memories/search", body=asked, headers=key("s")).expect(200)
        told = ann.call("POST", "/memories/recall", body=asked, headers=key("r")).expect(200)
        return [[hit["content"] for hit in part] for part in (hits["data"], told["items"])]

    assert found() == [[WORDS], [WORDS]]
    changed = "the tide turned"
    ann.patch("/memories/{}", memory_id, body={"content": changed}).expect(200)
    assert found() == [[changed], [changed]]
    ann.delete("/memories/{}", memory_id).expect(204)
    assert found() == [[], []]
    assert [json.loads(kept or "")["body"] for kept in kept_answers(callers, ann)] == [None, None]


def test_who_left_a_chat_gets_no_earlier_answer_from_it(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = f"chat of {ann.name}"
    ann.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    ann.put("/chats/{}/participants/{}", chat, bob.name, body={"kind": "user"}).expect(200)
    ann.adds(WORDS, space={"kind": "chat", "id": chat})
    asked = {"query": "tide", "chat_id": chat}
    first = bob.call("POST", "/memories/search", body=asked, headers=key("s")).expect(200)
    assert [hit["content"] for hit in first["data"]] == [WORDS]
    bob.delete("/chats/{}/participants/{}", chat, bob.name).expect(204)
    again = bob.call("POST", "/memories/search", body=asked, headers=key("s"))
    again.refused(404, "not_found")


@pytest.mark.parametrize(
    ("path", "body", "other"),
    [
        ("/memories/search", {"query": "a", "spaces": "all"}, {"query": "b", "spaces": "all"}),
        ("/memories/recall", {"query": "a", "spaces": "all"}, {"query": "b", "spaces": "all"}),
        ("/people/resolve", {"name": "me"}, {"name": "somebody"}),
        ("/retention/preview", {"scope": "session"}, {"scope": "long_term"}),
    ],
)
def test_the_key_of_a_question_belongs_to_it_until_its_day_is_over(
    callers: Callers, path: str, body: dict[str, Any], other: dict[str, Any]
) -> None:
    ann = callers.person("ann")
    for sent in (body, body):
        ann.call("POST", path, body=sent, headers=key("q")).expect(200)
    refused = ann.call("POST", path, body=other, headers=key("q")).refused(409, "conflict")
    assert refused["reason"] == "idempotency"
    assert remember(ann, "q").refused(409, "conflict")["reason"] == "idempotency"
    callers.world.clock.advance(seconds=KEY_LIFETIME.total_seconds())
    ann.call("POST", path, body=other, headers=key("q")).expect(200)
    ann.call("POST", path, body=body, headers=key("q")).refused(409, "conflict")


def test_after_a_refused_question_the_key_is_free_for_the_corrected_one(callers: Callers) -> None:
    ann = callers.person("ann")
    wrong, right = (
        {"query": "tide", **place} for place in ({"chat_id": "none"}, {"spaces": "all"})
    )
    ann.call("POST", "/memories/search", body=wrong, headers=key("q")).refused(404, "not_found")
    ann.call("POST", "/memories/search", body=right, headers=key("q")).expect(200)


def key(value: str) -> dict[str, str]:
    return {"Idempotency-Key": value}


def register(caller: Caller, value: str, body: object = None) -> Reply:
    return caller.call("POST", "/agents", body=body or BODY, headers=key(value))


def raw(caller: Caller, value: str, content: bytes) -> Reply:
    """Register an agent with a body of these very bytes."""
    headers = {**headers_of(caller.user.credentials), **key(value)}
    headers["Content-Type"] = "application/json"
    return reply_of(caller.world.api.http.post("/agents", content=content, headers=headers))


def owned(caller: Caller) -> list[dict[str, object]]:
    """All agents that the asker made under a key: they own themselves."""
    return [agent for agent in caller.lists("/agents") if agent["created_by"] == caller.name]


def cut_off(callers: Callers, caller: Caller) -> None:
    """As if the server had died before it kept the answer."""
    callers.world.database.rows(
        "UPDATE idempotency_answers SET status = NULL WHERE requester_id = :who RETURNING key",
        who=caller.name,
    )


def kept_answers(callers: Callers, caller: Caller) -> list[str | None]:
    """What the server has kept of its answers to somebody."""
    rows = callers.world.database.rows(
        "SELECT answer FROM idempotency_answers WHERE requester_id = :who", who=caller.name
    )
    return [answer for (answer,) in rows]


def remember(caller: Caller, value: str) -> Reply:
    body = {"content": WORDS, "space": {"kind": "user"}}
    return caller.call("POST", "/memories", body=body, headers=key(value))
