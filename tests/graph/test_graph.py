"""The graph over REST: what memories state, seen by those who may read them."""

from typing import Any

import pytest

from recollect.kernel.clock import to_text
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.world import new_id

pytestmark = pytest.mark.surfaces("grpc", scenarios_only=True)

ENTITY = "/graph/entities/{}"
OWN = {"space": {"kind": "user"}}

Fact = tuple[str | None, str, str | None]


def says(caller: Caller, content: str, *subjects: str, **members: Any) -> dict[str, Any]:
    """A statement in the speaker's own space, about these people or about the speaker."""
    return caller.adds(content, **({**OWN, "subjects": list(subjects) or ["me"]} | members))


def looks(caller: Caller, entity_id: str, **query: Any) -> set[Fact]:
    """What the asker sees around an entity, by names; nothing if it is unknown."""
    reply = caller.get(ENTITY, entity_id, **query)
    if reply.status == 404:
        return set()
    return facts(reply.expect(200))


def facts(view: dict[str, Any]) -> set[Fact]:
    names = {one["id"]: one["name"] for one in [view["entity"], *view["entities"]]}
    return {
        (names[one["from_id"]], one["relation"], names[one["to_id"]]) for one in view["relations"]
    }


def of(caller: Caller, relation: str, name: str) -> Fact:
    """A fact about the asker, who is called by their id."""
    return caller.name, relation, name


def own_entities(caller: Caller, **query: Any) -> list[dict[str, Any]]:
    """Entities of the asker's own space. What is public of other tests is listed too."""
    space = {"kind": "user", "id": caller.name}
    return [one for one in caller.lists("/graph/entities", **query) if one["space"] == space]


def a_person(caller: Caller, name: str) -> str:
    """Somebody whom the asker knows."""
    person: dict[str, Any] = caller.post("/people", body={"name": name}).expect(201)
    return str(person["id"])


def path_of(caller: Caller, start: str, goal: str, **query: Any) -> list[str]:
    """The relations of a path."""
    found = caller.get("/graph/path", **{"from": start, "to": goal}, **query).expect(200)
    return [one["relation"] for one in found["relations"]]


def test_a_statement_is_drawn_with_all_its_members(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = says(ann, "I live in Porto", valid_from="2020-01-01T00:00:00Z")
    me = person_of(ann)
    view = ann.get(ENTITY, me).expect(200)
    assert view["entity"] == {"id": me, "kind": "person", "name": ann.name, "space": None}
    (porto,), (edge,) = view["entities"], view["relations"]
    space = {"kind": "user", "id": ann.name}
    assert porto == {"id": porto["id"], "kind": "place", "name": "Porto", "space": space}
    assert edge == {
        "id": edge["id"],
        "from_id": me,
        "to_id": porto["id"],
        "relation": "lives_in",
        "memory_id": memory["id"],
        "space": space,
        "valid_from": memory["valid_from"],
        "valid_until": None,
        "recorded_at": memory["created_at"],
        "retracted_at": None,
    }
    assert view["truncated"] is False


@pytest.mark.scenario(60)
def test_past_and_present_of_a_fact_each_have_their_graph(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    me, clock = person_of(ann), callers.world.clock
    in_may = clock.now()
    old = says(ann, "My home is Porto")
    in_june, mid_june, july = clock.advance(days=30), clock.advance(days=15), clock.advance(days=15)
    new = says(ann, "My home is Lisbon", supersedes=[old["id"]], valid_from=to_text(in_june))
    secret = says(bob, "My home is Faro")
    clock.advance(hours=1)

    def contents(**query: Any) -> list[str]:
        return [one["content"] for one in ann.lists("/memories", spaces="all", **query)]

    porto, lisbon = {of(ann, "lives_in", "Porto")}, {of(ann, "lives_in", "Lisbon")}
    assert looks(ann, me, valid_at=to_text(in_may)) == porto
    assert looks(ann, me, as_of=to_text(mid_june)) == porto
    assert looks(ann, me) == looks(ann, me, valid_at=to_text(july)) == lisbon
    assert contents(valid_at=to_text(in_may)) == ["My home is Porto"]
    assert contents(as_of=to_text(mid_june)) == ["My home is Porto"]
    assert contents() == ["My home is Lisbon"]
    ann.delete("/memories/{}", old["id"]).expect(204)
    assert looks(ann, me, as_of=to_text(mid_june)) == set()
    assert looks(ann, me, valid_at=to_text(in_may)) == set()
    assert contents(as_of=to_text(mid_june)) == contents(valid_at=to_text(in_may)) == []
    assert looks(ann, me) == lisbon
    ann.delete("/memories/{}", new["id"]).expect(204)
    assert looks(ann, person_of(bob), as_of=to_text(clock.now())) == set()
    assert looks(bob, person_of(bob)) == {of(bob, "lives_in", "Faro")}
    assert secret["status"] == "active"


def test_a_changed_text_is_drawn_anew(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = says(ann, "I live in Porto")
    me = person_of(ann)
    before = callers.world.clock.now()
    callers.world.clock.advance(hours=1)
    ann.patch("/memories/{}", memory["id"], body={"content": "I live in Lisbon"}).expect(200)
    assert looks(ann, me) == {of(ann, "lives_in", "Lisbon")}
    assert looks(ann, me, as_of=to_text(before)) == {of(ann, "lives_in", "Porto")}
    ann.patch("/memories/{}", memory["id"], body={"content": "Nothing of that"}).expect(200)
    ann.get(ENTITY, me).refused(404, "not_found")


def test_a_change_of_anything_but_text_and_people_ends_no_edge(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = says(ann, "I live in Porto", tags=["home"])
    me = person_of(ann)
    callers.world.database.rows(
        "INSERT INTO relations (id, from_id, to_id, relation, memory_id, recorded_at)"
        " SELECT :id, from_id, to_id, 'owns_a_house_in', memory_id, recorded_at FROM relations"
        " WHERE memory_id = :memory",
        id=new_id(),
        memory=memory["id"],
    )
    both = {of(ann, "lives_in", "Porto"), of(ann, "owns_a_house_in", "Porto")}
    changes: dict[str, Any] = {"tags": ["place"], "type": "identity", "metadata": {"a": 1}}
    for name, value in changes.items():
        ann.patch("/memories/{}", memory["id"], body={name: value}).expect(200)
        assert looks(ann, me) == both
    ann.patch("/memories/{}", memory["id"], body={"content": "I live in Faro"}).expect(200)
    assert looks(ann, me) == {of(ann, "lives_in", "Faro")}


def test_an_edge_ends_with_its_memory(callers: Callers) -> None:
    ann = callers.person("ann")
    fading = says(ann, "I live in Porto", type="observation")
    says(ann, "I like tea")
    me = person_of(ann)
    assert looks(ann, me) == {of(ann, "lives_in", "Porto"), of(ann, "likes", "tea")}
    (porto,) = own_entities(ann, kind="place")
    callers.world.clock.advance(days=3)
    assert looks(ann, me) == {of(ann, "likes", "tea")}
    assert looks(ann, me, as_of=fading["created_at"]) == set()
    ann.get(ENTITY, porto["id"]).refused(404, "not_found")
    assert own_entities(ann, kind="place") == []


def test_a_moved_memory_takes_its_edges_to_the_new_space(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()
    memory = ann.adds("I like tea", agent_id=agent["id"], visibility="private")
    me = person_of(ann)
    assert looks(bob, me) == set()
    ann.post("/memories/{}/move", memory["id"], body={"visibility": "public"}).expect(201)
    assert looks(bob, me) == looks(ann, me) == {of(ann, "likes", "tea")}
    space = {"kind": "agent_public", "id": agent["id"]}
    (tea,) = ann.get(ENTITY, me).expect(200)["entities"]
    assert (tea["name"], tea["space"]) == ("tea", space)
    assert tea in bob.lists("/graph/entities", kind="thing")


def test_a_stranger_walks_over_nothing(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    bob = a_person(ann, "Bob Stone")
    says(ann, "Bob is my brother", bob, "me", sensitivity="personal")
    says(ann, "Bob lives in Porto", bob, sensitivity="personal")
    me = person_of(ann)
    (porto,) = own_entities(ann, kind="place")
    hidden = (me, bob, porto["id"])
    for entity_id in hidden:
        unknown = eve.get(ENTITY, new_id()).refused(404, "not_found")
        told = eve.get(ENTITY, entity_id).refused(404, "not_found")
        assert told == {**unknown, "id": entity_id}
    assert not [one for one in eve.lists("/graph/entities") if one["id"] in hidden]
    assert path_of(eve, me, porto["id"]) == []
    assert path_of(ann, me, porto["id"]) == ["brother", "lives_in"]


def test_an_unseen_edge_neither_counts_nor_leads_on(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()["id"]
    kim, lee = a_person(ann, "Kim Park"), a_person(ann, "Lee Moss")
    ann.adds("Kim is Lee's boss", agent_id=agent, visibility="private", subjects=[kim, lee])
    for name in ("tea", "jam", "rye"):
        content = f"Lee likes {name}"
        ann.adds(content, agent_id=agent, visibility="private", subjects=[lee])
    ann.adds("Lee likes oats", agent_id=agent, visibility="public", subjects=[lee])
    ann.adds("Kim likes nuts", agent_id=agent, visibility="public", subjects=[kim])
    view = bob.get(ENTITY, lee, hops=2, limit=1).expect(200)
    assert facts(view) == {("Lee Moss", "likes", "oats")}
    assert view["truncated"] is False
    assert looks(bob, kim, hops=2) == {("Kim Park", "likes", "nuts")}
    assert len(looks(ann, kim, hops=2)) == 6
    assert ann.get(ENTITY, lee, limit=4).expect(200)["truncated"] is True
    assert path_of(bob, kim, lee) == []
    assert path_of(ann, kim, lee) == ["boss"]


def test_a_path_takes_the_shortest_permitted_way(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()["id"]
    people = [a_person(ann, f"{name} Doe") for name in ("Abe", "Bea", "Cyd", "Dan", "Eli")]
    names = ("Abe", "Bea", "Cyd", "Dan", "Eli")
    for place in range(4):
        content = f"{names[place]} is {names[place + 1]}'s friend"
        ends = people[place : place + 2]
        ann.adds(content, agent_id=agent, visibility="public", subjects=ends)
    short = [people[0], people[4]]
    ann.adds("Abe is Eli's boss", agent_id=agent, visibility="private", subjects=short)
    assert path_of(ann, *short, max_hops=4) == ["boss"]
    assert path_of(bob, *short, max_hops=4) == ["friend"] * 4
    assert path_of(bob, *short) == []
    assert path_of(bob, *reversed(short), max_hops=4) == ["friend"] * 4
    assert path_of(bob, people[0], people[0]) == []


def test_a_group_hears_no_personal_edge(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = f"chat-{new_id()}"
    ann.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    ann.put("/chats/{}/participants/{}", chat, bob.name, body={"kind": "user"}).expect(200)
    me = person_of(ann)
    says(ann, "I live in Porto", sensitivity="sensitive")
    says(ann, "I like tea")
    assert looks(ann, me) == {of(ann, "lives_in", "Porto"), of(ann, "likes", "tea")}
    assert looks(ann, me, chat_id=chat) == {of(ann, "likes", "tea")}
    assert looks(bob, me, chat_id=chat) == {of(ann, "likes", "tea")}
    eve = callers.person("eve")
    eve.get(ENTITY, me, chat_id=chat).refused(404, "not_found")


def test_entities_are_found_by_a_part_of_their_name(callers: Callers) -> None:
    ann = callers.person("ann")
    says(ann, "I live in The Hague")
    says(ann, "I work at Hagen Steel")
    says(ann, "I like tea")

    def names(**query: Any) -> list[str]:
        return [one["name"] for one in own_entities(ann, **query)]

    assert names(limit=1) == names() == ["tea", "Hagen Steel", "The Hague"]
    assert names(query="HAG") == ["Hagen Steel", "The Hague"]
    assert names(query="hag", kind="place") == ["The Hague"]
    assert names(query="%") == names(query="nobody") == []
    named = ann.lists("/graph/entities", query=ann.name.upper(), kind="person")
    assert person_of(ann) in [one["id"] for one in named]
    assert all(ann.name in one["name"] for one in named)


def test_a_name_that_the_reader_may_not_know_is_not_shown(callers: Callers) -> None:
    ann, eve = callers.person("ann", orgs=("acme",)), callers.person("eve", orgs=("umbrella",))
    agent = ann.registers()["id"]
    kim = a_person(ann, "Kim Park")
    ann.adds("Kim likes tea", agent_id=agent, visibility="public", subjects=[kim])
    assert looks(ann, kim) == {("Kim Park", "likes", "tea")}
    assert looks(eve, kim) == {(None, "likes", "tea")}
    assert kim in [one["id"] for one in ann.lists("/graph/entities", query="kim")]
    assert kim not in [one["id"] for one in eve.lists("/graph/entities")]
    assert agent in [one["space"]["id"] for one in eve.lists("/graph/entities", kind="thing")]


def test_merged_people_share_their_edges(callers: Callers) -> None:
    ann = callers.person("ann")
    kim, lee = a_person(ann, "Kim Park"), a_person(ann, "Lee Moss")
    says(ann, "Kim likes tea", kim)
    says(ann, "Lee likes jam", lee)
    says(ann, "Kim is Lee's boss", kim, lee)
    merge = {"primary_id": kim, "secondary_id": lee}
    ann.post("/people/merge", body=merge).expect(200)
    both = {("Kim Park", "likes", "tea"), ("Kim Park", "likes", "jam")}
    assert looks(ann, kim) == looks(ann, lee) == both
    ann.post("/people/{}/unmerge", kim, body={"secondary_id": lee}).expect(200)
    assert looks(ann, lee) == {("Lee Moss", "likes", "jam"), ("Kim Park", "boss", "Lee Moss")}


def test_a_search_finds_who_is_next_to_whom_it_names(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()["id"]
    kim, lee = a_person(ann, "Kim Park"), a_person(ann, "Lee Moss")
    private = {"agent_id": agent, "visibility": "private"}
    public = {"agent_id": agent, "visibility": "public"}
    ann.adds("Lee is Kim's boss", **private, subjects=[lee, kim])
    launch = ann.adds("The launch is on March 15", **public, subjects=[lee])

    def stages(caller: Caller) -> dict[str, list[str]]:
        hits = caller.finds("launch of Kim Park", agent_id=agent)
        return {hit["id"]: hit["stages"] for hit in hits}

    assert "graph" in stages(ann)[launch["id"]]
    assert "graph" not in stages(bob)[launch["id"]]


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/graph/entities/x", {"hops": 3}, "hops"),
        ("/graph/entities/x", {"hops": 0}, "hops"),
        ("/graph/entities/x", {"limit": 1001}, "limit"),
        ("/graph/entities/x", {"as_of": "yesterday"}, "as_of"),
        ("/graph/entities", {"kind": "animal"}, "kind"),
        ("/graph/entities", {"chat_id": "c"}, "chat_id"),
        ("/graph/path", {"from": "a", "to": "b", "max_hops": 5}, "max_hops"),
        ("/graph/path", {"from": "a"}, "to"),
        ("/graph/path", {"to": "a"}, "from"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(
    callers: Callers, path: str, query: dict[str, Any], field: str
) -> None:
    details = callers.person("ann").get(path, **query).refused(422, "validation_error")
    assert [one["field"] for one in details["violations"]] == [field]


def test_a_cursor_of_nobody_is_refused(callers: Callers) -> None:
    callers.person("ann").get("/graph/entities", after="x").refused(422, "validation_error")
