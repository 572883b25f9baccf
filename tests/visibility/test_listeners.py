"""What a group hears depends on those who mean to take part: nobody can make a group tell what none
of them has to do with, and nobody opens anything by putting somebody else in."""

from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.disclosure import (
    OWN,
    a_chat,
    alone,
    brings,
    invites,
    is_shown,
    rule_for,
    says,
)
from tests.support.memory.people import person_of

pytestmark = pytest.mark.amendment(1)


@pytest.mark.surfaces("grpc")
def test_a_group_of_one_does_not_read_the_org(callers: Callers) -> None:
    p, s, eve = (callers.person(name) for name in ("p", "s", "eve"))
    memory = says(p, s)
    group = a_chat(eve)
    assert not is_shown(eve, memory, group)
    assert rule_for(callers.auditor, eve, memory, group) == "group.public.excluded"
    assert not is_shown(eve, memory, alone(eve))
    assert eve.finds(memory["content"], chat_id=group) == []
    about = eve.get("/people/{}/memories", person_of(s), chat_id=group)
    assert about.expect(200)["data"] == []


def test_nor_does_an_agent_alone_or_with_somebody_who_knows_nothing(callers: Callers) -> None:
    p, s, eve = (callers.person(name) for name in ("p", "s", "eve"))
    bot = callers.agent(eve.registers()["id"])
    memory = says(p, s)
    other = callers.agent(eve.registers()["id"])
    for group in (a_chat(bot), a_chat(eve, bot), a_chat(bot, other)):
        assert not is_shown(bot, memory, group)


@pytest.mark.amendment(2)
@pytest.mark.surfaces("grpc")
def test_who_is_put_in_without_being_asked_opens_nothing(callers: Callers) -> None:
    p, s, eve = (callers.person(name) for name in ("p", "s", "eve"))
    memory = says(p, s)
    group = a_chat(eve)
    for victim in (p, s):
        invites(eve, victim, group)
    assert not is_shown(eve, memory, group)
    assert rule_for(callers.auditor, eve, memory, group) == "group.public.excluded"
    invites(s, s, group)
    assert is_shown(eve, memory, group)
    assert rule_for(callers.auditor, eve, memory, group) == "group.public.known"
    assert rule_for(callers.auditor, s, memory, group) == "group.public.subject"
    assert rule_for(callers.auditor, p, memory, group) == "group.public.own"
    s.delete("/chats/{}/participants/{}", group, s.name).expect(204)
    assert not is_shown(eve, memory, group)
    callers.world.clock.advance(minutes=1)
    invites(eve, s, group)
    assert not is_shown(eve, memory, group)


@pytest.mark.amendment(2)
@pytest.mark.parametrize("relation", ["subject", "own", "stated", "present"])
def test_each_relation_of_who_takes_part_opens_it_once_they_mean_to(
    callers: Callers, relation: str
) -> None:
    p, s, q, eve = (callers.person(name) for name in ("p", "s", "q", "eve"))
    said_in = a_chat(p, q)
    members = {"chat_id": said_in} if relation == "present" else {}
    memory = says(p, s, **members)
    knows = {"subject": s, "own": p, "stated": p, "present": q}[relation]
    group = a_chat(eve)
    invites(eve, knows, group)
    assert not is_shown(eve, memory, group)
    brings(eve, knows, group)
    assert is_shown(eve, memory, group)
    assert rule_for(callers.auditor, knows, memory, group).startswith("group.public.")
    if relation == "present":
        # They remember it wherever they are asked, also what they heard before they said a word.
        assert is_shown(q, memory, alone(q))


@pytest.mark.amendment(2)
@pytest.mark.parametrize("sensitivity", ["personal", "sensitive"])
def test_a_victim_put_into_a_group_is_not_present(serve: Serve, sensitivity: str) -> None:
    callers = Callers(serve(privacy__sensitive_in_groups="subject_present"))
    p, s, eve = (callers.person(name) for name in ("p", "s", "eve"))
    memory = says(p, s, sensitivity=sensitivity)
    group = a_chat(eve)
    invites(eve, s, group)
    assert not is_shown(eve, memory, group)
    assert not is_shown(s, memory, group)
    invites(s, s, group)
    assert is_shown(eve, memory, group)


@pytest.mark.amendment(2)
def test_who_was_invited_remembers_what_was_said_there(callers: Callers) -> None:
    p, q, s = (callers.person(name) for name in ("p", "q", "s"))
    group = a_chat(p)
    invites(p, q, group)
    memory = says(p, s, chat_id=group)
    assert is_shown(q, memory, alone(q))
    assert rule_for(callers.auditor, q, memory) == "private.public.present"


def test_where_anyone_may_be_heard_of_a_group_of_two_hears_it_and_a_group_of_one_does_not(
    serve: Serve,
) -> None:
    callers = Callers(serve(privacy__public_in_groups="anyone"))
    p, s, eve, q = (callers.person(name) for name in ("p", "s", "eve", "q"))
    memory = says(p, s)
    group = a_chat(eve)
    assert not is_shown(eve, memory, group)
    invites(eve, q, group)
    assert is_shown(eve, memory, group)
    assert rule_for(callers.auditor, eve, memory, group) == "group.public.any"
    brings(eve, s, group)
    assert rule_for(callers.auditor, s, memory, group) == "group.public.subject"
    assert rule_for(callers.auditor, eve, memory, group) == "group.public.any"


def test_in_a_group_of_several_orgs_each_org_keeps_its_own(callers: Callers) -> None:
    p, s = (callers.person(name, orgs=("red",)) for name in ("p", "s"))
    x = callers.person("x", orgs=("blue",))
    mixed = a_chat(p, x)
    memory = says(p, s)
    assert is_shown(p, memory, mixed)
    assert not is_shown(x, memory, mixed)
    assert rule_for(callers.auditor, x, memory, mixed) == "org.other"


def test_alone_with_a_stranger_an_agent_tells_nothing_of_its_org(callers: Callers) -> None:
    owner = callers.person("owner", orgs=("red",))
    p = callers.person("p", orgs=("red",))
    x = callers.person("x", orgs=("blue",))
    bot = callers.agent(owner.registers(org_id="red")["id"])
    said_in = a_chat(p, x)
    memory = says(p, p, chat_id=said_in)
    group = a_chat(bot, x)
    assert not is_shown(bot, memory, group)
    assert not is_shown(x, memory, group)
    brings(bot, p, group)
    assert is_shown(bot, memory, group)


@pytest.mark.surfaces("grpc")
def test_alone_with_somebody_an_agent_reads_no_space_that_they_may_not(callers: Callers) -> None:
    owner = callers.person("owner", orgs=("red",))
    mate, x = callers.person("mate", orgs=("red",)), callers.person("x", orgs=("blue",))
    agent_id = owner.registers(org_id="red")["id"]
    bot = callers.agent(agent_id, act_for="owner")
    of_org = owner.adds("The plan for spring", agent_id=agent_id, scope="org")
    own = owner.adds("Ask twice", agent_id=agent_id, visibility="private")
    for human, expected in ((owner, [of_org, own]), (mate, [of_org]), (x, [])):
        person_of(human)
        group = a_chat(bot)
        invites(bot, human, group)
        found = [one for one in (of_org, own) if is_shown_by_id(bot, one, group)]
        assert found == expected, human.name
        listed = bot.lists("/memories", chat_id=group, spaces="all")
        assert {one["id"] for one in listed} == {one["id"] for one in expected}
    group = a_chat(bot, mate, x)
    assert is_shown_by_id(bot, of_org, group), "among several an agent asks as itself"


@pytest.mark.surfaces("grpc")
def test_without_a_question_what_concerns_the_asker_comes_first_then_the_others_there(
    callers: Callers,
) -> None:
    p, q, away = (callers.person(name) for name in ("p", "q", "away"))
    group = a_chat(p, q)

    def written(caller: Caller, *subjects: Caller) -> str:
        callers.world.clock.advance(minutes=1)
        about = [person_of(one) for one in subjects]
        memory = caller.adds(f"note {callers.world.clock.now()}", **OWN, subjects=about)
        return str(memory["id"])

    own, about_p = written(p, away), written(q, p)
    about_q = written(q, q)
    rest = written(q, away)
    newer_own, newer_rest = written(p, away), written(q, away)
    newer_q = written(q, q)

    def recalled(caller: Caller, **place: str) -> list[str]:
        told = caller.post("/memories/recall", body={"token_budget": 32_000} | place).expect(200)
        scores = [item["score"] for item in told["items"]]
        assert scores == sorted(scores, reverse=True)
        return [item["id"] for item in told["items"]]

    in_group = [newer_own, about_p, own, newer_q, about_q, newer_rest, rest]
    assert recalled(p, chat_id=group) == in_group
    assert recalled(p) == [newer_own, about_p, own]
    assert recalled(q, chat_id=group) == [
        newer_q,
        newer_rest,
        rest,
        about_q,
        about_p,
        newer_own,
        own,
    ]


def is_shown_by_id(caller: Caller, memory: dict[str, Any], chat_id: str) -> bool:
    return caller.get("/memories/{}", memory["id"], chat_id=chat_id).status == 200


def test_every_surface_of_a_trusted_client_agrees(callers: Callers) -> None:
    p, s, eve = (callers.person(name) for name in ("p", "s", "eve"))
    memory = says(p, s)
    trusted = replace(eve, user=eve.user.with_key("trusted"))
    group = a_chat(trusted)
    body = {"kind": "user", "confirmed": True}
    trusted.put("/chats/{}/participants/{}", group, s.name, body=body).expect(200)
    assert is_shown(eve, memory, group)
