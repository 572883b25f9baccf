"""Two worlds that differ in what is hidden from strangers.

In both, Olga and Pavel of one org are known by name and Olga has an agent and a memory of the org:
that much a colleague may know. In one of them they also have secrets of every kind.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.hostile.memory_probes import KEY, SAID, SENT_UNDER_KEY, SHARED
from tests.retention.test_quarantine import ORDER, sets_aside
from tests.support.engines import TestDatabase
from tests.support.hosting import a_world
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.world import World, new_id

Ids = Mapping[str, Sequence[str]]

ACME, BETA = "acme", "beta"
OLGA, PAVEL, AGENT = "olga", "pavel", "keeper"
HUSHED = "Quentin Hushed"
SECRETS = (
    "memory",
    "chat",
    "entry",
    "run",
    "approval",
    "rollback",
    "erasure",
    "entity",
    "alias",
    "claim",
)
MINE: dict[str, Any] = {"space": {"kind": "user"}}


@dataclass(frozen=True, slots=True)
class Scene:
    """A server, and the ids of other people's things in it."""

    callers: Callers
    ids: Ids
    strangers: Mapping[str, "Stranger"]


@dataclass(frozen=True, slots=True)
class Stranger:
    """Who asks, and the ids of their own things."""

    caller: Caller
    ids: Ids


@contextmanager
def a_scene(database: TestDatabase, *, secrets: bool) -> Iterator[Scene]:
    """A world with or without secrets."""
    with a_world(database, {"jobs.embedded_worker": False}) as world:
        callers = Callers(world)
        # Scores know how old a memory is. So time moves in this world as in the other: not at all,
        # but for the seconds after which what was meant to expire has expired.
        with world.clock.hold():
            olga = _known(callers)
            ids = _known_things(olga)
            ids |= _secrets(callers, olga, ids) if secrets else {}
            world.clock.advance(seconds=2)
            yield Scene(callers, ids, _strangers(callers))


def unknown(ids: Ids) -> dict[str, Sequence[str]]:
    """As many ids that nobody has."""
    return {name: [new_id() for _ in of] for name, of in ids.items()}


def a_colleague(world: World, name: str, *orgs: str) -> Caller:
    """A user of this very name, whose token names orgs."""
    return Callers(world)._with_claims(world.named(name), orgs=list(orgs))


def _strangers(callers: Callers) -> dict[str, Stranger]:
    """They have a few things, too: the same in every world."""
    askers = {
        "colleague": a_colleague(callers.world, "sam", ACME),
        "outsider": a_colleague(callers.world, "bea", BETA),
        "unregistered": callers.agent("ghost"),
    }
    return {name: Stranger(caller, _own_things(caller)) for name, caller in askers.items()}


def _known(callers: Callers) -> Caller:
    olga, pavel = (a_colleague(callers.world, name, ACME) for name in (OLGA, PAVEL))
    for one in (olga, pavel):
        person_of(one)
    return olga


def _known_things(olga: Caller) -> dict[str, Sequence[str]]:
    olga.registers(id=AGENT)
    person = olga.post("/people", body={"name": HUSHED}).expect(201)
    shared = olga.adds("Lunch is at noon", agent_id=AGENT, scope="org")
    return {
        "agent": [AGENT],
        "user": [OLGA],
        "person": [person["id"], person_of(olga)],
        "org_memory": [shared["id"]],
    }


def _secrets(callers: Callers, olga: Caller, known: Ids) -> dict[str, Sequence[str]]:
    person_id = known["person"][0]
    alias = olga.post("/people/{}/aliases", person_id, body={"value": f"Boss {SAID}"}).expect(201)
    claim = olga.post(
        "/people/{}/relationships", person_id, body={"relationship": f"{SAID} friend"}
    ).expect(201)
    chats = [_chat(olga, kind) for kind in ("group", "private")]
    olga.put("/chats/{}/participants/{}", chats[0], PAVEL, body={"kind": "user"}).expect(200)
    talk = olga.user.starts(f"{SAID} talk")
    entry = olga.user.says(talk, f"We spoke of {SAID}")
    _under_a_key(olga)
    run = olga.post("/runs", body={"agent_id": AGENT, "metadata": {"a": SAID}}).expect(201)
    memories, approval = _memories(callers, olga, person_id, chats[0], run["id"])
    (edge,) = olga.get("/graph/entities/{}", person_of(olga)).expect(200)["relations"]
    return {
        "alias": [alias["value"]],
        "claim": [claim["id"]],
        "chat": [*chats, talk["id"]],
        "entry": [entry["id"]],
        "run": [run["id"]],
        "entity": [edge["to_id"]],
        "memory": memories,
        "approval": [approval],
        "rollback": [_rolled_back(olga)],
        "erasure": [_erased(a_colleague(callers.world, f"zoe-{SAID}", ACME))],
    }


def _under_a_key(olga: Caller) -> None:
    """A kept answer, to what anybody may ask too."""
    body = SENT_UNDER_KEY["createMemory"]
    olga.call("POST", "/memories", body=body, headers={"Idempotency-Key": KEY}).expect(201)


def _chat(olga: Caller, kind: str) -> str:
    chat_id = new_id()
    body = {"kind": kind, "title": f"{SAID} room"}
    olga.put("/chats/{}", chat_id, body=body).expect(201)
    return chat_id


def _memories(
    callers: Callers, olga: Caller, person_id: str, chat_id: str, run_id: str
) -> tuple[list[str], str]:
    """One of each state and space; and a request for a longer life."""
    about: dict[str, Any] = MINE | {"subjects": [person_id]}
    private: dict[str, Any] = {"agent_id": AGENT, "visibility": "private"}
    home = olga.adds(f"I live in {SAID.title()}", tags=[SAID], **MINE)
    old = olga.adds(f"The {SHARED} is {SAID} red", **private)
    brief = olga.adds(f"{SAID} {SHARED} now", ttl_seconds=1, **MINE)
    written = [
        home,
        old,
        brief,
        olga.adds(f"{SAID} {SHARED} is sick", sensitivity="sensitive", **about),
        olga.adds(f"{SAID} {SHARED} is shy", sensitivity="personal", **about),
        olga.adds(f"{SAID} {SHARED} in the room", space={"kind": "chat", "id": chat_id}),
        olga.adds(f"{SAID} {SHARED} told here", chat_id=chat_id, portable=False, **MINE),
        olga.adds(f"The {SHARED} is {SAID} blue", supersedes=[old["id"]], **private),
        olga.adds(f"{SAID} {SHARED}", agent_id=AGENT, scope="session", run_id=run_id),
        sets_aside(olga, f"{ORDER} {SAID} {SHARED}"),
    ]
    tax = {"key": SAID, "value": {"ssn": "536-22-1234", SHARED: SAID}} | MINE
    record = olga.post("/memories", body=tax).expect(201)["memory"]
    wish = {"ttl_seconds": 40 * 86_400}
    approval = olga.patch("/memories/{}", record["id"], body=wish).expect(202)["approval_id"]
    return [one["id"] for one in (*written, record)], approval


def _rolled_back(olga: Caller) -> str:
    poisoned = olga.adds(f"{SAID} {SHARED} was poisoned", **MINE)
    body = {"source": {"memory_id": poisoned["id"]}, "dry_run": False}
    done: dict[str, Any] = olga.post("/rollbacks", body=body).expect(200)
    return str(done["id"])


def _erased(zoe: Caller) -> str:
    """Somebody who is on the way out."""
    zoe.adds(f"{SAID} {SHARED}", subjects=["me"], **MINE)
    body = {"user_id": zoe.name, "dry_run": False}
    accepted: dict[str, Any] = zoe.post("/erasures", body=body).expect(202)
    return str(accepted["id"])


def _own_things(caller: Caller) -> dict[str, Sequence[str]]:
    """What an unregistered agent can't have, it names all the same."""
    name = caller.name.removeprefix("agent:")
    own: dict[str, Sequence[str]] = {"me": [name], "import": [new_id()]}
    rest = ("my_memory", "my_agent", "my_chat", "my_private_chat", "my_person")
    if caller.name != name:
        return own | {kind: [new_id()] for kind in rest}
    agent = caller.registers(id=f"{name}-bot")
    chats = [f"{name} room", f"{name} alone"]
    for chat_id, kind in zip(chats, ("group", "private"), strict=True):
        caller.put("/chats/{}", chat_id, body={"kind": kind}).expect(201)
    # A victim who never agreed to be there.
    for victim in (OLGA, PAVEL):
        body = {"kind": "user"}
        caller.put("/chats/{}/participants/{}", chats[0], victim, body=body).expect(200)
    caller.adds(f"The {SHARED} of my agent", agent_id=agent["id"])
    memory = caller.adds(f"My {SHARED} is green", **MINE)
    caller.adds("My cup is grey", **MINE)
    made = ([memory["id"]], [agent["id"]], chats[:1], chats[1:], [person_of(caller)])
    return own | dict(zip(rest, made, strict=True))
