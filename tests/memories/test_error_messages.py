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
    + [(name, "") for name in ("status", "foo", "text", "name")],
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
