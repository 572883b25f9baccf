"""Memories on two nodes: what one was told the other one shows, hides and tells of at once."""

from typing import Any

from tests.nodes.pair import Pair
from tests.support.events import settle as settle_events
from tests.support.memory.callers import Caller
from tests.support.memory.disclosure import OWN, a_chat
from tests.support.memory.people import knows, merges, resolve_name
from tests.support.memory.search import an_agent, contents
from tests.support.streams import following
from tests.support.world import at_once, new_id


def found(caller: Caller, query: str, **where: Any) -> list[str]:
    """What a search shows, in one's own space unless `where` tells another place."""
    return contents(caller.finds(query, **(where or {"spaces": [OWN["space"]]})))


def test_a_memory_is_found_changed_and_forgotten_on_both_nodes(pair: Pair) -> None:
    ann = pair.callers.person("ann")
    ann_there = pair.caller_there(ann)
    ann.adds("The harbour opens at nine.", **OWN)
    pair.settle()
    assert found(ann_there, "harbour") == ["The harbour opens at nine."]
    second = ann.adds("The harbour has a crane.", **OWN)
    pair.settle()
    assert len(found(ann_there, "harbour")) == 2
    changed = {"content": "The quarry has a crane."}
    ann.patch("/memories/{}", second["id"], body=changed).expect(200)
    pair.settle()
    assert found(ann_there, "quarry") == ["The quarry has a crane."]
    assert found(ann_there, "harbour") == ["The harbour opens at nine."]
    ann.delete("/memories/{}", second["id"]).expect(204)
    assert found(ann_there, "quarry") == []


def test_an_agent_handed_over_on_one_node_is_the_new_owners_on_the_other(pair: Pair) -> None:
    ann, bob = pair.callers.person("ann"), pair.callers.person("bob")
    agent = an_agent(ann)
    ann.adds("The harbour master is Kim.", agent_id=agent, visibility="private")
    ann_there, bob_there = pair.caller_there(ann), pair.caller_there(bob)
    assert found(ann_there, "harbour", agent_id=agent)
    assert found(bob_there, "harbour", agent_id=agent) == []
    ann.put("/agents/{}/owner", agent, body={"owner_id": bob.name}).expect(200)
    assert found(ann_there, "harbour", agent_id=agent) == []
    assert found(bob_there, "harbour", agent_id=agent) == ["The harbour master is Kim."]


def test_the_mode_of_an_agents_spaces_holds_on_both_nodes_from_its_change_on(pair: Pair) -> None:
    ann = pair.callers.person("ann")
    agent = an_agent(ann)
    there = pair.caller_there(ann)
    assert there.adds("The harbour is old.", agent_id=agent)["space"]["kind"] == "agent_public"
    ann.patch("/agents/{}", agent, body={"space_mode": "single"}).expect(200)
    assert there.adds("The harbour is deep.", agent_id=agent)["space"]["kind"] == "agent"


def test_who_left_a_chat_on_one_node_is_told_nothing_of_it_on_the_other(pair: Pair) -> None:
    ann, bob = pair.callers.person("ann"), pair.callers.person("bob")
    chat = a_chat(ann, bob)
    ann.adds("The harbour party is on Friday.", space={"kind": "chat", "id": chat})
    bob_there = pair.caller_there(bob)
    assert found(bob_there, "harbour", chat_id=chat)
    ann.delete("/chats/{}/participants/{}", chat, bob.name).expect(204)
    bob_there.post("/memories/search", body={"query": "harbour", "chat_id": chat}).expect(404)


def test_people_merged_on_one_node_are_one_on_the_other(pair: Pair) -> None:
    ann = pair.callers.person("ann")
    first, second = knows(ann, "Maxima Harbour"), knows(ann, "Maxima H.")
    there = pair.caller_there(ann)
    assert resolve_name(there, "Maxima H.") == second["id"]
    merges(ann, first, second)
    assert resolve_name(there, "Maxima H.") == first["id"]


def test_one_idempotency_key_makes_one_memory_whichever_node_is_asked(pair: Pair) -> None:
    ann = pair.callers.person("ann")
    there = pair.caller_there(ann)
    body, headers = {"content": "The harbour has two piers."} | OWN, {"Idempotency-Key": new_id()}
    asked = [
        lambda caller=caller: caller.call("POST", "/memories", body=body, headers=headers)
        for caller in (ann, there, ann, there)
    ]
    made = {reply.body["memory"]["id"] for reply in at_once(asked) if reply.status == 201}
    assert len(made) == 1
    again = there.call("POST", "/memories", body=body, headers=headers).expect(201)
    assert {again["memory"]["id"]} == made
    assert found(ann, "harbour") == ["The harbour has two piers."]


def test_a_stream_of_one_node_tells_what_happens_on_the_other(pair: Pair) -> None:
    ann = pair.callers.person("ann")
    settle_events(pair.first.database)
    with following(pair.caller_there(ann)) as stream:
        assert stream.block().event is None
        agent = an_agent(ann)
        memory = ann.adds("The harbour is open.", agent_id=agent)
        pair.caller_there(ann).delete("/memories/{}", memory["id"]).expect(204)
        is_shown = [block.type for block in stream.events(3)]
    assert is_shown == ["agent.register", "memory.write", "memory.delete"]


def test_a_stream_tells_no_more_of_an_agent_that_was_handed_over_on_the_other_node(
    pair: Pair,
) -> None:
    ann, bob = pair.callers.person("ann"), pair.callers.person("bob")
    agent, own = an_agent(ann), an_agent(ann)
    settle_events(pair.first.database)
    with following(pair.caller_there(ann)) as stream:
        assert stream.block().event is None
        ann.put("/agents/{}/owner", agent, body={"owner_id": bob.name}).expect(200)
        bob.adds("Not for ann.", agent_id=agent, visibility="private")
        ann.adds("For ann.", agent_id=own)
        (block,) = stream.events(1)
    assert (block.type, block.event["agent_slug"]) == ("memory.write", own)


def test_a_stream_that_breaks_goes_on_at_the_other_node(pair: Pair) -> None:
    ann = pair.callers.person("ann")
    settle_events(pair.first.database)
    with following(ann) as stream:
        assert stream.block().event is None
        first = an_agent(ann)
        (block,) = stream.events(1)
    second = an_agent(ann)
    with following(pair.caller_there(ann), last_id=block.id) as stream:
        (resumed,) = stream.events(1)
    assert block.event["agent_slug"] == first
    assert resumed.event["agent_slug"] == second
