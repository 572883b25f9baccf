"""Disclosure as callers see it: who is told what, in which chat, on every surface."""

from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.disclosure import OWN, a_chat, alone, brings, is_shown, rule_for, says
from tests.support.memory.people import person_of
from tests.support.memory.portability import a_line, imports
from tests.support.world import new_id

pytestmark = pytest.mark.surfaces("grpc")

SENSITIVITIES = ("public", "personal", "sensitive")


@pytest.mark.scenario(35)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_what_is_told_about_somebody_depends_on_who_asks_and_who_listens(
    callers: Callers, sensitivity: str
) -> None:
    p, q, r = (callers.person(name) for name in "pqr")
    memory = says(p, q, sensitivity=sensitivity)
    with_q, without_q = a_chat(p, q, r), a_chat(p, r)
    public, sensitive = sensitivity == "public", sensitivity == "sensitive"
    assert is_shown(q, memory, alone(q))
    assert is_shown(q, memory)
    assert is_shown(q, memory, with_q) is not sensitive
    assert is_shown(r, memory, with_q) is public
    assert is_shown(r, memory, without_q) is public
    assert is_shown(p, memory, alone(p))
    assert is_shown(p, memory, without_q) is public
    assert not is_shown(r, memory, alone(r))
    assert not is_shown(r, memory)


@pytest.mark.scenario(35)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_a_person_of_another_org_gets_nothing(callers: Callers, sensitivity: str) -> None:
    p, q = (callers.person(name, orgs=("acme",)) for name in "pq")
    x = callers.person("x", orgs=("beta",))
    memories = [says(p, q, sensitivity=sensitivity), says(p, sensitivity=sensitivity)]
    mixed, own = a_chat(p, q, x), alone(x)
    for memory in memories:
        for chat_id in (None, mixed, own):
            assert not is_shown(x, memory, chat_id)
            assert rule_for(callers.auditor, x, memory, chat_id) == "org.other"


@pytest.mark.scenario(35)
def test_an_agent_that_asks_for_nobody_is_told_what_any_group_is(callers: Callers) -> None:
    p, q = callers.person("p"), callers.person("q")
    bot = callers.agent(p.registers()["id"])
    group = a_chat(p, q, bot)
    shown = [is_shown(bot, says(p, q, sensitivity=one), group) for one in SENSITIVITIES]
    assert shown == [True, False, False]
    assert not is_shown(bot, says(p, q))


@pytest.mark.scenario(36)
def test_a_sensitive_fact_is_withheld_from_its_subject_in_a_group_and_counted(
    callers: Callers,
) -> None:
    p, q = callers.person("p"), callers.person("q")
    g1 = a_chat(p, q)
    memory = says(p, q, sensitivity="sensitive", chat_id=g1)
    assert not is_shown(q, memory, g1)
    body = {"query": memory["content"], "chat_id": g1, "explain": True}
    assert q.post("/memories/search", body=body).expect(200)["withheld"] == 1
    assert p.post("/memories/search", body=body).expect(200)["withheld"] == 0
    assert is_shown(q, memory, alone(q))


@pytest.mark.scenario(37)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_what_was_said_in_confidence_stays_in_its_private_chat(
    callers: Callers, sensitivity: str
) -> None:
    r, s, q = (callers.person(name) for name in "rsq")
    confided = alone(r)
    memory = says(r, s, sensitivity=sensitivity, chat_id=confided, portable=False)
    group = a_chat(r, s, q)
    for caller in (r, s, q):
        assert not is_shown(caller, memory, group)
        assert not is_shown(caller, memory, alone(caller))
    assert is_shown(r, memory, confided)


@pytest.mark.scenario(38)
def test_what_serves_one_chat_alone_is_known_in_no_other(callers: Callers) -> None:
    p, q, r = (callers.person(name) for name in "pqr")
    g1, g2 = a_chat(p, q), a_chat(p, q, r)
    loves = says(p, q, chat_id=g1)
    presents = says(p, q, chat_id=g1, portable=False)
    assert is_shown(q, loves, alone(q))
    assert is_shown(q, presents, g1)
    assert is_shown(p, presents, g1)
    for caller in (p, q):
        assert not is_shown(caller, presents, alone(caller))
        assert not is_shown(caller, presents, g2)
    assert not is_shown(r, presents, g2)
    assert not is_shown(q, presents)


@pytest.mark.scenario(39)
def test_who_was_there_may_know_and_who_came_later_only_there(callers: Callers) -> None:
    p, q, r, s, late = (callers.person(name) for name in ("p", "q", "r", "s", "late"))
    g1 = a_chat(p, q)
    memory = says(p, s, chat_id=g1)
    callers.world.clock.advance(minutes=1)
    brings(p, late, g1)
    mine = says(r, s)
    assert is_shown(q, memory, alone(q))
    assert not is_shown(r, memory, alone(r))
    assert not is_shown(r, memory)
    about = r.lists("/people/{}/memories", person_of(s))
    assert [one["id"] for one in about] == [mine["id"]]
    assert is_shown(late, memory, g1)
    assert not is_shown(late, memory, alone(late))
    assert not is_shown(late, memory)
    q.delete("/chats/{}/participants/{}", g1, q.name).expect(204)
    assert is_shown(q, memory, alone(q)), "who left was there all the same"


@pytest.mark.scenario(40)
def test_an_import_without_origin_is_open_where_nobody_else_listens(callers: Callers) -> None:
    p, q, r = (callers.person(name) for name in "pqr")
    group = a_chat(p, q, r)
    public = imported(p, q)
    assert is_shown(r, public, alone(r))
    assert is_shown(r, public)
    assert is_shown(r, public, group)
    assert rule_for(callers.auditor, r, public) == "private.public.unknown_origin"
    personal = imported(p, q, sensitivity="personal")
    assert not is_shown(r, personal, alone(r))
    assert is_shown(q, personal, alone(q))
    assert is_shown(p, personal)
    nobodys = imported(p)
    assert not is_shown(r, nobodys, alone(r))
    assert is_shown(p, nobodys, group)


@pytest.mark.scenario(40)
def test_an_import_without_origin_is_in_no_chat_where_such_are_closed(serve: Serve) -> None:
    callers = Callers(serve(privacy__unknown_origin="closed"))
    p, q, r = (callers.person(name) for name in "pqr")
    group = a_chat(p, q, r)
    memory = imported(p, q)
    for caller in (p, q, r):
        assert not is_shown(caller, memory, group)
        assert not is_shown(caller, memory, alone(caller))
        assert rule_for(callers.auditor, caller, memory, group) == "origin.unknown"
    assert is_shown(p, memory)
    assert not is_shown(q, memory)
    report = callers.auditor.post("/admin/doctor", body={"checks": ["unknown_origin"]}).expect(200)
    (check,) = report["checks"]
    assert (check["count"], check["sample_ids"]) == (1, [memory["id"]])


@pytest.mark.scenario(41)
@pytest.mark.parametrize("sensitivity", ["personal", "sensitive"])
def test_where_it_is_so_set_a_group_with_the_subject_is_told(
    serve: Serve, sensitivity: str
) -> None:
    callers = Callers(serve(privacy__sensitive_in_groups="subject_present"))
    p, q, r = (callers.person(name) for name in "pqr")
    memory = says(p, q, sensitivity=sensitivity)
    with_q, without_q = a_chat(p, q, r), a_chat(p, r)
    for caller in (p, q, r):
        assert is_shown(caller, memory, with_q)
    for caller in (p, r):
        assert not is_shown(caller, memory, without_q)
    q.delete("/chats/{}/participants/{}", with_q, q.name).expect(204)
    assert not is_shown(r, memory, with_q)
    assert is_shown(q, memory, alone(q))
    assert is_shown(p, memory, alone(p))
    assert not is_shown(r, memory, alone(r))


@pytest.mark.scenario(42)
def test_of_a_claim_others_learn_the_name_at_most(callers: Callers) -> None:
    p, r = callers.person("p"), callers.person("r")
    name = f"Sal {new_id()}"
    s = p.post("/people", body={"name": name}).expect(201)
    p.post("/people/{}/relationships", s["id"], body={"relationship": "therapist"}).expect(201)
    p.post("/people/{}/aliases", s["id"], body={"value": "Doc Therapist"}).expect(201)
    memory = p.adds(f"{name} is a therapist", subjects=[s["id"]], **OWN)
    answers: list[Any] = [
        r.lists("/people", query=name),
        r.get("/people/{}", s["id"]).expect(200),
        r.post("/people/resolve", body={"name": "Doc Therapist"}).expect(200),
        r.post("/people/resolve", body={"name": "my therapist"}).expect(200),
        r.post("/memories/recall", body={"query": name, "spaces": "all"}).expect(200),
        r.lists("/people/{}/memories", s["id"]),
    ]
    assert [one["id"] for one in answers[0]] == [s["id"]]
    assert "therapist" not in str(answers).lower()
    assert memory["id"] not in str(answers)
    assert "therapist" in str(p.get("/people/{}", s["id"]).expect(200))


def test_a_partner_who_never_called_is_judged_by_their_orgs(serve: Serve) -> None:
    """The settings know of them, or they belong to everybody's org."""
    members = {"acme": ["ann-of-acme", "new-at-acme"]}
    callers = Callers(serve(orgs__members=members))
    ann = Caller(callers.world.named("ann-of-acme"), callers.world)
    bob = callers.person("bob")
    for owner, partner, stranger in (
        (ann, "new-at-acme", "new-anywhere"),
        (bob, "new-anywhere-else", "ann-of-acme"),
    ):
        bot = callers.agent(owner.registers()["id"])
        memory = owner.adds(f"Tea is {new_id()}", space={"kind": "user"}, sensitivity="public")
        for name, of_the_org in ((partner, True), (stranger, False)):
            chat_id = a_chat(bot, kind="private")
            bot.put("/chats/{}/participants/{}", chat_id, name, body={"kind": "user"}).expect(200)
            reply = callers.auditor.get(
                "/memories/{}/explain", memory["id"], as_user=name, chat_id=chat_id
            )
            rule = reply.expect(200)["rule"]
            assert (rule != "org.other") is of_the_org, (name, rule)


def test_the_past_is_searched_as_private_as_it_was(callers: Callers) -> None:
    p, q = callers.person("p"), callers.person("q")
    group = a_chat(p, q)
    memory = p.adds("Sells the heron", **OWN, subjects=[person_of(p)], sensitivity="sensitive")
    then = callers.world.clock.advance(minutes=1).isoformat()
    callers.world.clock.advance(minutes=1)
    body = {"sensitivity": "public", "content": "Sells the heron gladly"}
    p.patch("/memories/{}", memory["id"], body=body).expect(200)
    q.get("/memories/{}", memory["id"], chat_id=group).expect(200)
    for query in ("heron", "heron gladly"):
        asked = {"query": query, "as_of": then}
        assert q.finds(**asked, chat_id=group) == []
        assert (
            q.post("/memories/recall", body=asked | {"chat_id": group}).expect(200)["items"] == []
        )
        (found,) = p.finds(**asked, spaces="all")
        assert found["content"] == "Sells the heron"


def test_a_page_of_the_past_is_full_though_some_of_it_was_private(callers: Callers) -> None:
    p, q = callers.person("p"), callers.person("q")
    group = a_chat(p, q)
    about = OWN | {"subjects": [person_of(p)]}
    shy = [p.adds(f"otter otter {n}", sensitivity="personal", **about) for n in range(3)]
    open_ = [p.adds(f"a otter by pond {n}", **about) for n in range(3)]
    then = callers.world.clock.advance(minutes=1).isoformat()
    callers.world.clock.advance(minutes=1)
    for memory in shy:
        p.patch("/memories/{}", memory["id"], body={"sensitivity": "public"}).expect(200)
    asked = {"query": "otter", "as_of": then, "chat_id": group, "limit": 2}
    first = q.post("/memories/search", body=asked).expect(200)
    assert len(first["data"]) == 2
    rest = q.post("/memories/search", body=asked | {"after": first["next_cursor"]}).expect(200)
    assert (len(rest["data"]), rest["next_cursor"]) == (1, None)
    found = {one["id"] for one in (*first["data"], *rest["data"])}
    assert found == {one["id"] for one in open_}


def imported(owner: Caller, *subjects: Caller, **members: Any) -> dict[str, Any]:
    """A memory that came without an origin."""
    place = "Z" + "".join(char for char in new_id() if char.isalpha())
    about = [person_of(one) for one in subjects]
    line = a_line(f"Lives in {place}", id=new_id(), subjects=about, **members)
    report = imports(owner, [line])
    assert report["created"] == 1, report
    memory: dict[str, Any] = owner.get("/memories/{}", line["id"]).expect(200)
    assert memory["origin"] == "unknown"
    return memory


def test_an_agent_of_another_org_is_told_nothing_by_bringing_somebody_into_its_chat(
    callers: Callers,
) -> None:
    ann = callers.person("ann", orgs=("acme",))
    kept = ann.adds("I prefer the quiet room", space={"kind": "user"}, sensitivity="personal")
    replies = {}
    for org in ("acme", "beta"):
        owner = callers.person("owner", orgs=(org,))
        agent = callers.agent(owner.registers(name="asking", org_id=org)["id"])
        chat = f"chat with {agent.name}"
        agent.put("/chats/{}", chat, body={"kind": "private"}).expect(201)
        for one in (agent, ann):
            one.put("/chats/{}/participants/{}", chat, ann.name, body={"kind": "user"}).expect(200)
        replies[org] = agent.post("/memories/search", body={"query": "quiet room", "chat_id": chat})
    assert [hit["id"] for hit in replies["acme"].expect(200)["data"]] == [kept["id"]]
    replies["beta"].refused(403, "asker_not_allowed")
