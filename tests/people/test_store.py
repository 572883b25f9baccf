"""People, claims, chats and merges as they are stored, on every engine."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from recollect.agents.requesters import RequesterLookup, UserRegistrar
from recollect.conversations.sharing.membership import Membership
from recollect.db.transaction import Tx
from recollect.identity.model import Principal
from recollect.identity.requester import Requester
from recollect.kernel.access_level import Level
from recollect.kernel.ids import AgentId, ChatId, OrgId, PersonId, TreeId, UserId
from recollect.kernel.space import Space, SpaceKind
from recollect.people.chat import Chat, ChatKind, Participant, ParticipantKeys, ParticipantKind
from recollect.people.model import (
    Alias,
    AliasKind,
    ClaimId,
    Person,
    Relationship,
    plan_merge,
)
from recollect.people.name_candidates import person_view
from recollect.people.policy import may_see_name
from tests.support.builders import NOON, plant
from tests.support.memory.builders import a_memory, keep
from tests.support.storage import Storage

ACME = frozenset({OrgId("acme")})


class _NobodyAwaited:
    def take_over(self, tx: Tx, user_id: UserId, orgs: frozenset[OrgId]) -> None:
        """Nobody spoke of these users before."""


def a_lookup(storage: Storage) -> RequesterLookup:
    context = storage.context
    return RequesterLookup(
        context, UserRegistrar(context.stores, context.runtime, _NobodyAwaited())
    )


def a_user(storage: Storage, name: str, orgs: frozenset[OrgId] = ACME) -> Requester:
    """Somebody who has called."""
    user_id = UserId(f"{name}-{storage.new_id()}")
    principal = Principal(user_id, orgs=orgs)
    return storage.run(a_lookup(storage).resolve(principal))


def a_person(storage: Storage, by: Requester, name: str = "Sam") -> Person:
    person = Person(
        id=PersonId(storage.new_id()),
        name=name,
        created_by=by.identity,
        orgs=by.orgs,
        created_at=NOON,
        updated_at=NOON,
    )
    storage.do(storage.stores.people.insert, person)
    return person


def a_chat(storage: Storage, *people: Requester) -> ChatId:
    chat_id = ChatId(f"room {storage.new_id()}")
    chat = Chat(id=chat_id, kind=ChatKind.GROUP, created_by=people[0].identity, created_at=NOON)

    def work(tx: Tx) -> None:
        storage.stores.chats.insert(tx, chat)
        for one in people:
            newcomer = Participant(ParticipantKind.USER, one.identity.id, NOON)
            storage.stores.chats.join(tx, chat_id, newcomer)

    storage.write(work)
    return chat_id


def test_the_person_of_a_user_is_made_once_by_eight_threads(storage: Storage) -> None:
    requesters = a_lookup(storage)
    principal = Principal(UserId(storage.new_id()), orgs=ACME)
    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(storage.run, requesters.resolve(principal)) for _ in range(8)]
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
    assert storage.ask(chats.current_people, room) == {ann.person_id, bob.person_id, sam.id}
    assert len(storage.ask(chats.participants, room)) == 4
    for keys in (
        ParticipantKeys.for_requester(ann),
        ParticipantKeys(people=frozenset({sam.id})),
        ParticipantKeys(agent=AgentId("bot")),
    ):
        assert storage.ask(chats.is_participant, room, keys)
        found = storage.ask(
            chats.current_chats, users=keys.users, people=keys.people, agent=keys.agent
        )
        assert found == {room}
        assert [one.id for one in storage.ask(chats.page, keys, after=None, limit=9)] == [room]
    assert not storage.ask(
        chats.is_participant, room, ParticipantKeys(people=frozenset({PersonId("x")}))
    )
    assert storage.ask(chats.creator_orgs, [room, ChatId("none")]) == {room: ACME, "none": set()}


def test_a_tree_is_a_chat_of_its_members(storage: Storage) -> None:
    ann, bob = a_user(storage, "ann"), a_user(storage, "bob")
    owner, other = UserId(ann.identity.id), UserId(bob.identity.id)
    members = {owner: Level.OWNER, "agent:bot": Level.WRITER}
    root = plant(storage, members, owner_user_id=owner, title="Plans")
    chats, tree = storage.stores.chats, ChatId(root.id)
    chat = storage.ask(chats.fetch, tree)
    assert chat == Chat(
        id=tree,
        kind=ChatKind.PRIVATE,
        title="Plans",
        tree=True,
        created_by=ann.identity,
        created_at=NOON,
    )
    assert storage.ask(chats.find_tree, tree) == tree
    assert storage.ask(chats.find_tree, ChatId("room 1")) is None
    assert storage.ask(chats.creator_orgs, [tree]) == {tree: ACME}
    bot = Participant(ParticipantKind.AGENT, "bot", NOON)
    assert bot in storage.ask(chats.participants, tree)
    assert storage.ask(chats.is_participant, tree, ParticipantKeys(agent=AgentId("bot")))
    membership = Membership(TreeId(root.id), other, Level.READER, NOON)
    storage.do(storage.stores.memberships.insert, membership, confirmed=False)
    shared = storage.ask(chats.fetch, tree)
    assert shared is not None
    assert shared.kind is ChatKind.GROUP
    storage.do(storage.stores.conversations.update_deleted, TreeId(root.id), NOON)
    assert storage.ask(chats.fetch, tree) is None
    assert not storage.ask(chats.is_participant, tree, ParticipantKeys.for_requester(ann))
    assert storage.ask(chats.page, ParticipantKeys.for_requester(ann), after=None, limit=9) == []
    assert storage.ask(chats.find_tree, tree) == tree


def an_alias(storage: Storage, person: Person, by: Requester, value: str, **fields: Any) -> Alias:
    alias = Alias(
        id=ClaimId(storage.new_id()),
        person_id=person.id,
        value=value,
        added_by=by.identity,
        stated_by=by.person_id,
        created_at=NOON,
        **fields,
    )
    return storage.do(storage.stores.claims.put_alias, alias)


def test_lists_and_searches_show_those_whom_the_rule_lets_the_caller_see(storage: Storage) -> None:
    orgs = [ACME, frozenset({OrgId("other")}), frozenset[OrgId]()]
    users = [a_user(storage, f"u{place}", org) for place, org in enumerate(orgs * 2)]
    mark = storage.new_id()
    people = [a_person(storage, by, f"Kim {mark}") for by in users]
    a_chat(storage, users[0], users[1])
    hidden = a_chat(storage, users[2], users[3])
    stores = storage.stores
    for person in people[:2]:
        stay = Participant(ParticipantKind.PERSON, person.id, NOON)
        storage.do(stores.chats.join, hidden, stay)
    storage.do(stores.chats.leave, hidden, ParticipantKind.PERSON, member_id=people[0].id, at=NOON)
    known = [*people, *filter(None, (_person_of(storage, user) for user in users))]
    for user in users:
        met = storage.ask(stores.people.filter_sharing_chat, user, [one.id for one in known])
        seen = {
            one.id
            for one in known
            if may_see_name(user.space_caller, person_view(one, met)).allowed
        }
        listed = storage.ask(stores.people.page, user, after=None, limit=1_000)
        assert {one.id for one in listed} & {one.id for one in known} == seen
        found = storage.ask(stores.people.search, user, f"kim {mark}", after=None, limit=99)
        assert {one.id for _, one in found} == seen & {one.id for one in people}
        namesakes = storage.ask(stores.people.find_namesakes, user, f"kim {mark}")
        assert {one for one, _ in namesakes} == seen & {one.id for one in people}


def _person_of(storage: Storage, user: Requester) -> Person | None:
    assert user.person_id is not None
    return storage.ask(storage.stores.people.fetch, user.person_id)


def test_an_alias_leads_only_those_who_may_know_of_it(storage: Storage) -> None:
    ann, bob, cid = (a_user(storage, name) for name in ("ann", "bob", "cid"))
    form = storage.new_id()
    room = a_chat(storage, ann, bob)
    sam = a_person(storage, ann)
    an_alias(storage, sam, ann, form, chat_id=room)
    spelled = storage.stores.claims.find_aliases
    assert [len(storage.ask(spelled, user, form)) for user in (ann, bob, cid)] == [1, 1, 0]
    found = storage.stores.people.search
    counts = [len(storage.ask(found, user, form, after=None, limit=9)) for user in (ann, bob, cid)]
    assert counts == [1, 1, 0]
    me = _person_of(storage, cid)
    assert me is not None
    an_alias(storage, me, cid, form)
    assert me.id in {one.person_id for one in storage.ask(spelled, ann, form)}
    an_alias(storage, sam, cid, form, kind=AliasKind.HANDLE)
    handles = [one for one in storage.ask(spelled, cid, form) if one.kind is AliasKind.HANDLE]
    assert [one.person_id for one in handles] == [sam.id]


TRACES = {
    "memory_subjects": "memory_id, person_id, place",
    "memories": "id, stated_by",
    "chat_participations": "chat_id, kind, member_id, joined_at, left_at",
    "person_aliases": "id, person_id, stated_by",
    "person_relationships": "id, person_id, to_person_id, stated_by",
    "person_users": "user_id, person_id",
    "person_orgs": "person_id, org_id",
    "people": "id, merged_into",
}


def traces(storage: Storage) -> dict[str, list[tuple[Any, ...]]]:
    """Every row that names people."""
    return {
        table: sorted(storage.database.rows(f"SELECT {columns} FROM {table}"), key=repr)
        for table, columns in TRACES.items()
    }


@pytest.mark.parametrize("seed", range(6))
def test_undoing_merges_in_any_order_restores_every_row(storage: Storage, seed: int) -> None:
    chance = Random(seed)
    user = a_user(storage, "ann", frozenset({OrgId(f"org-{seed}")}))
    people = [a_person(storage, user, f"P{place}") for place in range(4)]
    people.append(_person_of(storage, user) or people[0])
    _scatter(storage, user, people, chance)
    before = traces(storage)
    merges = storage.stores.merges
    for place in chance.sample(range(4), 3):
        one, other = (_now(storage, people[at]) for at in (place, chance.choice([4, 0, 1, 2, 3])))
        if one.id == other.id:
            continue
        primary, secondary = (other, one) if other.user_ids else (one, other)
        plan = plan_merge(primary, secondary)
        storage.do(merges.merge, plan, merge_id=storage.new_id(), by=user.identity, at=NOON)
    assert traces(storage) != before
    for person in chance.sample(people, len(people)):
        merge = storage.ask(merges.fetch_active, person.id)
        if merge is not None:
            storage.do(merges.undo, merge, at=NOON)
    assert traces(storage) == before


def _now(storage: Storage, person: Person) -> Person:
    found = storage.ask(storage.stores.people.fetch, person.id)
    assert found is not None
    return found


def _scatter(storage: Storage, user: Requester, people: Sequence[Person], chance: Random) -> None:
    """Memories, stays and claims of these people, several of them in common."""
    ids = [one.id for one in people]
    space = Space(SpaceKind.USER, user.identity.id)
    for _ in range(6):
        subjects = tuple(chance.sample(ids, chance.randrange(len(ids))))
        keep(
            storage, a_memory(storage, space=space, subjects=subjects, stated_by=chance.choice(ids))
        )
    room = a_chat(storage, user)
    chats = storage.stores.chats
    for id_ in ids:
        for hour in range(chance.randrange(3)):
            began = NOON + timedelta(hours=hour)
            storage.do(chats.join, room, Participant(ParticipantKind.PERSON, id_, began))
            if hour == 0 or chance.random() < 0.5:
                ended = began + timedelta(minutes=30)
                storage.do(chats.leave, room, ParticipantKind.PERSON, member_id=id_, at=ended)
    for person in people:
        an_alias(storage, person, user, f"alias {chance.randrange(2)}")
        claim = Relationship(
            id=ClaimId(storage.new_id()),
            person_id=person.id,
            relationship="friend",
            to_person_id=PersonId(chance.choice(ids)),
            stated_by=user.identity,
            stated_by_person=user.person_id,
            created_at=NOON,
        )
        storage.do(storage.stores.claims.put_relationship, claim)
