"""Who asks for whom in a world, as its plain facts have it: agents that name askers, also in chats
that they made to ask in, and by the id of any fork."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from recollect.identity.model import Caller
from recollect.identity.requester import Requester
from recollect.kernel.ids import OrgId, PersonId, UserId
from recollect.kernel.owner import AGENT_PREFIX, Owner
from recollect.people.chat import ChatKind
from recollect.visibility.disclosure import AskerView, DisclosureSettings
from recollect.visibility.viewer import Viewer
from tests.visibility.worlds.questions import chat_view, chats_of, person_view, requesters
from tests.visibility.worlds.world import NOW, GeneratedWorld, Participation

UNKNOWN, INVALID, REFUSED = "not_found", "validation_error", "asker_not_allowed"


@dataclass(frozen=True)
class Asking:
    """A question: who calls, in which chat by which id, and for whom."""

    requester: Requester
    chat_id: str
    named_as: str
    asker_id: str | None


def askings(world: GeneratedWorld) -> Iterator[Asking]:
    """Every agent in every chat, for nobody, for each who is or was there, and for a stranger."""
    agents = [one for one in requesters(world) if one.agent_id is not None]
    for requester in (one for one in agents if not one.principal.acts_for_owner):
        for chat in world.chats.values():
            askers = {spelling for s in chat.participations for spelling in spellings(world, s)}
            for asker in (None, "stranger", *sorted(askers)):
                for named_as in (chat.id, *chat.forks):
                    yield Asking(requester, chat.id, named_as, asker)


def spellings(world: GeneratedWorld, stay: Participation) -> frozenset[str]:
    """The ids under which a participant may be named."""
    if stay.kind == "agent":
        return frozenset({AGENT_PREFIX + stay.id})
    return frozenset({stay.id, world.person_of(stay)})


def answer(world: GeneratedWorld, asking: Asking, settings: DisclosureSettings) -> Viewer | str:
    """The viewer, or why there is none."""
    itself = Owner.agent(asking.requester.agent_id or "")
    if itself not in world.owners_in(asking.chat_id):
        return UNKNOWN
    chat = world.chats[asking.chat_id]
    present = [s for s in chat.participations if s.left_at is None]
    others = [s for s in present if (s.kind, s.id) != ("agent", itself.id)]
    named = [s for s in others if asking.asker_id in spellings(world, s)]
    if asking.asker_id is not None and not named:
        return INVALID
    kind = world.kind_of(chat.id)
    if kind is ChatKind.PRIVATE:
        named = [s for s in others if s.kind != "agent"]
    view = chat_view(world, chat.id, kind) if kind is ChatKind.GROUP else None
    own = AskerView(chats=chats_of(world, None, itself.id), orgs=asking.requester.orgs)
    callers = (asking.requester.space_caller,)
    alone = Viewer(callers, own, view or private_view(chat.id), settings, NOW)
    if not named:
        return limited(world, alone)
    caller, asker = represented(world, named[0])
    if not any(s.confirmed for s in named) or asker.orgs.isdisjoint(own.orgs):
        return REFUSED
    return replace(alone, callers=(*callers, caller), asker=asker)


def represented(world: GeneratedWorld, stay: Participation) -> tuple[Caller, AskerView]:
    """A participant as a caller of spaces, and as the one who is judged."""
    if stay.kind == "agent":
        orgs = frozenset({OrgId(world.agents[stay.id][1])})
        view = AskerView(chats=chats_of(world, None, stay.id), orgs=orgs)
        return Caller(Owner.agent(stay.id), orgs), view
    person = world.person_of(stay)
    users = sorted(world.users_of(person))
    view = person_view(world, person)
    if not users:
        return Caller(Owner.user(""), view.orgs), view
    user = stay.id if stay.kind == "user" else users[0]
    orgs = frozenset(OrgId(org) for org in world.user_orgs[user])
    return Caller(Owner.user(user), orgs), replace(view, orgs=orgs)
