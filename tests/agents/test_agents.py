"""The registry of agents."""

from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import Host
from tests.support.api import Credentials
from tests.support.memory.callers import Caller, Callers
from tests.support.world import CLIENT_KEYS, at_once


def test_an_agent_without_owner_owns_itself(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.post("/agents", body={"name": "Travel Guide"}).expect(201)
    assert agent["owner_id"] == f"agent:{agent['id']}"
    assert agent["id"].startswith("travel-guide-")
    assert agent["created_by"] == ann.name
    assert ann.get("/agents/{}", agent["id"]).expect(200) == agent


def test_a_misspelt_member_is_refused_by_name(callers: Callers) -> None:
    ann = callers.person("ann")
    details = ann.post("/agents", body={"nmae": "x"}).refused(422, "validation_error")
    (violation,) = details["violations"]
    assert violation["field"] == "nmae"
    assert violation["message"] == "unknown field; did you mean `name`?"
    assert "name" in violation["allowed"]
    ann.get("/agents", nmae="x").refused(422, "validation_error")


def test_an_id_is_taken_once_and_compared_byte_for_byte(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers(id=f"{ann.name}-Agent")
    details = bob.post("/agents", body={"id": agent["id"]}).refused(409, "conflict")
    assert details["reason"] == "id_taken"
    assert bob.registers(id=agent["id"].lower())["id"] == f"{ann.name}-agent"


def test_of_many_who_register_one_id_at_once_one_succeeds(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"id": f"race-{ann.name}"}
    replies = at_once([lambda: ann.post("/agents", body=body)] * 6)
    assert sorted(reply.status for reply in replies) == [201] + [409] * 5


@pytest.mark.scenario(14)
@pytest.mark.parametrize(
    ("id_", "code"),
    [
        ("foo-public", "agent_id_reserved"),
        ("foo-private", "agent_id_reserved"),
        ("foo-public-org-acme", "agent_id_reserved"),
        ("foo-public-team-red", "agent_id_reserved"),
        ("foo bar", "validation_error"),
        ("foo/bar", "validation_error"),
        ("a" * 65, "validation_error"),
        ("", "validation_error"),
    ],
)
def test_a_reserved_or_malformed_id_is_refused_whether_or_not_its_stem_exists(
    callers: Callers, id_: str, code: str
) -> None:
    ann = callers.person("ann")
    ann.post("/agents", body={"id": id_}).refused(422, code)
    ann.post("/agents", body={"id": "foo"})
    ann.post("/agents", body={"id": id_}).refused(422, code)


@pytest.mark.scenario(13)
def test_an_org_that_is_not_the_callers_is_forbidden_and_one_of_several_must_be_named(
    callers: Callers,
) -> None:
    ann = callers.person("ann")
    ann.post("/agents", body={"org_id": "acme"}).refused(403, "forbidden")
    assert ann.registers()["org_id"] == "default"
    eve = callers.person("eve", orgs=("acme", "umbrella"))
    details = eve.post("/agents", body={"name": "x"}).refused(422, "validation_error")
    assert details["violations"][0]["allowed"] == ["acme", "umbrella"]
    assert eve.registers(org_id="acme")["org_id"] == "acme"


def test_a_list_shows_agents_of_ones_orgs_and_ones_own_the_newest_first(callers: Callers) -> None:
    org, other = callers.person("org").name, callers.person("other").name
    ann, bob = callers.person("ann", orgs=(org,)), callers.person("bob", orgs=(other,))
    ours = [ann.registers(name=f"ours {n}")["id"] for n in range(5)]
    lent = bob.registers(owner_id=ann.name, name="lent")["id"]
    theirs = bob.registers(name="theirs")["id"]
    assert [agent["id"] for agent in ann.lists("/agents", limit=2)] == [lent, *reversed(ours)]
    assert {agent["id"] for agent in bob.lists("/agents", limit=1)} == {lent, theirs}
    assert [agent["id"] for agent in ann.lists("/agents", owner_id=bob.name)] == []
    assert len(ann.lists("/agents", owner_id=ann.name)) == 6


def test_a_query_ranks_agents_by_match_and_its_pages_hold_each_once(callers: Callers) -> None:
    ann = callers.person("ann", orgs=(callers.person("org").name,))
    by_text = ann.registers(name="Helper", description="plans a journey by rail")["id"]
    by_name = ann.registers(name="Rail journey planner", description="tickets")["id"]
    by_both = ann.registers(id=f"rail-journey-{ann.name}", name="Rail")["id"]
    ann.registers(name="Cook", description="soups")
    wanted = [by_both, by_name, by_text]
    assert [agent["id"] for agent in ann.lists("/agents", query="Rail journey")] == wanted
    assert [agent["id"] for agent in ann.lists("/agents", query="rail journey", limit=1)] == wanted
    assert [agent["id"] for agent in ann.lists("/agents", query="jour")] == wanted
    assert ann.lists("/agents", query="zeppelin") == []
    assert ann.lists("/agents", query="%") == []
    newest_first = ann.lists("/agents")
    assert ann.lists("/agents", query=" ") == newest_first
    ann.get("/agents", query="rail", after="x").refused(422, "validation_error")
    plain = ann.get("/agents", limit=1).expect(200)["next_cursor"]
    ann.get("/agents", query="rail", after=plain).refused(422, "validation_error")


def test_owner_and_admin_change_an_agent_and_nobody_else(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = bob.registers(owner_id=ann.name, name="first", description="d", metadata={"a": 1})
    for stranger in (bob, callers.agent(agent["id"])):
        stranger.patch("/agents/{}", agent["id"], body={"name": "x"}).refused(403, "not_owner")
    changed = ann.patch(
        "/agents/{}", agent["id"], body={"description": None, "space_mode": "single"}
    ).expect(200)
    assert (changed["name"], changed["description"], changed["space_mode"]) == (
        "first",
        None,
        "single",
    )
    assert changed["updated_at"] > agent["updated_at"]
    by_admin = callers.admin.patch("/agents/{}", agent["id"], body={"metadata": {}}).expect(200)
    assert by_admin == changed | {"metadata": {}, "updated_at": by_admin["updated_at"]}
    assert ann.get("/agents/{}", agent["id"]).expect(200) == by_admin


def test_a_change_that_changes_nothing_leaves_no_trace(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers(name="same")
    assert ann.patch("/agents/{}", agent["id"], body={"name": "same"}).expect(200) == agent
    assert ann.patch("/agents/{}", agent["id"], body={}).expect(200) == agent
    assert event_types(ann, agent["id"]) == ["agent.register"]


def test_the_creator_changes_an_agent_only_while_it_owns_itself(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent_id = ann.post("/agents", body={"name": "free"}).expect(201)["id"]
    ann.patch("/agents/{}", agent_id, body={"name": "still free"}).expect(200)
    ann.put("/agents/{}/owner", agent_id, body={"owner_id": ann.name}).refused(403, "not_owner")
    itself = callers.agent(agent_id)
    given = itself.put("/agents/{}/owner", agent_id, body={"owner_id": bob.name}).expect(200)
    assert given["owner_id"] == bob.name
    ann.patch("/agents/{}", agent_id, body={"name": "x"}).refused(403, "not_owner")
    ann.delete("/agents/{}", agent_id).refused(403, "not_owner")
    itself.put("/agents/{}/owner", agent_id, body={"owner_id": ann.name}).refused(403, "not_owner")
    callers.admin.put("/agents/{}/owner", agent_id, body={"owner_id": f"agent:{agent_id}"}).expect(
        200
    )
    ann.patch("/agents/{}", agent_id, body={"name": "free again"}).expect(200)


def test_what_nobody_registered_is_not_found_before_any_right_is_asked(callers: Callers) -> None:
    ann = callers.person("ann")
    for reply in (
        ann.get("/agents/{}", "nobody"),
        ann.patch("/agents/{}", "nobody", body={"name": "x"}),
        ann.put("/agents/{}/owner", "nobody", body={"owner_id": "x"}),
        ann.delete("/agents/{}", "nobody"),
        ann.get("/agents/{}", "a/b"),
    ):
        details = reply.refused(404, "not_found")
        assert details["resource"] == "agent"
    ann.put("/agents/{}/owner", "nobody", body={"owner_id": "agent:a b"}).refused(
        422, "validation_error"
    )


def test_an_agent_without_memories_is_removed_and_its_id_is_free(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers(name="short-lived")
    callers.person("bob").delete("/agents/{}", agent["id"]).refused(403, "not_owner")
    ann.delete("/agents/{}", agent["id"]).expect(204)
    ann.delete("/agents/{}", agent["id"]).refused(404, "not_found")
    ann.get("/agents/{}", agent["id"]).refused(404, "not_found")
    assert agent["id"] not in {each["id"] for each in ann.lists("/agents")}
    assert callers.person("bob").registers(id=agent["id"])["id"] == agent["id"]


def test_an_id_stays_taken_while_another_agent_belongs_to_it(callers: Callers) -> None:
    ann = callers.person("ann")
    boss = ann.registers()["id"]
    child = ann.registers(owner_id=f"agent:{boss}")["id"]
    ann.delete("/agents/{}", boss).expect(204)
    ann.get("/agents/{}", boss).refused(404, "not_found")
    ann.post("/agents", body={"id": boss}).refused(409, "conflict")
    callers.admin.delete("/agents/{}", child).expect(204)
    ann.post("/agents", body={"id": boss}).expect(201)


def test_every_change_of_an_agent_leaves_an_event_with_the_names_of_what_changed(
    callers: Callers,
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent_id = ann.registers(name="Watched")["id"]
    ann.patch("/agents/{}", agent_id, body={"name": "w", "metadata": {"a": 1}}).expect(200)
    bob.patch("/agents/{}", agent_id, body={"name": "w"}).refused(403, "not_owner")
    ann.put("/agents/{}/owner", agent_id, body={"owner_id": bob.name}).expect(200)
    bob.delete("/agents/{}", agent_id).expect(204)
    events = callers.auditor.lists("/events", agent_id=agent_id)
    told = [(e["event_type"], e["requester_id"], e["outcome"]) for e in reversed(events)]
    assert told == [
        ("agent.register", ann.name, "allowed"),
        ("agent.update", ann.name, "allowed"),
        ("memory.denied", bob.name, "denied"),
        ("agent.owner", ann.name, "allowed"),
        ("agent.remove", bob.name, "allowed"),
    ]
    payloads = {event["event_type"]: event["payload"] for event in events}
    assert payloads["agent.update"] == {"fields": ["metadata", "name"]}
    assert payloads["agent.owner"] == {"from": ann.name, "owner_id": bob.name}
    assert payloads["memory.denied"] == {"operation": "updateAgent", "code": "not_owner"}
    assert all("Watched" not in str(event) for event in events)


@pytest.mark.scenario(5)
def test_in_local_mode_a_call_without_requester_is_refused_for_known_and_unknown_agents(
    host: Host,
) -> None:
    with host(auth__mode="local", auth__roles={}) as world:
        callers = Callers(world)
        owner = callers.named_by_header("olga")
        agent = owner.registers(name="known")
        nobody = callers.nobody
        for agent_id in (agent["id"], "unknown"):
            nobody.get("/agents/{}", agent_id).refused(400, "requester_required")
            nobody.patch("/agents/{}", agent_id, body={"name": 1}).refused(
                400, "requester_required"
            )
            nobody.delete("/agents/{}", agent_id).refused(400, "requester_required")
        nobody.get("/agents").refused(400, "requester_required")
        nobody.get("/events").refused(400, "requester_required")
        owner.get("/agents/{}", "unknown").refused(404, "not_found")
        for odd in ("", "x" * 256, "tab\there"):
            callers.named_by_header(odd).get("/agents").refused(400, "requester_invalid")


def test_a_header_that_is_no_name_is_told_before_what_is_wrong_with_the_credential(
    callers: Callers,
) -> None:
    ann, key = callers.person("ann"), CLIENT_KEYS["trusted"]
    token = ann.user.credentials.token
    for odd in ("", "x" * 256, "tab\there"):
        knowns: list[dict[str, Any]] = [{}, {"token": token}, {"token": "bad"}, {"api_key": key}]
        for known in knowns:
            caller = asking(callers, requester_id=odd, **known)
            caller.get("/agents").refused(400, "requester_invalid")
    asking(callers, requester_id=ann.name).get("/agents").refused(401, "unauthorized")
    asking(callers, requester_id=ann.name, token="bad").get("/agents").refused(401, "unauthorized")
    other = asking(callers, requester_id="bob", token=token)
    other.get("/agents").refused(403, "requester_mismatch")
    asking(callers, requester_id=ann.name, token=token).get("/agents").expect(200)


def asking(callers: Callers, **credentials: Any) -> Caller:
    """Somebody with these credentials."""
    user = replace(callers.nobody.user, credentials=Credentials(**credentials))
    return Caller(user, callers.world)


@pytest.mark.scenario(13)
def test_in_local_mode_the_header_names_an_agent_or_a_user_and_never_both(host: Host) -> None:
    with host(auth__mode="local", auth__roles={}) as world:
        callers = Callers(world)
        creator = callers.named_by_header("carl")
        agent_id = creator.post("/agents", body={"id": "solo"}).expect(201)["id"]
        owned = creator.registers(id="owned")["id"]
        patch = {"name": "x"}
        callers.named_by_header("agent:solo").patch("/agents/{}", agent_id, body=patch).expect(200)
        callers.named_by_header("solo").patch("/agents/{}", agent_id, body=patch).refused(
            403, "not_owner"
        )
        callers.named_by_header("agent:owned").patch("/agents/{}", owned, body=patch).refused(
            403, "not_owner"
        )


def test_in_jwt_mode_credentials_decide_who_asks(callers: Callers) -> None:
    nobody = callers.nobody
    nobody.get("/agents").refused(401, "unauthorized")
    callers.named_by_header("ann").get("/agents").refused(401, "unauthorized")
    ann = callers.person("ann")
    ann.call("GET", "/agents", headers={"X-Requester-Id": "bob"}).refused(403, "requester_mismatch")
    agent = callers.agent("some-agent")
    agent.call("GET", "/agents", headers={"X-Requester-Id": "some-agent"}).refused(
        403, "requester_mismatch"
    )
    agent.call("GET", "/agents", headers={"X-Requester-Id": "agent:some-agent"}).expect(200)
    bad = callers.world.named("agent:some-agent")
    Caller(bad, callers.world).get("/agents").refused(401, "unauthorized")


def test_an_agents_credential_may_say_that_it_acts_for_its_owner(host: Host) -> None:
    flags = {
        "auth__api_keys": {"runner": ["key-of-runner"], "other": ["key-of-other"]},
        "auth__trusted_clients": ["runner", "other"],
        "auth__agents": {"runner": {"agent": "helper", "act_for_owner": True}},
    }
    with host(**flags) as world:
        callers = Callers(world)
        ann = callers.person("ann")
        ann.registers(id="helper")
        callers.agent("helper").get("/events", agent_id="helper").expect(200)
        assert event_types(callers.agent("helper"), "helper") == []
        acting = callers.agent("helper", act_for="owner")
        assert event_types(acting, "helper") == ["agent.register"]
        by_key = callers.named_by_header("agent:helper", "key-of-runner")
        assert event_types(by_key, "helper") == ["agent.register"]
        other_key = callers.named_by_header("agent:helper", "key-of-other")
        assert event_types(other_key, "helper") == []
        other_agent = callers.named_by_header("agent:other", "key-of-runner")
        assert event_types(other_agent, "helper") == []


def event_types(reader: Caller, agent_id: str) -> list[str]:
    """What happened to the agent, as far as the reader may know; the oldest first."""
    events = reader.lists("/events", agent_id=agent_id)
    return [event["event_type"] for event in reversed(events)]
