"""For whom a call is answered: who asks, in which chat, and which person is judged there."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from recollect.agents.model import Agent
from recollect.identity.model import Principal
from recollect.identity.requester import Requester
from recollect.kernel.access_level import Level
from recollect.kernel.errors import Forbidden, NotFound, ValidationFailed
from recollect.kernel.ids import AgentId, ChatId, OrgId, PersonId, UserId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.memories.model import ReadContext
from recollect.people.chat import (
    Chat,
    ChatKind,
    Participant,
    ParticipantKeys,
    ParticipantKind,
)
from recollect.people.model import Person
from recollect.visibility.disclosure import ChatView, DisclosureSettings
from recollect.visibility.viewer import Viewer
from recollect.visibility.viewers import ViewerFactory
from tests.support.builders import NOON, plant
from tests.support.engines import TestDatabase
from tests.support.storage import Storage, a_storage

ACME = frozenset({OrgId("acme")})
USER, PERSON, AGENT = ParticipantKind.USER, ParticipantKind.PERSON, ParticipantKind.AGENT
BOT = ParticipantKind.AGENT, "bot"
DEE = ParticipantKeys(people=frozenset({PersonId("dee")}))
BOB = ParticipantKeys(users=frozenset({UserId("bob")}))
A_BOT = ParticipantKeys(agent=AgentId("bot"))


@dataclass
class Stage:
    """A database with users ann and bob, the person dee, and agents bot and aid."""

    storage: Storage

    def chat(
        self,
        chat_id: str,
        *members: tuple[ParticipantKind, str],
        group: bool,
        confirmed: bool = False,
    ) -> ChatId:
        """A chat of its own name; the tests of one engine share a database."""
        kind = ChatKind.GROUP if group else ChatKind.PRIVATE
        chat = Chat(id=ChatId(chat_id), kind=kind, created_by=Owner.user("ann"), created_at=NOON)
        self.storage.do(self.storage.stores.chats.insert, chat)
        for kind_, id_ in members:
            at = NOON if confirmed else None
            who = Participant(kind_, id_, NOON, confirmed_at=at)
            self.storage.do(self.storage.stores.chats.join, chat.id, who)
        return chat.id

    def viewer(
        self,
        requester: Requester,
        chat: str | None = None,
        asker: str | None = None,
        **switches: Any,
    ) -> Viewer:
        """What the requester gets."""
        viewers = ViewerFactory(
            self.storage.stores, self.storage.runtime, DisclosureSettings(**switches)
        )
        context = ReadContext(ChatId(chat) if chat is not None else None, asker)
        return self.storage.ask(viewers.viewer_for, requester, context)


@pytest.fixture(scope="module")
def stage(engine: TestDatabase) -> Iterator[Stage]:
    with a_storage(engine) as storage:
        stores = storage.stores
        for user in ("ann", "bob"):
            named = {"name": user, "at": NOON}
            storage.do(
                stores.users.insert_person, UserId(user), PersonId(f"{user}-person"), **named
            )
            storage.do(stores.users.update_orgs, UserId(user), ACME)
        storage.do(stores.people.insert, loner("dee"))
        for agent in ("bot", "aid"):
            storage.do(stores.agents.insert, an_agent(agent))
        storage.do(stores.agents.insert, replace(an_agent("spy"), org_id=OrgId("other")))
        yield Stage(storage)


def an_agent(agent_id: str) -> Agent:
    who = Owner.agent(agent_id)
    return Agent(
        id=AgentId(agent_id),
        name=None,
        description=None,
        owner=Owner.user("ann"),
        org_id=OrgId("acme"),
        space_mode=None,
        created_by=who,
        created_at=NOON,
        updated_at=NOON,
    )


def loner(person_id: str) -> Person:
    return Person(
        id=PersonId(person_id),
        name=person_id,
        created_by=Owner.user("ann"),
        orgs=ACME,
        created_at=NOON,
        updated_at=NOON,
    )


def user(name: str) -> Requester:
    return Requester(
        Principal(UserId(name)), ACME, PersonId(f"{name}-person"), frozenset({UserId(name)})
    )


def agent(name: str) -> Requester:
    spelled = UserId(Owner.agent(name).spelling)
    return Requester(Principal(spelled, kind=OwnerKind.AGENT), ACME)


def test_outside_of_chats_the_caller_is_judged(stage: Stage) -> None:
    chat = stage.chat("d1", (USER, "ann"), group=True)
    viewer = stage.viewer(user("ann"))
    assert viewer.chat is None
    assert viewer.callers == (user("ann").space_caller,)
    assert (viewer.asker.person_id, viewer.asker.orgs) == ("ann-person", ACME)
    assert chat in viewer.asker.chats


def test_a_chat_is_unknown_to_who_takes_no_part(stage: Stage) -> None:
    chat = stage.chat("n1", (USER, "bob"), group=True)
    for requester, chat_id in ((user("ann"), chat), (agent("bot"), chat), (user("ann"), "none")):
        with pytest.raises(NotFound) as raised:
            stage.viewer(requester, chat_id)
        assert raised.value.details == {"resource": "chat", "id": chat_id}


def test_who_left_takes_no_part(stage: Stage) -> None:
    chat = stage.chat("n2", (USER, "ann"), group=True)
    stores = stage.storage.stores
    stage.storage.do(stores.chats.leave, chat, USER, member_id="ann", at=NOON)
    with pytest.raises(NotFound):
        stage.viewer(user("ann"), chat)


def test_in_a_private_chat_an_agent_asks_for_the_partner(stage: Stage) -> None:
    chat = stage.chat("p1", (USER, "bob"), BOT, group=False, confirmed=True)
    viewer = stage.viewer(agent("bot"), chat)
    assert viewer.asker.person_id == "bob-person"
    assert viewer.asker.users == {"bob"}
    assert viewer.asker.orgs == ACME
    assert {caller.who for caller in viewer.callers} == {Owner.agent("bot"), Owner.user("bob")}


def test_a_partner_without_a_user_is_judged_as_a_person(stage: Stage) -> None:
    chat = stage.chat("p2", (PERSON, "dee"), BOT, group=False, confirmed=True)
    viewer = stage.viewer(agent("bot"), chat)
    assert (viewer.asker.person_id, viewer.asker.users) == ("dee", frozenset())
    assert viewer.asker.chats == {chat}
    assert viewer.asker.orgs == ACME


def test_a_partner_who_is_known_as_a_person_has_their_user(stage: Stage) -> None:
    chat = stage.chat("p3", (PERSON, "bob-person"), BOT, group=False, confirmed=True)
    viewer = stage.viewer(agent("bot"), chat)
    assert viewer.asker.person_id == "bob-person"
    assert viewer.asker.users == {"bob"}
    assert Owner.user("bob") in {caller.who for caller in viewer.callers}


def test_an_agent_in_a_group_asks_for_nobody_unless_it_names_somebody(stage: Stage) -> None:
    members = ((USER, "bob"), (PERSON, "dee"), BOT, (AGENT, "aid"))
    chat = stage.chat("g1", *members, group=True, confirmed=True)
    alone = stage.viewer(agent("bot"), chat)
    assert alone.asker.person_id is None
    assert alone.callers == (agent("bot").space_caller,)
    for named, person in (("bob", "bob-person"), ("bob-person", "bob-person"), ("dee", "dee")):
        viewer = stage.viewer(agent("bot"), chat, named)
        assert viewer.asker.person_id == person
        assert viewer.callers[0].who == Owner.agent("bot")
    assert stage.viewer(agent("bot"), chat, "agent:aid").callers[1].who == Owner.agent("aid")


@pytest.mark.parametrize("named", ["ann", "agent:bot", "bot", "aid", "nobody", ""])
def test_an_asker_must_be_another_participant(stage: Stage, named: str) -> None:
    chat = stage.chat(f"g2-{named}", (USER, "bob"), BOT, (AGENT, "aid"), group=True)
    with pytest.raises(ValidationFailed, match="asker_id"):
        stage.viewer(agent("bot"), chat, named)


@pytest.mark.amendment(4)
def test_an_agent_may_not_ask_for_who_was_only_invited(stage: Stage) -> None:
    members = ((USER, "bob"), (PERSON, "dee"), BOT, (AGENT, "aid"))
    group = stage.chat("a1", *members, group=True)
    for named in ("bob", "bob-person", "dee", "agent:aid"):
        assert refusal(stage, "bot", group, named) == "asker_not_allowed"
    assert stage.viewer(agent("bot"), group).asker.person_id is None
    alone = stage.chat("a2", (USER, "bob"), BOT, group=False)
    for asker in (None, "bob"):
        assert refusal(stage, "bot", alone, asker) == "asker_not_allowed"
    stage.storage.do(stage.storage.stores.chats.confirm, alone, BOB, at=NOON)
    assert stage.viewer(agent("bot"), alone).asker.person_id == "bob-person"


@pytest.mark.amendment(4)
def test_an_agent_may_not_ask_for_somebody_of_another_org(stage: Stage) -> None:
    members = ((USER, "bob"), (PERSON, "dee"), (AGENT, "spy"), BOT)
    group = stage.chat("a3", *members, group=True, confirmed=True)
    for named in ("bob", "dee", "agent:bot"):
        assert refusal(stage, "spy", group, named) == "asker_not_allowed"
    assert refusal(stage, "bot", group, "agent:spy") == "asker_not_allowed"
    alone = stage.chat("a4", (USER, "bob"), (AGENT, "spy"), BOT, group=False, confirmed=True)
    for asker in (None, "bob"):
        assert refusal(stage, "spy", alone, asker) == "asker_not_allowed"
    unknown = stage.chat("a5", (USER, "of-no-org"), BOT, group=False, confirmed=True)
    assert refusal(stage, "bot", unknown, None) == "asker_not_allowed"


def test_a_private_chat_of_agents_has_no_partner(stage: Stage) -> None:
    chat = stage.chat("a6", BOT, (AGENT, "aid"), group=False, confirmed=True)
    for asker in (None, "agent:aid"):
        viewer = stage.viewer(agent("bot"), chat, asker)
        assert viewer.callers == (agent("bot").space_caller,)


def refusal(stage: Stage, name: str, chat: ChatId, asker: str | None) -> str | None:
    org = frozenset({OrgId("other")}) if name == "spy" else ACME
    with pytest.raises(Forbidden) as raised:
        stage.viewer(replace(agent(name), orgs=org), chat, asker)
    return raised.value.code


def test_a_user_asks_for_nobody_else(stage: Stage) -> None:
    chat = stage.chat("g3", (USER, "ann"), (USER, "bob"), group=True)
    for named in ("bob", "ann"):
        with pytest.raises(Forbidden):
            stage.viewer(user("ann"), chat, named)
    assert stage.viewer(user("ann"), chat).asker.person_id == "ann-person"


def test_an_asker_needs_a_chat(stage: Stage) -> None:
    with pytest.raises(ValidationFailed, match="asker_id"):
        stage.viewer(agent("bot"), None, "bob")


def test_a_tree_is_a_chat_of_its_members(stage: Stage) -> None:
    members = {"bob": Level.OWNER, "agent:bot": Level.WRITER}
    tree = plant(stage.storage, members, owner_user_id=UserId("bob"))
    viewer = stage.viewer(agent("bot"), tree.id)
    assert viewer.chat is not None
    assert viewer.chat.kind is ChatKind.PRIVATE
    assert viewer.asker.person_id == "bob-person"
    with pytest.raises(NotFound):
        stage.viewer(user("ann"), tree.id)


@pytest.mark.amendment(2)
def test_only_confirmed_people_count_and_all_of_their_users_do(stage: Stage) -> None:
    chat = stage.chat("g4", (USER, "ann"), (PERSON, "dee"), (USER, "bob"), BOT, group=True)
    viewer = stage.viewer(user("ann"), chat)
    assert viewer.chat == ChatView(chat, ChatKind.GROUP, humans=3)
    for keys in (ParticipantKeys(users=frozenset({UserId("ann")})), DEE, A_BOT):
        stage.storage.do(stage.storage.stores.chats.confirm, chat, keys, at=NOON)
    present = frozenset({PersonId("ann-person"), PersonId("dee")})
    users = frozenset({UserId("ann")})
    assert stage.viewer(user("ann"), chat).chat == ChatView(
        chat, ChatKind.GROUP, present, users, humans=3
    )


@pytest.mark.amendment(1)
def test_alone_with_somebody_in_a_group_an_agent_has_no_more_than_both(stage: Stage) -> None:
    elsewhere = stage.chat("g5", BOT, group=True)
    together = stage.chat("g6", (PERSON, "dee"), BOT, group=True)
    chat = stage.chat("g7", (PERSON, "dee"), BOT, (AGENT, "aid"), group=True)
    asker = stage.viewer(agent("bot"), chat).asker
    assert asker.chats >= {chat, together}
    assert elsewhere not in asker.chats
    stranger = stage.chat("g8", (USER, "of-no-org"), BOT, group=True)
    assert stage.viewer(agent("bot"), stranger).asker.orgs == frozenset()
