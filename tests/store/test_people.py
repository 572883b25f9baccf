"""People, claims, chats and merges as they are stored, on every engine."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from recollect.domain.agents import AgentId, Owner, OwnerKind
from recollect.domain.chats import Chat, Participant, ParticipantKind
from recollect.domain.disclosure import ChatKind, PersonId
from recollect.domain.ids import TreeId, UserId
from recollect.domain.memberships import Level, Membership
from recollect.domain.people import Alias, AliasKind, ClaimId, Person, Relationship, plan_merge
from recollect.domain.spaces import ChatId, OrgId
from recollect.policy.principals import Principal
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.people import Seat
from recollect.services.requesters import Requesters
from tests.store.builders import NOON, plant
from tests.store.storage import Storage

ACME = frozenset({OrgId("acme")})


def a_user(storage: Storage, name: str, orgs: frozenset[OrgId] = ACME) -> Requester:
    """Somebody who has called."""
    user_id = UserId(f"{name}-{storage.new_id()}")
    principal = Principal(user_id, orgs=orgs)
    return storage.run(Requesters(storage.engine, storage.stores, storage.runtime).of(principal))


def a_person(storage: Storage, by: Requester, name: str = "Sam") -> Person:
    person = Person(
        id=PersonId(storage.new_id()),
        name=name,
        created_by=by.who,
        orgs=by.orgs,
        created_at=NOON,
        updated_at=NOON,
    )
    storage.do(storage.stores.people.insert, person)
    return person


def a_chat(storage: Storage, *people: Requester) -> ChatId:
    chat_id = ChatId(f"room {storage.new_id()}")
    chat = Chat(id=chat_id, kind=ChatKind.GROUP, created_by=people[0].who, created_at=NOON)

    def work(tx: Tx) -> None:
        storage.stores.chats.insert(tx, chat)
        for one in people:
            newcomer = Participant(ParticipantKind.USER, one.who.id, NOON)
            storage.stores.chats.join(tx, chat_id, newcomer)

    storage.write(work)
    return chat_id


def test_the_person_of_a_user_is_made_once_by_eight_threads(storage: Storage) -> None:
    requesters = Requesters(storage.engine, storage.stores, storage.runtime)
    principal = Principal(UserId(storage.new_id()), orgs=ACME)
    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(storage.run, requesters.of(principal)) for _ in range(8)]
        found = {future.result().person_id for future in made}
    assert len(found) == 1
    (person_id,) = found
    assert person_id is not None
    person = storage.ask(storage.stores.people.fetch, person_id)
    assert person is not None
    assert person.user_ids == (principal.user_id,)
    assert person.orgs == ACME


def test_a_chat_shows_who_takes_part_under_any_name(storage: Storage) -> None:
    ann, bob = a_user(storage, "ann"), a_user(storage, "bob")
    sam = a_person(storage, ann)
    room = a_chat(storage, ann, bob)
    chats = storage.stores.chats
    storage.do(chats.join, room, Participant(ParticipantKind.PERSON, sam.id, NOON))
    storage.do(chats.join, room, Participant(ParticipantKind.AGENT, "bot", NOON))
    assert storage.ask(chats.people_in, room) == {ann.person_id, bob.person_id, sam.id}
    assert len(storage.ask(chats.participants, room)) == 4
    for seat in (Seat.of(ann), Seat(people=frozenset({sam.id})), Seat(agent=AgentId("bot"))):
        assert storage.ask(chats.takes_part, room, seat)
        found = storage.ask(
            chats.chats_of, users=seat.users, people=seat.people, agent=seat.agent
        )
        assert found == {room}
        assert [one.id for one in storage.ask(chats.page, seat, after=None, limit=9)] == [room]
    assert not storage.ask(chats.takes_part, room, Seat(people=frozenset({PersonId("x")})))
    assert storage.ask(chats.creator_orgs, [room, ChatId("none")]) == {room: ACME, "none": set()}


def test_a_tree_is_a_chat_of_its_members(storage: Storage) -> None:
    ann, bob = a_user(storage, "ann"), a_user(storage, "bob")
    owner, other = UserId(ann.who.id), UserId(bob.who.id)
    members = {owner: Level.OWNER, "agent:bot": Level.WRITER}
    root = plant(storage, members, owner_user_id=owner, title="Plans")
    chats, tree = storage.stores.chats, ChatId(root.id)
    chat = storage.ask(chats.fetch, tree)
    assert chat == Chat(
        id=tree,
        kind=ChatKind.PRIVATE,
        title="Plans",
        tree=True,
        created_by=ann.who,
        created_at=NOON,
    )
    assert storage.ask(chats.is_tree, tree)
    assert not storage.ask(chats.is_tree, ChatId("room 1"))
    assert storage.ask(chats.creator_orgs, [tree]) == {tree: ACME}
    bot = Participant(ParticipantKind.AGENT, "bot", NOON)
    assert bot in storage.ask(chats.participants, tree)
    assert storage.ask(chats.takes_part, tree, Seat(agent=AgentId("bot")))
    membership = Membership(TreeId(root.id), other, Level.READER, NOON)
    storage.do(storage.stores.memberships.insert, membership)
    shared = storage.ask(chats.fetch, tree)
    assert shared is not None and shared.kind is ChatKind.GROUP
    storage.do(storage.stores.conversations.update_deleted, TreeId(root.id), NOON)
    assert storage.ask(chats.fetch, tree) is None
    assert not storage.ask(chats.takes_part, tree, Seat.of(ann))
    assert storage.ask(chats.page, Seat.of(ann), after=None, limit=9) == []
    assert storage.ask(chats.is_tree, tree)
