"""Filters of memories: what each means, and which are refused."""

from datetime import timedelta
from typing import Any

import pytest

from recollect.kernel.ids import AgentId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryType, Sensitivity
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.memory.store import StoredMemories
from tests.support.world import new_id

pytestmark = pytest.mark.surfaces("grpc")

KINDS_OF_AGENT = (SpaceKind.AGENT_PRIVATE, SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT)


def own(caller: Caller) -> Space:
    return Space(SpaceKind.USER, caller.name)


def of_agent(agent: dict[str, Any], kind: SpaceKind = SpaceKind.AGENT_PUBLIC) -> dict[str, Any]:
    return {"space": Space(kind, agent["id"]), "agent_id": AgentId(agent["id"])}


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [memory["id"] for memory in found]


def test_an_agent_alone_means_its_readable_spaces(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()
    kept = {kind: stored_memories.puts(**of_agent(agent, kind)) for kind in KINDS_OF_AGENT}
    run = ann.post("/runs", body={"agent_id": agent["id"]}).expect(201)
    in_run = stored_memories.insert_in_run(run)
    stored_memories.puts(own(ann), source_agent=AgentId(agent["id"]))
    assert {*ids(ann.lists("/memories", agent_id=agent["id"]))} == {*kept.values()}
    open_to_all = {kept[SpaceKind.AGENT_PUBLIC], kept[SpaceKind.AGENT]}
    assert {*ids(bob.lists("/memories", agent_id=agent["id"]))} == open_to_all
    assert ids(ann.lists("/memories", agent_id=agent["id"], scope="session")) == [in_run]
    assert ids(ann.lists("/memories", run_id=run["id"])) == [in_run]
    bob.get("/memories", run_id=run["id"]).refused(404, "not_found")
    private = ann.lists("/memories", agent_id=agent["id"], visibility="private")
    assert ids(private) == [kept[SpaceKind.AGENT_PRIVATE]]
    assert bob.lists("/memories", agent_id=agent["id"], visibility="private") == []


def test_a_list_must_say_where_to_look(callers: Callers) -> None:
    details = callers.person("ann").get("/memories", key="k").refused(422, "validation_error")
    (violation,) = details["violations"]
    assert violation["field"] == "spaces"
    assert "agent_id" in violation["message"]


@pytest.mark.parametrize(
    ("query", "resource"),
    [
        ({"agent_id": "nobody"}, "agent"),
        ({"run_id": "no-run"}, "run"),
        ({"chat_id": "no-chat"}, "chat"),
        ({"spaces": "all", "subjects": "nobody"}, "person"),
        ({"spaces": "all", "stated_by": "nobody"}, "person"),
    ],
)
def test_what_is_named_must_exist(callers: Callers, query: dict[str, str], resource: str) -> None:
    details = callers.person("ann").get("/memories", **query).refused(404, "not_found")
    assert details["resource"] == resource


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"spaces": "nowhere"}, "spaces"),
        ({"spaces": "user:"}, "spaces"),
        ({"spaces": "all", "types": "rumour"}, "types"),
        ({"spaces": "all", "status": "gone"}, "status"),
        ({"spaces": "all", "valid_at": "soon"}, "valid_at"),
        ({"spaces": "all", "visibilty": "public"}, "visibilty"),
        ({"spaces": "all", "tags": [str(n) for n in range(51)]}, "tags"),
        ({"spaces": "all", "limit": "0"}, "limit"),
    ],
)
def test_a_filter_that_is_none_is_refused_by_name(
    callers: Callers, query: dict[str, Any], field: str
) -> None:
    details = callers.person("ann").get("/memories", **query).refused(422, "validation_error")
    assert [violation["field"] for violation in details["violations"]] == [field]


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"spaces": "nowhere"}, "spaces"),
        ({"spaces": [{"kind": "home"}]}, "spaces[0].kind"),
        ({"spaces": [{"kind": "user", "name": "x"}]}, "spaces[0].name"),
        ({"spaces": "all", "types": ["rumour"]}, "types[0]"),
        ({"spaces": "all", "as_of": 5}, "as_of"),
        ({"spaces": "all", "tags": "x"}, "tags"),
        ({"tags": ["x"]}, "spaces"),
    ],
)
def test_a_filter_in_a_body_is_refused_by_name(
    callers: Callers, members: dict[str, Any], field: str
) -> None:
    reply = callers.person("ann").post("/memories/search", body={"query": "x"} | members)
    details = reply.refused(422, "validation_error")
    assert [violation["field"] for violation in details["violations"]] == [field]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["a", "b", "c"]),
        ({"tags": "x"}, ["a", "b"]),
        ({"tags": ["x", "y"]}, ["a"]),
        ({"tags": "X"}, []),
        ({"tags": "%"}, []),
        ({"types": "task"}, ["b"]),
        ({"types": ["task", "event"]}, ["b", "c"]),
        ({"key": "k"}, ["c"]),
        ({"key": "K"}, []),
        ({"sensitivity": "personal"}, ["b"]),
        ({"scope": "org"}, []),
        ({"visibility": "public"}, []),
    ],
)
def test_filters_narrow(
    callers: Callers, stored_memories: StoredMemories, query: dict[str, Any], expected: list[str]
) -> None:
    ann = callers.person("ann")
    made = {
        "a": stored_memories.puts(own(ann), tags=("x", "y")),
        "b": stored_memories.puts(
            own(ann), tags=("x",), type=MemoryType.TASK, sensitivity=Sensitivity.PERSONAL
        ),
        "c": stored_memories.puts(own(ann), key="k", value={}, type=MemoryType.EVENT),
    }
    found = ann.lists("/memories", spaces=f"user:{ann.name}", **query)
    assert sorted(ids(found)) == sorted(made[name] for name in expected)


def test_times_of_creation_narrow(callers: Callers, stored_memories: StoredMemories) -> None:
    ann = callers.person("ann")
    start = stored_memories.now
    one, two, three = (
        stored_memories.puts(own(ann), at=start + timedelta(seconds=n)) for n in (-3, -2, -1)
    )
    middle = (start - timedelta(seconds=2)).isoformat()
    assert ids(ann.lists("/memories", user_id=ann.name, created_after=middle)) == [three]
    assert ids(ann.lists("/memories", user_id=ann.name, created_before=middle)) == [one]
    assert ids(ann.lists("/memories", user_id=ann.name)) == [three, two, one]


def test_spaces_are_asked_for_by_kind_by_id_or_all(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann", orgs=(new_id(),))
    agent = ann.registers()
    mine, public = stored_memories.puts(own(ann)), stored_memories.puts(**of_agent(agent))
    private = stored_memories.puts(**of_agent(agent, SpaceKind.AGENT_PRIVATE))
    org = stored_memories.puts(Space(SpaceKind.ORG, agent["org_id"]), agent_id=AgentId(agent["id"]))

    def listed(**query: Any) -> set[str]:
        return {*ids(ann.lists("/memories", **query))}

    assert listed(spaces=f"user:{ann.name}") == {mine}
    assert listed(spaces=["user", f"agent_private:{agent['id']}"]) == {mine, private}
    assert listed(spaces=["agent_private", "org"], agent_id=agent["id"]) == {private, org}
    assert listed(scope="org", agent_id=agent["id"]) == {org}
    assert listed(spaces="all") >= {mine, public, private, org}
    assert listed(spaces="all", agent_id=agent["id"]) == {public, private, org}


def test_a_users_space_shows_others_what_is_about_them(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob, eve = callers.person("ann"), callers.person("bob"), callers.person("eve")
    ann.lists("/memories", user_id=ann.name)  # from now on her org is known
    about_bob = stored_memories.puts(own(ann), subjects=(person_of(bob),), content="likes tea")
    stored_memories.puts(
        own(ann), content="nobody else's business", sensitivity=Sensitivity.PERSONAL
    )
    assert ids(bob.lists("/memories", user_id=ann.name)) == [about_bob]
    assert eve.lists("/memories", user_id=ann.name) == []
    bob.get("/memories/{}", about_bob).expect(200)
    eve.get("/memories/{}", about_bob).refused(404, "not_found")


def test_subjects_and_staters_are_found(callers: Callers, stored_memories: StoredMemories) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    about = stored_memories.puts(own(ann), subjects=(person_of(bob),))
    said = stored_memories.puts(own(ann), stated_by=person_of(bob))
    found = ann.lists("/memories", user_id=ann.name, subjects=person_of(bob))
    assert ids(found) == [about]
    found = ann.lists("/memories", user_id=ann.name, stated_by=person_of(bob))
    assert ids(found) == [said]
