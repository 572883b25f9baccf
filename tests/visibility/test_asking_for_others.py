"""An agent asks for somebody else: only for who takes part by their own doing, in a common org."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Host
from tests.support.api import Reply
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.world import new_id

pytestmark = [pytest.mark.surfaces("grpc"), pytest.mark.amendment(4)]

SECRET, PLAIN = "bob keeps a diary", "the office opens at nine"


def a_chat(owner: Caller, *others: Caller, kind: str = "group") -> str:
    """A chat; those whom the owner brings in are only invited."""
    chat_id = new_id()
    owner.put("/chats/{}", chat_id, body={"kind": kind}).expect(201)
    for other in others:
        invites(owner, chat_id, other)
    return chat_id


def invites(owner: Caller, chat_id: str, other: Caller, **members: Any) -> Reply:
    body = {"kind": "agent" if other.name.startswith("agent:") else "user"} | members
    name = other.name.removeprefix("agent:")
    reply = owner.put("/chats/{}/participants/{}", chat_id, name, body=body)
    reply.expect(200)
    return reply


def joins(who: Caller, chat_id: str) -> None:
    """Who puts themself in, or was invited and does it again, takes part by their own doing."""
    invites(who, chat_id, who)


def an_agent(callers: Callers, owner: Caller, *orgs: str) -> Caller:
    org = {"org_id": orgs[0]} if orgs else {}
    return callers.agent(owner.registers(**org)["id"])


def tells(bob: Caller) -> str:
    """A memory that only bob may see, and in private chats alone: an agent has it through bob."""
    his = {"space": {"kind": "user"}, "subjects": [person_of(bob)], "sensitivity": "sensitive"}
    return str(bob.adds(SECRET, **his)["id"])


def asks(agent: Caller, memory_id: str, chat_id: str, asker: str | None) -> Iterator[Reply]:
    """Every read that takes an asker, and with the partner of a chat every read of a chat."""
    about: dict[str, Any] = {"chat_id": chat_id} | ({} if asker is None else {"asker_id": asker})
    for query in ("diary", "", "office"):
        yield agent.post("/memories/search", body={"query": query} | about)
        yield agent.post("/memories/recall", body={"query": query} | about)
    yield agent.post("/memories/recall", body=about)
    yield agent.get("/memories", **about)
    yield agent.get("/memories", spaces="all", **about)
    yield agent.get("/export", **about)
    if asker is None:
        for path in ("/memories/{}", "/memories/{}/explain"):
            yield agent.get(path, memory_id, chat_id=chat_id)
            yield agent.get(path, new_id(), chat_id=chat_id)
        yield agent.get("/graph/entities/{}", new_id(), chat_id=chat_id)
        me = agent.lists("/chats/{}/participants", chat_id)
        for person_id in filter(None, (one["person_id"] for one in me)):
            yield agent.get("/people/{}/memories", person_id, chat_id=chat_id)


def are_refused(agent: Caller, memory_id: str, chat_id: str, asker: str | None = None) -> None:
    for reply in asks(agent, memory_id, chat_id, asker):
        reply.refused(403, "asker_not_allowed")


def shown(agent: Caller, chat_id: str, **query: Any) -> set[str]:
    return {one["content"] for one in agent.lists("/memories", chat_id=chat_id, **query)}


def test_an_agent_that_puts_a_victim_into_its_own_chat_reads_nothing(callers: Callers) -> None:
    eve, bob = callers.person("eve"), callers.person("bob")
    spy, secret = an_agent(callers, eve), tells(bob)
    for kind in ("private", "group"):
        chat = a_chat(spy, bob, kind=kind)
        are_refused(spy, secret, chat, bob.name)
        are_refused(spy, secret, chat, person_of(bob))
    alone = a_chat(spy, bob, kind="private")
    are_refused(spy, secret, alone)
    # Nobody but bob confirms it, and a read does not.
    body = {"kind": "user", "confirmed": True}
    spy.put("/chats/{}/participants/{}", alone, bob.name, body=body).refused(403, "forbidden")
    assert bob.get("/memories", chat_id=alone).expect(200)["data"] != []
    are_refused(spy, secret, alone)
    joins(bob, alone)
    assert SECRET in shown(spy, alone)
    # Who left and is brought in again is invited anew.
    bob.delete("/chats/{}/participants/{}", alone, bob.name).expect(204)
    invites(spy, alone, bob)
    are_refused(spy, secret, alone)


def test_in_local_mode_too(host: Host) -> None:
    with host(auth__mode="local", auth__roles={}) as world:
        callers = Callers(world)
        eve, bob = callers.named_by_header("eve"), callers.named_by_header("bob")
        spy, secret = callers.named_by_header(f"agent:{eve.registers()['id']}"), tells(bob)
        chat = a_chat(spy, bob, kind="private")
        are_refused(spy, secret, chat)
        # There everybody is believed, also who says that bob agreed.
        invites(spy, chat, bob, confirmed=True)
        assert SECRET in shown(spy, chat)


def test_an_agent_of_another_org_asks_for_nobody(callers: Callers) -> None:
    bob = callers.person("bob", orgs=("acme",))
    eve = callers.person("eve", orgs=("other",))
    spy, secret = an_agent(callers, eve, "other"), tells(bob)
    chat = a_chat(bob, spy)
    are_refused(spy, secret, chat, bob.name)
    alone = a_chat(bob, spy, kind="private")
    are_refused(spy, secret, alone)
    are_refused(spy, secret, alone, bob.name)
    own = an_agent(callers, bob, "acme")
    invites(bob, alone, own)
    assert SECRET in shown(own, alone)


def test_a_refusal_is_no_view_of_the_agents_own(callers: Callers) -> None:
    eve, bob = callers.person("eve"), callers.person("bob")
    helper = an_agent(callers, eve)
    eve.adds(PLAIN, agent_id=helper.name.removeprefix("agent:"))
    chat, alone = a_chat(eve, bob, helper), a_chat(helper, bob, kind="private")
    assert PLAIN in shown(helper, chat, agent_id=helper.name.removeprefix("agent:"))
    for chat_id, asker in ((chat, {"asker_id": bob.name}), (alone, {})):
        query = {"chat_id": chat_id, "agent_id": helper.name.removeprefix("agent:")} | asker
        helper.get("/memories", **query).refused(403, "asker_not_allowed")


def test_an_agent_that_names_nobody_in_a_group_asks_as_itself(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    helper = an_agent(callers, ann)
    his = {"space": {"kind": "user"}, "subjects": [person_of(bob)], "sensitivity": "personal"}
    bob.adds(SECRET, **his)
    chat = a_chat(ann, bob, helper)
    joins(bob, chat)
    assert SECRET not in shown(helper, chat)
    assert SECRET in shown(helper, chat, asker_id=bob.name)
    assert SECRET in shown(helper, chat, asker_id=person_of(bob))
    assert SECRET not in shown(helper, chat, asker_id=ann.name)


def test_in_a_tree_its_owner_and_who_wrote_are_asked_for(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    helper, secret = an_agent(callers, ann), tells(bob)
    his = {"space": {"kind": "user"}, "subjects": [person_of(bob)], "sensitivity": "personal"}
    bob.adds(PLAIN, **his)
    tree = ann.user.starts("Plans")["id"]
    ann.user.shares(tree, helper.user, "writer")
    ann.user.says(tree, "Hello.")
    helper.get("/memories", chat_id=tree).expect(200)
    ann.user.shares(tree, bob.user, "writer")
    are_refused(helper, secret, tree, bob.name)
    bob.user.says(tree, "Hi.")
    assert PLAIN in shown(helper, tree, asker_id=bob.name)
    assert PLAIN not in shown(helper, tree, asker_id=ann.name)


def test_whom_an_agent_asks_for_must_take_part(callers: Callers) -> None:
    ann, bob, cid = callers.person("ann"), callers.person("bob"), callers.person("cid")
    helper = an_agent(callers, ann)
    chat = a_chat(ann, bob, helper)
    joins(bob, chat)
    for who in (cid.name, helper.name, "nobody"):
        details = helper.get("/memories", chat_id=chat, asker_id=who)
        (fault,) = details.refused(422, "validation_error")["violations"]
        assert fault["field"] == "asker_id"
    bob.get("/memories", chat_id=chat, asker_id=ann.name).refused(403, "forbidden")
    helper.get("/memories", asker_id=bob.name, spaces="all").refused(422, "validation_error")
