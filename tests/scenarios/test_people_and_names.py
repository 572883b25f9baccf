"""People who share a name, and what is known of each."""

from typing import Any

import pytest

from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import a_name, knows, merges, person_of, resolve_name, self_of

MINE: dict[str, Any] = {"space": {"kind": "user"}}


@pytest.mark.scenario(20)
@pytest.mark.parametrize("asks", ["search", "recall"])
def test_the_partners_launch_is_found_by_the_relationship_and_no_year_is_invented(
    callers: Callers, asks: str
) -> None:
    pat = callers.person("pat")
    quinn = knows(pat, a_name("Quinn"), relationships=[{"relationship": "business partner"}])
    about: dict[str, Any] = MINE | {"subjects": [quinn["id"]]}
    pat.adds("Quinn is my business partner", **about)
    launch = pat.adds("Quinn's launch is March 15", **about)
    other = pat.adds("The launch of the new site is delayed", **MINE)
    chat = f"new {pat.name}"
    pat.put("/chats/{}", chat, body={"kind": "private"}).expect(201)
    body = {"query": "when is the launch of my business partner?", "chat_id": chat}
    answer = pat.post(f"/memories/{asks}", body=body).expect(200)
    hits = answer["data" if asks == "search" else "items"]
    order = [hit["id"] for hit in hits]
    assert order.index(launch["id"]) < order.index(other["id"])
    (hit,) = [hit for hit in hits if hit["id"] == launch["id"]]
    assert hit["content"] == "Quinn's launch is March 15"
    assert "person" in hit["stages"]
    assert (hit["valid_from"], hit["valid_until"]) == (None, None)
    if asks == "recall":
        (line,) = [one for one in answer["context"].split("\n") if "March 15" in one]
        assert line.endswith("Quinn's launch is March 15")


@pytest.mark.scenario(55)
def test_of_two_users_with_one_name_nothing_personal_crosses(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    name = a_name("Alex")
    facts = {}
    for caller, place in ((ann, "Porto"), (bob, "Lisbon")):
        me = self_of(caller)["id"]
        caller.patch("/people/{}", me, body={"name": name}).expect(200)
        text = f"{name} lives in {place}"
        facts[caller.name] = caller.adds(text, subjects=["me"], sensitivity="personal", **MINE)
    for caller, other in ((ann, bob), (bob, ann)):
        mine, theirs = facts[caller.name], facts[other.name]
        assert mine["subjects"] == [person_of(caller)]
        shown = _everything_about(caller, name, person_of(caller), person_of(other))
        assert mine["id"] in shown
        assert theirs["id"] not in shown
        assert theirs["content"] not in shown
    one, two = ({"id": person_of(caller)} for caller in (ann, bob))
    assert merges(ann, one, two).refused(409, "conflict")["reason"] == "both_users"


def _everything_about(caller: Caller, name: str, *people: str) -> str:
    """What every surface tells of a name."""
    recall = {"query": name, "spaces": "all", "token_budget": 32_000}
    answers: list[Any] = [
        caller.finds(name, spaces="all", limit=100),
        caller.post("/memories/recall", body=recall).expect(200),
        caller.lists("/memories", spaces="all", limit=1000),
        caller.lists("/people", query=name),
        *(caller.lists("/people/{}/memories", one) for one in people),
        *(caller.get("/graph/entities/{}", one).body for one in people),
    ]
    return str(answers)


@pytest.mark.scenario(57)
def test_who_asks_about_a_shared_first_name_is_told_of_their_own(callers: Callers) -> None:
    p, q = callers.person("p"), callers.person("q")
    name = a_name("Sam")
    known = {p.name: ("coworker", "climbs mountains"), q.name: ("wife", "paints boats")}
    facts = {}
    for caller in (p, q):
        relation, habit = known[caller.name]
        knows(caller, name, relationships=[{"relationship": relation}])
        facts[caller.name] = caller.adds(f"Sam {habit}", subjects=[name], **MINE)
    for caller, other in ((p, q), (q, p)):
        mine = facts[caller.name]
        relation, _ = known[caller.name]
        assert (
            mine["subjects"]
            == [resolve_name(caller, name)]
            == [resolve_name(caller, f"my {relation}")]
        )
        for query in (f"what does {name} do?", f"what does my {relation} do?"):
            assert caller.finds(query, spaces="all")[0]["id"] == mine["id"]
            body = {"query": query, "spaces": "all"}
            told = caller.post("/memories/recall", body=body).expect(200)
            assert facts[other.name]["id"] not in str(told)
            assert known[other.name][1] not in str(told)


@pytest.mark.scenario(57)
def test_two_users_claims_on_one_person_both_stay(callers: Callers) -> None:
    p, q = callers.person("p"), callers.person("q")
    shared = self_of(callers.person("s"))
    body = {"relationship": "friend"}
    claims = [
        caller.post("/people/{}/relationships", shared["id"], body=body).expect(201)
        for caller in (p, q)
    ]
    for caller, claim in zip((p, q), claims, strict=True):
        assert caller.get("/people/{}", shared["id"]).expect(200)["relationships"] == [claim]
        assert resolve_name(caller, "my friend") == shared["id"]
    p.delete("/people/{}/relationships/{}", shared["id"], claims[0]["id"]).expect(204)
    assert resolve_name(p, "my friend") is None
    assert resolve_name(q, "my friend") == shared["id"]
