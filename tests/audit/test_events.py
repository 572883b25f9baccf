"""What happened: for owners of their own spaces, for auditors of all, as a list and as a stream."""

from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest

from recollect.kernel.clock import from_text, to_text
from tests.conftest import Host
from tests.support.api import Credentials, headers_of
from tests.support.events import settle
from tests.support.job_queue import wait_until
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.disclosure import a_chat
from tests.support.memory.people import person_of
from tests.support.streams import following
from tests.support.world import a_token, at_once


def test_an_event_tells_who_did_what_and_holds_no_text_of_theirs(callers: Callers) -> None:
    ann = callers.person("ann")
    with callers.world.clock.hold():
        agent = ann.registers(name="Secret", description="hidden words", metadata={"deep": "x"})
    (event,) = ann.lists("/events", agent_id=agent["id"])
    assert event == {
        "id": event["id"],
        "event_type": "agent.register",
        "timestamp": agent["created_at"],
        "level": "info",
        "message": f"agent.register, agent {agent['id']}",
        "run_id": None,
        "agent_slug": agent["id"],
        "requester_id": ann.name,
        "outcome": "allowed",
        "payload": {"owner_id": ann.name, "org_id": "default"},
    }


def test_owners_read_of_their_own_agents_and_an_auditor_of_all(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    hers, his = ann.registers()["id"], bob.registers()["id"]
    assert slugs(ann) == [hers]
    assert slugs(bob) == [his]
    assert ann.lists("/events", agent_id=his) == []
    assert slugs(callers.agent(hers)) == []
    callers.person("eve").get("/events").expect(200)
    newest = callers.auditor.get("/events", event_type="agent.register", limit=2).expect(200)
    assert [event["agent_slug"] for event in newest["data"]] == [his, hers]


def test_events_follow_the_agent_to_its_new_owner(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent_id = ann.registers()["id"]
    ann.put("/agents/{}/owner", agent_id, body={"owner_id": bob.name}).expect(200)
    assert slugs(ann) == []
    assert [e["event_type"] for e in bob.lists("/events")] == ["agent.owner", "agent.register"]


def test_the_log_of_a_chat_tells_nobody_of_memories_that_they_may_not_read(
    callers: Callers,
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann, bob)
    place = {"space": {"kind": "chat", "id": chat_id}}
    about = {"subjects": [person_of(ann)], "sensitivity": "sensitive"}
    record = {"key": "salary", "value": {"amount": 1}} | place | about
    hidden = [
        ann.adds("Ann is in debt.", **place, **about)["id"],
        ann.post("/memories", body=record).expect(201)["id"],
    ]
    told = ann.adds("Ann sings.", **place, subjects=[person_of(ann)])["id"]
    of_bob = ann.adds("Bob is ill.", **place, **about | {"subjects": [person_of(bob)]})["id"]
    ann.get("/memories", spaces="all").expect(200)
    settle(callers.world.database)
    assert memory_ids(ann) >= {*hidden, told}
    assert memory_ids(bob) == {told, of_bob}
    for memory_id in hidden:
        assert bob.lists("/events", memory_id=memory_id) == []
        assert memory_id not in str(bob.lists("/events"))
    assert "salary" not in str(bob.lists("/events"))
    ann.delete("/memories/{}", hidden[0]).expect(204)
    settle(callers.world.database)
    assert hidden[0] not in str(bob.lists("/events"))
    assert "memory.delete" in [one["event_type"] for one in ann.lists("/events")]


def test_a_refusal_is_a_warning_that_the_owner_sees(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent_id = ann.registers()["id"]
    bob.delete("/agents/{}", agent_id).refused(403, "not_owner")
    (denied,) = ann.lists("/events", event_type="memory.denied")
    assert (denied["level"], denied["outcome"], denied["requester_id"]) == (
        "warning",
        "denied",
        bob.name,
    )
    assert denied["message"] == f"memory.denied, agent {agent_id}, denied"
    assert bob.lists("/events") == []


def test_a_read_by_a_role_leaves_an_event_of_its_own(callers: Callers) -> None:
    callers.auditor.get("/events", limit=1, justification="audit 7").expect(200)
    page = callers.auditor.get("/events", event_type="admin_read.listEvents", limit=2).expect(200)
    newest = page["data"][0]
    assert newest["requester_id"] == callers.auditor.name
    told = callers.admin.user.call("admin_list_events", action="listEvents", limit=3).expect(200)
    assert "audit 7" in {event.get("justification") for event in told["data"]}


def test_where_roles_must_say_why_an_auditor_must_and_an_owner_need_not(host: Host) -> None:
    with host(admin__require_justification=True) as world:
        callers = Callers(world)
        callers.auditor.get("/events").refused(400, "JUSTIFICATION_REQUIRED")
        callers.auditor.get("/events", justification="ticket 7").expect(200)
        callers.person("ann").get("/events").expect(200)


def test_filters_narrow_and_pages_hold_each_event_once(callers: Callers) -> None:
    ann = callers.person("ann")
    agent_id = ann.registers()["id"]
    for number in range(5):
        ann.patch("/agents/{}", agent_id, body={"name": f"name {number}"}).expect(200)
    everything = ann.lists("/events", limit=2)
    assert len({event["id"] for event in everything}) == 6
    times = [event["timestamp"] for event in everything]
    assert times == sorted(times, reverse=True)
    updates = ann.lists("/events", event_type="agent.update", limit=2)
    assert updates == everything[:5]
    third = everything[3]["timestamp"]
    after_third = to_text(from_text(third) + timedelta(microseconds=1))
    assert ann.lists("/events", **{"from": third})[-1] == everything[3]
    assert ann.lists("/events", to=third)[0] == everything[4]
    assert ann.lists("/events", **{"from": third, "to": after_third}) == [everything[3]]
    assert ann.lists("/events", memory_id="unknown") == []
    assert ann.lists("/events", run_id="unknown") == []


@pytest.mark.parametrize(
    "query",
    [
        {"event_type": "memory"},
        {"event_type": "nothing.write"},
        {"event_type": "memory."},
        {"after": "x"},
        {"limit": 0},
        {"limit": 1001},
        {"from": "yesterday"},
        {"kind": "memory"},
    ],
)
def test_a_wrong_filter_is_refused(callers: Callers, query: dict[str, object]) -> None:
    callers.person("ann").get("/events", **query).refused(422, "validation_error")


def test_a_stream_without_cursor_tells_what_happens_from_now_on(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    ann.registers()
    settle(callers.world.database)
    with following(ann) as stream:
        assert stream.block().event is None
        bob.registers()
        agent_id = ann.registers()["id"]
        (block,) = stream.events(1)
    assert (block.type, block.event["agent_slug"]) == ("agent.register", agent_id)
    assert block.event == ann.lists("/events", agent_id=agent_id)[0]


def test_a_stream_resumes_behind_the_last_event_without_loss_or_repeat(callers: Callers) -> None:
    ann = callers.person("ann")
    with following(ann) as stream:
        start = stream.block().id
    ids = [ann.registers()["id"] for _ in range(7)]
    seen: list[str] = []
    last = start
    for count in (1, 2, 4):
        with following(ann, last_id=last) as stream:
            blocks = stream.events(count)
        seen += [block.event["agent_slug"] for block in blocks]
        last = blocks[-1].id
    assert seen == ids
    with following(ann, after=start, event_type="agent.register") as stream:
        assert [block.event["agent_slug"] for block in stream.events(7)] == ids


def test_a_stream_from_an_instant_begins_there(callers: Callers) -> None:
    ann = callers.person("ann")
    first = ann.registers()
    second = ann.registers()
    with following(ann, **{"from": first["created_at"]}) as stream:
        told = [block.event["agent_slug"] for block in stream.events(2)]
    assert told == [first["id"], second["id"]]


def test_a_stream_tells_of_every_event_of_many_writers_at_once(callers: Callers) -> None:
    ann = callers.person("ann")
    with following(ann) as stream:
        stream.block()
        agents = at_once([lambda: ann.registers()["id"]] * 24)
        told = [block.event["agent_slug"] for block in stream.events(24)]
    assert sorted(told) == sorted(agents)


def test_a_stream_that_is_silent_says_that_it_is_there(host: Host) -> None:
    with host(events__heartbeat_seconds=1, events__poll_ms=10) as world:
        ann = Callers(world).person("ann")
        with following(ann) as stream:
            first, second = stream.block(), stream.block()
        assert (first.event, second.event) == (None, None)
        assert second.id is not None


def test_one_stream_too_many_is_asked_to_come_back_when_another_has_ended(host: Host) -> None:
    with host(events__streams_max=1, events__poll_ms=10) as world:
        ann = Callers(world).person("ann")
        with following(ann) as stream:
            stream.block()
            refused = ann.call("GET", "/events", headers=STREAM)
            refused.refused(503, "unavailable")
            assert int(refused.headers["retry-after"]) > 0
            ann.get("/events").expect(200)
        wait_until(lambda: head_of_stream(ann).status_code == 200)
        with following(ann) as stream:
            stream.block()


def test_a_stream_ends_with_the_token_that_opened_it(host: Host) -> None:
    """An event that comes later is not told."""
    with host(events__heartbeat_seconds=1, events__poll_ms=10) as world:
        ann = Callers(world).person("ann")
        ending = int(world.clock.now().timestamp()) + 60
        credentials = Credentials(token=a_token(ann.name, expires_at=ending))
        brief = replace(ann, user=replace(ann.user, credentials=credentials))
        with following(brief) as stream:
            stream.block()
            world.clock.advance(minutes=2)
            ann.registers()
            with pytest.raises(StopIteration):
                stream.events(1)
        brief.get("/events").refused(401, "unauthorized")


@pytest.mark.parametrize("cursor", ["x", "ZXZlbnRz", "é"])
def test_a_stream_with_an_unknown_cursor_is_refused_before_it_begins(
    callers: Callers, cursor: str
) -> None:
    ann = callers.person("ann")
    page = ann.call("GET", "/events", headers=STREAM, after=cursor)
    page.refused(422, "validation_error")
    listed = list_cursor(ann)
    ann.call("GET", "/events", headers=STREAM, after=listed).refused(422, "validation_error")


def test_the_end_of_the_server_ends_its_streams(host: Host) -> None:
    with host() as world:
        ann = Callers(world).person("ann")
        url = world.api.http.base_url
        open_stream = ExitStack()
        http = open_stream.enter_context(httpx2.Client(base_url=url, trust_env=False))
        stream = open_stream.enter_context(following(ann, http=http))
        stream.block()
    # The server has stopped here; it would still wait if the stream had held it up.
    with open_stream, pytest.raises((StopIteration, httpx2.RemoteProtocolError)):
        stream.events(1)


def test_head_of_a_stream_has_no_body(callers: Callers) -> None:
    ann = callers.person("ann")
    response = head_of_stream(ann)
    assert (response.status_code, response.content) == (200, b"")


STREAM = {"Accept": "text/event-stream"}


def memory_ids(caller: Caller) -> set[str]:
    found = {event["payload"].get("memory_id") for event in caller.lists("/events")}
    return {one for one in found if one is not None}


def slugs(reader: Caller) -> list[str]:
    """The agents of all events that the reader sees."""
    return [event["agent_slug"] for event in reader.lists("/events")]


def head_of_stream(reader: Caller) -> httpx2.Response:
    """What a stream would be answered with."""
    headers = headers_of(reader.user.credentials) | STREAM
    return reader.world.api.http.head("/events", headers=headers)


def list_cursor(reader: Caller) -> str:
    """A cursor of the list, which is none of the stream."""
    for _ in range(2):
        reader.registers()
    cursor: str = reader.get("/events", limit=1).expect(200)["next_cursor"]
    return cursor
