"""The audit log as readers see it: whose events, and none lost or told twice while it grows."""

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest

from recollect.agents.model import Agent
from recollect.audit.model import Event, EventCursor, EventFilter, EventKind
from recollect.audit.policy import EventReader
from recollect.db.transaction import Tx
from recollect.kernel.ids import AgentId, OrgId
from recollect.kernel.owner import Owner
from recollect.kernel.space import SpaceKind
from tests.support.builders import NOON
from tests.support.events import settle
from tests.support.storage import WAIT_SECONDS, Storage

ANN, BOB = Owner.user("ann"), Owner.user("bob")
EVERYBODY = EventReader(Owner.user("auditor"), everything=True)
ANY = EventFilter()

# A reader → the actions of the events that it sees.
READERS = [
    (EventReader(ANN), {"of hers", "private", "public", "single", "run", "org", "own", "chat"}),
    (EventReader(BOB), {"of his", "his run", "chat"}),
    (EventReader(Owner.agent("ann")), set()),
    (EventReader(Owner.agent("hers")), {"agent's chat"}),
    (
        EventReader(Owner.agent("hers"), acts_for_owner=True),
        {"of hers", "private", "public", "single", "run", "org", "agent's chat"},
    ),
    (EventReader(Owner.user("hers"), acts_for_owner=True), set()),
    (EventReader(Owner.user("carl")), set()),
]
EVENTS: dict[str, dict[str, Any]] = {
    "of hers": {"agent_id": "hers"},
    "private": {"agent_id": "hers", "space": (SpaceKind.AGENT_PRIVATE, "hers")},
    "public": {"space": (SpaceKind.AGENT_PUBLIC, "hers")},
    "single": {"space": (SpaceKind.AGENT, "hers")},
    "run": {"agent_id": "hers", "space": (SpaceKind.RUN, "run-1")},
    "org": {"agent_id": "hers", "space": (SpaceKind.ORG, "default")},
    "own": {"agent_id": "his", "space": (SpaceKind.USER, "ann")},
    "chat": {"agent_id": "his", "space": (SpaceKind.CHAT, "both")},
    "left chat": {"agent_id": "hers", "space": (SpaceKind.CHAT, "left")},
    "agent's chat": {"space": (SpaceKind.CHAT, "of the agent")},
    "of his": {"agent_id": "his"},
    "his run": {"agent_id": "his", "space": (SpaceKind.RUN, "hers")},
    "of nobody": {},
    "of unknown": {"agent_id": "nobody"},
    "other user": {"space": (SpaceKind.USER, "hers ")},
}


@pytest.fixture(scope="module")
def storage_with_events(storage: Storage) -> Storage:
    """Two agents, three chats and one event of each kind."""
    for agent_id, owner in (("hers", ANN), ("his", BOB)):
        storage.do(storage.stores.agents.insert, an_agent(agent_id, owner))
    for chat_id, kind, member, left in (
        ("both", "user", "ann", None),
        ("both", "user", "bob", None),
        ("left", "user", "ann", NOON + timedelta(hours=1)),
        ("of the agent", "agent", "hers", None),
    ):
        add_participant(storage, chat_id, kind, member, left)
    for number, (action, members) in enumerate(EVENTS.items()):
        space = members.get("space", (None, None))
        event = Event(
            storage.new_id(),
            NOON + timedelta(seconds=number // 2),
            EventKind.MEMORY,
            action,
            agent_id=members.get("agent_id"),
            space_kind=space[0],
            space_id=space[1],
        )
        storage.do(storage.stores.events.insert, event)
    return storage


@pytest.mark.parametrize(("reader", "wanted"), READERS)
def test_a_reader_sees_the_events_of_own_spaces_in_both_ways_of_reading(
    storage_with_events: Storage, reader: EventReader, wanted: set[str]
) -> None:
    memories = EventFilter(kind="memory", until=NOON + timedelta(hours=1))
    listed = walk(storage_with_events, reader, memories)
    assert {event.action for event in listed} == wanted
    assert [(e.at, e.id) for e in listed] == sorted(((e.at, e.id) for e in listed), reverse=True)
    settle(storage_with_events.database)
    followed, _ = follow(
        storage_with_events, reader, memories, EventCursor(0, storage_with_events.new_id())
    )
    assert sorted(followed) == sorted(event.id for event in listed)


def test_an_event_that_commits_late_is_told_once_and_before_no_reader_has_passed_it(
    storage: Storage,
) -> None:
    start = storage.ask(storage.stores.event_reads.head_cursor)
    inside, go_on = threading.Event(), threading.Event()
    early, late = an_event(storage), an_event(storage)

    def slow(tx: Tx) -> None:
        storage.stores.events.insert(tx, late)
        storage.stores.events.fetch(tx, late.id)  # an engine with round trips has run it now
        inside.set()
        storage.stay(tx, go_on)

    waiting = storage.begin(storage.engine.write(slow))
    assert inside.wait(WAIT_SECONDS)
    quick = storage.begin(storage.engine.write(lambda tx: storage.stores.events.insert(tx, early)))
    if storage.engine.name != "sqlite":  # there the second waits for the first
        quick.result(WAIT_SECONDS)
    before, place = follow(storage, EVERYBODY, ANY, start)
    go_on.set()
    waiting.result(WAIT_SECONDS)
    quick.result(WAIT_SECONDS)
    settle(storage.database)
    after, end = follow(storage, EVERYBODY, ANY, place)
    assert sorted(before + after) == sorted([early.id, late.id])
    again, _ = follow(storage, EVERYBODY, ANY, end)
    assert again == []
    replayed, _ = follow(storage, EVERYBODY, ANY, start)
    assert replayed == before + after


def test_a_small_step_goes_on_where_it_ended_inside_one_transaction(storage: Storage) -> None:
    start = storage.ask(storage.stores.event_reads.head_cursor)
    events = [an_event(storage) for _ in range(7)]

    def together(tx: Tx) -> None:
        for event in events:
            storage.stores.events.insert(tx, event)

    storage.write(together)
    settle(storage.database)
    seen, place = [], start
    for _ in range(4):
        step = storage.ask(storage.stores.event_reads.follow, EVERYBODY, ANY, after=place, limit=2)
        seen += [event.id for _, event in step.events]
        place = step.reached
    assert seen == [event.id for event in events]


def test_a_step_that_finds_nothing_still_moves_on(storage: Storage) -> None:
    start = storage.ask(storage.stores.event_reads.head_cursor)
    storage.do(storage.stores.events.insert, an_event(storage))
    nobody = EventReader(Owner.user("nobody"))
    settle(storage.database)
    _, place = follow(storage, nobody, ANY, start)
    assert place.position > start.position


def test_events_are_counted_by_type_instant_and_tag_up_to_a_limit(storage: Storage) -> None:
    def reads(action: str, at: datetime, *tags: str) -> None:
        event = an_event(storage, action=action, at=at, params={"pii_tags": list(tags)})
        storage.do(storage.stores.events.insert, event)

    for number in range(5):
        reads("counted", NOON + timedelta(minutes=number), "ssn" if number % 2 else "email")
    reads("other", NOON, "ssn")
    since = NOON + timedelta(minutes=1)

    def count(**chosen: Any) -> int:
        named = {"kind": "memory", "action": "counted", "since": since, "limit": 10} | chosen
        return storage.ask(storage.stores.event_reads.count, **named)

    assert count() == 4
    assert count(since=NOON) == 5
    assert count(limit=3) == 3
    assert count(tags=["ssn"]) == 2
    assert count(tags=["biometric", "email"]) == 2
    assert count(tags=["biometric"]) == 0


def an_event(storage: Storage, **members: Any) -> Event:
    named: dict[str, Any] = {"at": NOON, "kind": EventKind.MEMORY, "action": "write"} | members
    return Event(id=storage.new_id(), **named)


def follow(
    storage: Storage, reader: EventReader, chosen: EventFilter, after: EventCursor
) -> tuple[list[str], EventCursor]:
    step = storage.ask(storage.stores.event_reads.follow, reader, chosen, after=after, limit=1_000)
    return [event.id for _, event in step.events], step.reached


def walk(storage: Storage, reader: EventReader, chosen: EventFilter) -> list[Event]:
    """Page by page, two at a time."""
    found: list[Event] = []
    after: tuple[datetime, str] | None = None
    while True:
        page = storage.ask(storage.stores.event_reads.page, reader, chosen, after=after, limit=2)
        found += page
        if len(page) < 2:
            return found
        after = (page[-1].at, page[-1].id)


def an_agent(agent_id: str, owner: Owner) -> Agent:
    return Agent(
        id=AgentId(agent_id),
        name=None,
        description=None,
        owner=owner,
        org_id=OrgId("default"),
        space_mode=None,
        created_by=owner,
        created_at=NOON,
        updated_at=NOON,
    )


def add_participant(
    storage: Storage, chat: str, kind: str, member: str, left: datetime | None
) -> None:
    columns = "(chat_id, kind, member_id, joined_at, left_at)"
    storage.database.rows(
        f"INSERT INTO chat_participations {columns} VALUES (:chat, :kind, :who, :at, :left)"
        " RETURNING chat_id",
        chat=chat,
        kind=kind,
        who=member,
        at="2024-05-01T12:00:00.000000Z",
        left=None if left is None else "2024-05-01T13:00:00.000000Z",
    )
