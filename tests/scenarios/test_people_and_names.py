"""People who share a name, and what is known of each."""

from typing import Any

import pytest

from tests.support.memory.callers import Asker, Town
from tests.support.memory.people import a_name, knows, meant, merges, person_of, self_of

MINE: dict[str, Any] = {"space": {"kind": "user"}}


@pytest.mark.scenario(20)
@pytest.mark.parametrize("asks", ["search", "recall"])
def test_the_partners_launch_is_found_by_the_relationship_and_no_year_is_invented(
    town: Town, asks: str
) -> None:
    pat = town.person("pat")
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
def test_of_two_users_with_one_name_nothing_personal_crosses(town: Town) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    name = a_name("Alex")
    facts = {}
    for asker, place in ((ann, "Porto"), (bob, "Lisbon")):
        me = self_of(asker)["id"]
        asker.patch("/people/{}", me, body={"name": name}).expect(200)
        text = f"{name} lives in {place}"
        facts[asker.name] = asker.adds(text, subjects=["me"], sensitivity="personal", **MINE)
    for asker, other in ((ann, bob), (bob, ann)):
        mine, theirs = facts[asker.name], facts[other.name]
        assert mine["subjects"] == [person_of(asker)]
        shown = _everything_about(asker, name, person_of(asker), person_of(other))
        assert mine["id"] in shown
        assert theirs["id"] not in shown
        assert theirs["content"] not in shown
    one, two = ({"id": person_of(asker)} for asker in (ann, bob))
    assert merges(ann, one, two).refused(409, "conflict")["reason"] == "both_users"


def _everything_about(asker: Asker, name: str, *people: str) -> str:
    """What every surface tells of a name."""
    recall = {"query": name, "spaces": "all", "token_budget": 32_000}
    answers: list[Any] = [
        asker.finds(name, spaces="all", limit=100),
        asker.post("/memories/recall", body=recall).expect(200),
        asker.lists("/memories", spaces="all", limit=1000),
        asker.lists("/people", query=name),
        *(asker.lists("/people/{}/memories", one) for one in people),
        *(asker.get("/graph/entities/{}", one).body for one in people),
    ]
    return str(answers)


@pytest.mark.scenario(57)
def test_who_asks_about_a_shared_first_name_is_told_of_their_own(town: Town) -> None:
    p, q = town.person("p"), town.person("q")
    name = a_name("Sam")
    known = {p.name: ("coworker", "climbs mountains"), q.name: ("wife", "paints boats")}
    facts = {}
    for asker in (p, q):
        relation, habit = known[asker.name]
        knows(asker, name, relationships=[{"relationship": relation}])
        facts[asker.name] = asker.adds(f"Sam {habit}", subjects=[name], **MINE)
    for asker, other in ((p, q), (q, p)):
        mine = facts[asker.name]
        relation, _ = known[asker.name]
        assert mine["subjects"] == [meant(asker, name)] == [meant(asker, f"my {relation}")]
        for query in (f"what does {name} do?", f"what does my {relation} do?"):
            assert asker.finds(query, spaces="all")[0]["id"] == mine["id"]
            body = {"query": query, "spaces": "all"}
            told = asker.post("/memories/recall", body=body).expect(200)
            assert facts[other.name]["id"] not in str(told)
            assert known[other.name][1] not in str(told)


@pytest.mark.scenario(57)
def test_two_users_claims_on_one_person_both_stay(town: Town) -> None:
    p, q = town.person("p"), town.person("q")
    shared = self_of(town.person("s"))
    body = {"relationship": "friend"}
    claims = [
        asker.post("/people/{}/relationships", shared["id"], body=body).expect(201)
        for asker in (p, q)
    ]
    for asker, claim in zip((p, q), claims, strict=True):
        assert asker.get("/people/{}", shared["id"]).expect(200)["relationships"] == [claim]
        assert meant(asker, "my friend") == shared["id"]
    p.delete("/people/{}/relationships/{}", shared["id"], claims[0]["id"]).expect(204)
    assert meant(p, "my friend") is None
    assert meant(q, "my friend") == shared["id"]
