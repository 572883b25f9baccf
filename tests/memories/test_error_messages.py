"""What a refusal says: the member as its sender knows it, and what would be right."""

from typing import Any

import pytest

from tests.support.api import Reply
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.portability import MINE


def violation(reply: Reply) -> dict[str, Any]:
    (told,) = reply.refused(422, "validation_error")["violations"]
    return dict(told)


def searches(caller: Caller, **members: Any) -> Reply:
    return caller.post("/memories/search", body={"query": "x"} | members)


@pytest.mark.parametrize(
    ("space", "field"), [("user", "space"), ([], "space"), ({"kind": "user", "id": 7}, "space.id")]
)
def test_what_is_no_space_is_told_without_words_of_the_inside(
    callers: Callers, space: Any, field: str
) -> None:
    told = violation(callers.person("ann").post("/memories", body={"content": "x", "space": space}))
    assert told["field"] == field
    assert "instance" not in told["message"]
    assert "SpaceWish" not in told["message"]


def test_what_is_no_alias_is_told_to_be_no_object(callers: Callers) -> None:
    body = {"name": "Kim", "aliases": [{"value": "K"}, "Kimmy"]}
    told = violation(callers.person("ann").post("/people", body=body))
    assert told == {"field": "aliases[1]", "message": "must be an object"}


def test_an_unknown_member_is_told_with_the_known_ones_at_every_depth(callers: Callers) -> None:
    ann = callers.person("ann")
    space = {"kind": "user", "idd": "ann"}
    told = violation(ann.post("/memories", body={"content": "x", "space": space}))
    assert told == {
        "field": "space.idd",
        "message": "unknown field; did you mean `id`?",
        "allowed": ["id", "kind"],
    }
    told = violation(searches(ann, spaces=[{"kind": "user"}, {"kind": "user", "foo": 1}]))
    assert (told["field"], told["message"]) == ("spaces[1].foo", "unknown field")
    assert told["allowed"] == ["id", "kind"]
    alias = {"value": "K", "vlaue": "K"}
    told = violation(ann.post("/people", body={"name": "Kim", "aliases": [alias]}))
    assert told["field"] == "aliases[0].vlaue"
    assert told["allowed"] == ["kind", "provider", "value"]


@pytest.mark.parametrize(
    ("member", "hint"),
    [("visibilty", "; did you mean `visibility`?"), ("agent", "; did you mean `agent_id`?")]
    + [(name, "") for name in ("status", "foo", "name")],
)
def test_only_what_is_near_is_offered_for_an_unknown_member(
    callers: Callers, member: str, hint: str
) -> None:
    told = violation(
        callers.person("ann").post("/memories", body={"content": "x", member: "y"} | MINE)
    )
    assert (told["field"], told["message"]) == (member, f"unknown field{hint}")
    assert "visibility" in told["allowed"]


@pytest.mark.parametrize("wrong", [5, "", "a\x00"])
def test_a_place_in_a_list_has_one_name_whatever_is_wrong_with_it(
    callers: Callers, wrong: Any
) -> None:
    body = {"content": "x", "tags": ["a", wrong]} | MINE
    assert violation(callers.person("ann").post("/memories", body=body))["field"] == "tags[1]"


def test_a_move_says_what_a_move_can_send(callers: Callers) -> None:
    ann = callers.person("ann")
    mine = ann.adds("a text", **MINE)["id"]
    agent = ann.registers()["id"]

    def moved(**body: Any) -> Reply:
        return ann.post("/memories/{}/move", mine, body=body)

    told = violation(moved(visibility="public"))
    assert told["field"] == "visibility"
    assert "`space` with `kind` `agent_public` and an agent's `id`" in told["message"]
    assert violation(moved(space={"kind": "agent_private"}))["field"] == "space.id"
    assert violation(moved(space={"kind": "run"}))["field"] == "space.id"
    told = violation(moved(space={"kind": "org"}))
    assert told["field"] == "space.kind"
    assert "org" not in told["allowed"]
    there = moved(space={"kind": "agent_public", "id": agent}).expect(201)
    assert there["group_id"] == f"agent-{agent}-public"


@pytest.mark.amendment(21)
@pytest.mark.parametrize("body", [{"content": "I like tea"}, {"key": "drink", "value": {"a": 1}}])
def test_a_memory_without_a_place_is_told_where_it_may_be_kept(
    callers: Callers, body: dict[str, Any]
) -> None:
    ann = callers.person("ann")
    told = violation(ann.post("/memories", body=body))
    assert told["field"] == "space"
    assert told["message"].startswith(
        'is missing: where is it kept? `space: {"kind": "user"}` is your own space'
    )
    assert told["allowed"][0] == 'space: {"kind": "user"}'
    assert "agent_id" in told["allowed"]
    ann.post("/memories", body=body | {"space": {"kind": "user"}}).expect(201)
    # Who has named a part of the place is told what belongs to it.
    for part in ({"visibility": "private"}, {"scope": "org"}):
        assert violation(ann.post("/memories", body=body | part))["field"] == "agent_id"


@pytest.mark.amendment(21)
@pytest.mark.parametrize(
    ("path", "body", "member", "meant"),
    [
        ("/memories", {"content": "x"}, "user_id", 'space: {"kind": "user"}'),
        ("/memories", {"space": {"kind": "user"}}, "text", "content"),
        ("/memories", {"content": "x"}, "ttl", "ttl_seconds"),
        ("/memories/search", {"query": "x"}, "q", "query"),
        ("/memories/search", {"query": "x"}, "text", "query"),
        ("/memories/search", {"query": "x"}, "top_k", "limit"),
        ("/memories/recall", {}, "q", "query"),
        ("/memories/recall", {}, "top_k", "max_items"),
        ("/memories/recall", {}, "max_tokens", "token_budget"),
        ("/agents", {"id": "a"}, "user_id", "owner_id"),
    ],
)
def test_the_name_that_others_have_for_it_is_translated(
    callers: Callers, path: str, body: dict[str, Any], member: str, meant: str
) -> None:
    told = violation(callers.person("ann").post(path, body=body | {member: "y"}))
    assert (told["field"], told["message"]) == (member, f"unknown field; did you mean `{meant}`?")
    assert meant.partition(":")[0] in told["allowed"]


@pytest.mark.amendment(21)
def test_so_it_is_in_a_query_and_inside_a_message(callers: Callers) -> None:
    ann = callers.person("ann")
    told = violation(ann.get("/memories", user_id=ann.name, top_k=3))
    assert (told["field"], told["message"]) == (
        "top_k",
        "unknown parameter; did you mean `limit`?",
    )
    message = {"role": "user", "text": "hello"}
    told = violation(ann.post("/memories", body={"messages": [message]} | MINE))
    assert told["field"] == "messages[0].text"
    assert told["message"] == "unknown field; did you mean `content`?"
    assert told["allowed"] == ["content", "created_at", "name", "role", "user_id"]


@pytest.mark.amendment(21)
@pytest.mark.parametrize(
    ("path", "body", "field", "message"),
    [
        ("/memories", {"content": "x", "space": "user"}, "space", 'such as {"kind": "user"}'),
        ("/memories", {"content": "x", "metadata": "a"}, "metadata", "must be an object"),
        ("/memories", {"content": "x", "tags": "a"}, "tags", "must be a list"),
        ("/memories", {"content": 5}, "content", "must be a text"),
        ("/memories", {"key": "a", "value": "b"}, "value", "must be an object"),
        ("/memories", {"content": "x", "portable": "no"}, "portable", "must be true or false"),
        ("/memories/search", {"user_id": "ann"}, "query", "is required"),
        ("/memories/search", {"query": "x", "limit": 1_000}, "limit", "must be at most 100"),
        ("/memories/search", {"query": "x", "limit": "ten"}, "limit", "must be a whole number"),
        ("/memories/search", {"query": "x", "spaces": "user"}, "spaces", '[{"kind": "user"}]'),
    ],
)
def test_what_would_be_right_is_said_in_words_of_json(
    callers: Callers, path: str, body: dict[str, Any], field: str, message: str
) -> None:
    told = violation(callers.person("ann").post(path, body=body))
    assert told["field"] == field
    assert message in told["message"]


@pytest.mark.amendment(21)
def test_the_words_of_a_list_are_told_to_programs_too(callers: Callers) -> None:
    ann = callers.person("ann")
    told = violation(ann.post("/memories", body={"content": "x", "type": "fact"} | MINE))
    assert (told["field"], told["allowed"][:2]) == ("type", ["preference", "identity"])
    told = violation(ann.get("/memories", user_id=ann.name, types="fact"))
    assert (told["field"], told["allowed"][:2]) == ("types", ["preference", "identity"])
    said = {"messages": [{"role": "human", "content": "hello"}]}
    told = violation(ann.post("/memories", body=said | MINE))
    assert (told["field"], told["allowed"][:2]) == ("messages[0].role", ["user", "assistant"])
