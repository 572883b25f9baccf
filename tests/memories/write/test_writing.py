"""Writing memories: where they go, who may, what becomes of them."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.conftest import Host
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of

pytestmark = pytest.mark.surfaces("grpc")


def lives(memory: dict[str, Any]) -> timedelta:
    """How long a memory lasts from its creation."""
    begin, end = memory["created_at"], memory["expires_at"]
    return datetime.fromisoformat(end) - datetime.fromisoformat(begin)


def violation(details: dict[str, Any]) -> dict[str, Any]:
    """The only one."""
    (only,) = details["violations"]
    found: dict[str, Any] = only
    return found


def writes(caller: Caller, agent_id: str) -> list[dict[str, Any]]:
    """What the asker sees in the spaces of an agent."""
    return caller.lists("/memories", agent_id=agent_id)


@pytest.mark.scenario(1)
def test_a_private_memory_is_found_by_its_owner_alone(callers: Callers) -> None:
    owner, other = callers.person("o"), callers.person("u")
    agent = owner.registers()["id"]
    memory = owner.adds("The vault is below the stairs", agent_id=agent, visibility="private")
    assert memory["group_id"] == f"agent-{agent}-private"
    assert [hit["id"] for hit in owner.finds("vault", agent_id=agent)] == [memory["id"]]
    assert other.finds("vault", agent_id=agent) == []
    other.get("/memories/{}", memory["id"]).refused(404, "not_found")


@pytest.mark.scenario(3)
def test_a_text_is_public_and_a_record_private_by_default(callers: Callers) -> None:
    owner, other = callers.person("o"), callers.person("u")
    agent = owner.registers()["id"]
    text = owner.adds("The museum closes on Mondays", agent_id=agent)
    body = {"key": "museum_hours", "value": {"monday": "closed"}, "agent_id": agent}
    record = owner.post("/memories", body=body).expect(201)["memory"]
    assert text["group_id"] == f"agent-{agent}-public"
    assert record["group_id"] == f"agent-{agent}-private"
    assert record["content"] == "museum_hours monday closed"
    assert [hit["id"] for hit in other.finds("museum monday", agent_id=agent)] == [text["id"]]


@pytest.mark.scenario(4)
@pytest.mark.parametrize("visibility", ["private", "public"])
def test_a_stranger_writes_nothing_and_is_written_down(callers: Callers, visibility: str) -> None:
    owner, other = callers.person("o"), callers.person("u")
    agent = owner.registers()["id"]
    body = {"content": "mine now", "agent_id": agent, "visibility": visibility}
    other.post("/memories", body=body).refused(403, "not_owner")
    assert writes(owner, agent) == []
    (event,) = callers.auditor.lists("/events", event_type="memory.denied", agent_id=agent)
    assert event["requester_id"] == other.name
    assert event["payload"] == {"operation": "createMemory", "code": "not_owner"}


@pytest.mark.scenario(10)
def test_in_single_mode_anyone_reads_and_only_the_owner_writes(callers: Callers) -> None:
    owner, other = callers.person("o"), callers.person("u")
    agent = owner.registers(space_mode="single")["id"]
    memory = owner.adds("The bridge is open", agent_id=agent)
    assert memory["group_id"] == f"agent-{agent}"
    assert [hit["group_id"] for hit in other.finds("bridge", agent_id=agent)] == [f"agent-{agent}"]
    other.post("/memories", body={"content": "x", "agent_id": agent}).refused(403, "not_owner")
    other.delete("/memories/{}", memory["id"]).refused(403, "not_owner")
    assert len(writes(owner, agent)) == 1


@pytest.mark.scenario(11)
def test_nothing_is_published_because_private_was_not_to_be_had(callers: Callers) -> None:
    owner = callers.person("o")
    agent = owner.registers(space_mode="single")["id"]
    private = {"content": "hush", "agent_id": agent, "visibility": "private"}
    details = owner.post("/memories", body=private).refused(422, "private_unavailable")
    assert details["field"] == "visibility"
    record = {"key": "k", "value": {}, "agent_id": agent}
    details = owner.post("/memories", body=record).refused(422, "private_unavailable")
    assert 'visibility: "public"' in details["message"]
    assert writes(owner, agent) == []
    owner.post("/memories", body=record | {"visibility": "public"}).expect(201)


@pytest.mark.scenario(11)
@pytest.mark.parametrize("mode", ["single", "dual"])
def test_a_misspelt_visibility_publishes_nothing(callers: Callers, mode: str) -> None:
    owner = callers.person("o")
    agent = owner.registers(space_mode=mode)["id"]
    body = {"content": "hush", "agent_id": agent, "visibilty": "private"}
    wrong = violation(owner.post("/memories", body=body).refused(422, "validation_error"))
    assert wrong["field"] == "visibilty"
    assert "visibility" in wrong["message"]
    assert writes(owner, agent) == []


@pytest.mark.scenario(12)
def test_a_switch_of_the_mode_moves_no_row(host: Host) -> None:
    with host() as world:
        callers = Callers(world)
        owner, other = callers.person("o"), callers.person("u")
        agent = owner.registers()["id"]
        old = owner.adds("The key lies under the mat", agent_id=agent, visibility="private")
        names = owner.name, other.name
    with host(world.database, spaces__mode="single") as world:
        owner, other = (Caller(world.named(name), world) for name in names)
        assert [hit["id"] for hit in owner.finds("key mat", agent_id=agent)] == [old["id"]]
        assert other.finds("key mat", agent_id=agent) == []
        new = owner.adds("The door is green", agent_id=agent)
        assert new["group_id"] == f"agent-{agent}"
    with host(world.database) as world:
        owner, other = (Caller(world.named(name), world) for name in names)
        groups = {row["id"]: row["group_id"] for row in writes(owner, agent)}
        assert groups == {old["id"]: old["group_id"], new["id"]: new["group_id"]}
        assert [row["id"] for row in writes(other, agent)] == [new["id"]]


@pytest.mark.scenario(13)
def test_an_agent_that_owns_itself_writes_as_itself(callers: Callers) -> None:
    owner = callers.person("o")
    agent = owner.registers(owner_id=None)["id"]
    itself = callers.agent(agent)
    memory = itself.adds("I speak Portuguese", agent_id=agent)
    assert (memory["stated_by"], memory["trust"]) == (None, "unknown")
    assert memory["source_agent"] == agent
    body = {"content": "No, French", "agent_id": agent}
    for stranger in (owner, Caller(callers.world.named(agent), callers.world)):
        stranger.post("/memories", body=body).refused(403, "not_owner")
    owned = owner.registers()["id"]
    refused = callers.agent(owned).post("/memories", body=body | {"agent_id": owned})
    refused.refused(403, "not_owner")


def test_an_agent_that_acts_for_its_owner_writes_its_spaces(callers: Callers) -> None:
    agent = callers.person("o").registers()["id"]
    acting = callers.agent(agent, act_for="owner")
    memory = acting.adds("I keep the diary", agent_id=agent, visibility="private")
    assert acting.get("/memories/{}", memory["id"]).expect(200)["id"] == memory["id"]


def test_an_unknown_agent_is_not_found_before_anything_is_refused(callers: Callers) -> None:
    body = {"content": "the PIN is 4821", "agent_id": "nobody-here"}
    details = callers.person("o").post("/memories", body=body).refused(404, "not_found")
    assert details == {"resource": "agent", "id": "nobody-here"}


def test_an_unknown_agent_registers_itself_where_that_is_on(host: Host) -> None:
    with host(agents__auto_register=True) as world:
        callers = Callers(world)
        memory = callers.agent("newcomer").adds("Here I am", agent_id="newcomer")
        assert memory["group_id"] == "agent-newcomer-public"
        agent = callers.person("u").get("/agents/{}", "newcomer").expect(200)
        assert agent["owner_id"] == "agent:newcomer"
        body = {"content": "Mine", "agent_id": "another"}
        callers.person("u").post("/memories", body=body).refused(403, "not_owner")
        callers.person("u").get("/agents/{}", "another").refused(404, "not_found")


def test_a_user_writes_to_their_own_space_alone(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    memory = ann.adds("I like rain", space={"kind": "user"})
    assert memory["group_id"] == f"user-{ann.name}"
    assert (memory["visibility"], memory["agent_id"], memory["trust"]) == (None, None, "fact")
    assert memory["stated_by"] == person_of(ann)
    body = {"content": "I like sun", "space": {"kind": "user", "id": ann.name}}
    bob.post("/memories", body=body).refused(403, "not_owner")


def test_a_chat_is_written_by_those_who_take_part(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = callers.world.user("chat").name
    ann.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    memory = ann.adds("We meet at noon", space={"kind": "chat", "id": chat})
    assert (memory["learned_in"], memory["origin"]) == (chat, "chat")
    body = {"content": "No, at one", "space": {"kind": "chat", "id": chat}}
    bob.post("/memories", body=body).refused(404, "not_found")
    said = {"content": "No, at one", "space": {"kind": "user"}, "chat_id": chat}
    details = bob.post("/memories", body=said).refused(404, "not_found")
    assert details == {"resource": "chat", "id": chat}
    assert ann.post("/memories", body=said).expect(201)["memory"]["learned_in"] == chat


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"space": {"kind": "user"}, "visibility": "public"}, "visibility"),
        ({"space": {"kind": "user"}, "scope": "org"}, "scope"),
        ({"visibility": "public"}, "agent_id"),
        ({"agent_id": "a", "agent_slug": "b"}, "agent_slug"),
        ({"space": {"kind": "user"}, "id": "a", "memory_id": "b"}, "memory_id"),
        ({"space": {"kind": "user"}, "id": "no spaces"}, "id"),
        ({"space": {"kind": "user"}, "key": "k"}, "value"),
        ({"space": {"kind": "user"}, "messages": "twice"}, "content"),
        ({"space": {"kind": "user"}, "ttl_seconds": 0}, "ttl_seconds"),
        ({"space": {"kind": "user"}, "expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"space": {"kind": "user"}, "time_zone": "Mars/Base"}, "time_zone"),
        ({"space": {"kind": "user"}, "on_conflict": "refuse"}, "on_conflict"),
        ({"space": {"kind": "user"}, "pii_tags": ["shoe_size"]}, "pii_tags[0]"),
        ({"space": {"kind": "user"}, "sensitivity": "secret"}, "sensitivity"),
        ({"space": {"kind": "user"}, "observed_at": "2999-01-01T00:00:00Z"}, "observed_at"),
        (
            {"space": {"kind": "user"}, "valid_from": "2026-02-01", "valid_until": "2026-01-01"},
            "valid_until",
        ),
    ],
)
def test_what_is_wrong_is_named_and_stores_nothing(
    callers: Callers, members: dict[str, Any], field: str
) -> None:
    ann = callers.person("ann")
    reply = ann.post("/memories", body={"content": "words that nobody keeps"} | members)
    assert violation(reply.refused(422, "validation_error"))["field"] == field
    assert ann.lists("/memories", spaces="user") == []


def test_messages_are_kept_as_lines_and_a_malformed_one_is_named(callers: Callers) -> None:
    ann = callers.person("ann")
    items = [{"role": "user", "content": "Book a\ntable"}, {"role": "assistant", "content": "Done"}]
    body = {"messages": items, "space": {"kind": "user"}}
    result = ann.post("/memories", body=body).expect(201)
    assert result["status"] == "created"
    assert result["memory"]["content"] == "user: Book a table\nassistant: Done"
    broken = body | {"messages": [*items, {"role": "pilot", "content": "x"}]}
    wrong = violation(ann.post("/memories", body=broken).refused(422, "validation_error"))
    assert wrong["field"] == "messages[2].role"


@pytest.mark.scenario(22)
def test_an_explicit_term_wins_over_decay_by_type(callers: Callers) -> None:
    ann = callers.person("ann")
    mine: dict[str, Any] = {"space": {"kind": "user"}}
    said = ann.adds("Remember for 2 weeks that the bridge is closed", **mine)
    assert lives(said) == timedelta(days=14)
    assert (said["expiry_rule"], said["content"]) == (
        "explicit",
        "Remember that the bridge is closed",
    )
    long = ann.adds("It drizzles", type="observation", ttl_seconds=30 * 86_400, **mine)
    assert lives(long) == timedelta(days=30)
    short = ann.adds("It pours", type="observation", **mine)
    assert (lives(short), short["expiry_rule"]) == (timedelta(days=3), "type:observation")
    preference = ann.adds("I prefer tea", type="preference", **mine)
    assert (preference["expires_at"], preference["expiry_rule"]) == (None, "never")


@pytest.mark.scenario(24)
def test_records_expire_by_the_scope_of_their_space(callers: Callers) -> None:
    owner = callers.person("o")
    agent = owner.registers()["id"]
    run = {"scope": "session", "run_id": callers.world.user("run").name}
    found = {}
    for place in (run, {"scope": "long_term"}, {"scope": "org"}):
        body = {"key": "k", "value": {"a": 1}, "agent_id": agent} | place
        memory = owner.post("/memories", body=body).expect(201)["memory"]
        found[memory["expiry_rule"]] = lives(memory)
    assert found == {
        "scope:session": timedelta(hours=1),
        "scope:long_term": timedelta(days=30),
        "scope:org": timedelta(days=90),
    }


@pytest.mark.scenario(25)
@pytest.mark.parametrize("run", [{}, {"run_id": None}, {"run_id": ""}])
def test_a_session_needs_a_run(callers: Callers, run: dict[str, Any]) -> None:
    owner = callers.person("o")
    agent = owner.registers()["id"]
    body = {"key": "k", "value": {}, "agent_id": agent, "scope": "session"} | run
    wrong = violation(owner.post("/memories", body=body).refused(422, "validation_error"))
    assert wrong["field"] == "run_id"


def test_a_run_takes_writes_of_its_own_agent_until_it_is_completed(callers: Callers) -> None:
    owner = callers.person("o")
    agent, other = owner.registers()["id"], owner.registers()["id"]
    run = callers.world.user("run").name
    body = {"content": "step one", "agent_id": agent, "scope": "session", "run_id": run}
    memory = owner.post("/memories", body=body).expect(201)["memory"]
    assert (memory["group_id"], memory["run_id"]) == (f"run-{run}", run)
    owner.post("/memories", body=body | {"agent_id": other}).refused(403, "not_owner")
    owner.post("/runs/{}/complete", run, body={"status": "succeeded"}).expect(200)
    late = owner.post("/memories", body=body | {"content": "step two"}).refused(409, "conflict")
    assert late["reason"] == "run_completed"


@pytest.mark.scenario(28)
def test_a_policy_must_be_one_of_the_scope(callers: Callers) -> None:
    owner = callers.person("o")
    agent = owner.registers()["id"]
    session = {"scope": "session", "run_id": callers.world.user("run").name}
    body = {"key": "k", "value": {}, "agent_id": agent, "retention_policy": "permanent"}
    details = owner.post("/memories", body=body | session).refused(422, "policy_scope")
    assert details["allowed"] == ["dev", "ephemeral"]
    unknown = body | {"retention_policy": "for-ever"}
    details = owner.post("/memories", body=unknown).refused(422, "policy_scope")
    assert details["allowed"] == ["dev", "production", "compliance", "permanent"]
    assert "for-ever" not in str(details)
    assert writes(owner, agent) == []


def test_a_sent_id_is_kept_and_taken_once(callers: Callers) -> None:
    ann = callers.person("ann")
    memory_id = callers.world.user("note").name
    mine: dict[str, Any] = {"id": memory_id, "space": {"kind": "user"}}
    assert ann.adds("One", **mine)["id"] == memory_id
    details = ann.post("/memories", body={"content": "Two"} | mine).refused(409, "conflict")
    assert details["reason"] == "duplicate_id"


def test_only_oneself_is_named_as_stater(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    mine: dict[str, Any] = {"content": "Rain is coming", "space": {"kind": "user"}}
    ann.post("/memories", body=mine | {"stated_by": person_of(bob)}).refused(403, "forbidden")
    own = ann.post("/memories", body=mine | {"stated_by": person_of(ann)}).expect(201)
    assert own["memory"]["stated_by"] == person_of(ann)


def test_only_entries_that_the_caller_can_read_are_sources(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    entry = ann.user.says(ann.user.starts(), "I moved to Lisbon")["id"]
    body = {"content": "Ann lives in Lisbon", "space": {"kind": "user"}, "source_entries": [entry]}
    assert ann.post("/memories", body=body).expect(201)["memory"]["source_entries"] == [entry]
    details = bob.post("/memories", body=body).refused(404, "not_found")
    assert details == {"resource": "entry", "id": entry}


def test_what_is_observed_now_has_the_instant_of_its_creation(callers: Callers) -> None:
    memory = callers.person("ann").adds("Now", space={"kind": "user"})
    assert memory["observed_at"] == memory["created_at"]
