"""For whom an agent is answered in a world, as its plain facts have it: it names askers, asks in
chats that it made for that, and names a chat by any fork."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from recollect.identity.model import Caller
from recollect.identity.requester import Requester
from recollect.kernel.ids import ChatId, OrgId
from recollect.kernel.owner import AGENT_PREFIX, Owner
from recollect.people.chat import ChatKind
from recollect.visibility.disclosure import AskerView, ChatView, DisclosureSettings
from recollect.visibility.viewer import Viewer
from tests.visibility.worlds.questions import chat_view, chats_of, person_view, requesters
from tests.visibility.worlds.world import NOW, GeneratedWorld, Participation

UNKNOWN, INVALID, REFUSED = "not_found", "validation_error", "asker_not_allowed"


@dataclass(frozen=True)
class Asking:
    """An agent calls in a chat, by the id of the chat or of a fork, perhaps for somebody."""

    requester: Requester
    chat_id: str
    named_as: str
    asker_id: str | None


def askings(world: GeneratedWorld) -> Iterator[Asking]:
    """Every agent in every chat: for nobody, for each who is or was there, and for a stranger."""
    for requester in requesters(world):
        if requester.agent_id is None:
            continue
        for chat in world.chats.values():
            known = {name for stay in chat.participations for name in names_of(world, stay)}
            for asker_id in (None, "stranger", *sorted(known)):
                for named_as in (chat.id, *chat.forks):
                    yield Asking(requester, chat.id, named_as, asker_id)


def names_of(world: GeneratedWorld, stay: Participation) -> frozenset[str]:
    """The ids under which a participant may be named."""
    if stay.kind == "agent":
        return frozenset({AGENT_PREFIX + stay.id})
    return frozenset({stay.id, world.person_of(stay)})


def answer(world: GeneratedWorld, asking: Asking, settings: DisclosureSettings) -> Viewer | str:
    """The viewer, or why there is none."""
    requester, chat = asking.requester, world.chats[asking.chat_id]
    agent_id = requester.agent_id or ""
    if Owner.agent(agent_id) not in world.owners_in(chat.id):
        return UNKNOWN
    others = [s for s in present(world, chat.id) if (s.kind, s.id) != ("agent", agent_id)]
    humans = [s for s in others if s.kind != "agent"]
    judged = [s for s in others if asking.asker_id in names_of(world, s)]
    if asking.asker_id is not None and not judged:
        return INVALID
    private = world.kind_of(chat.id) is ChatKind.PRIVATE
    own = AskerView(chats=chats_of(world, None, agent_id), orgs=requester.orgs)
    view = chat_view(world, chat.id, ChatKind.GROUP)
    if private:
        judged, view = humans, ChatView(ChatId(chat.id), ChatKind.PRIVATE)
    alone = Viewer((requester.space_caller,), own, view, settings, NOW)
    viewer = for_another(world, alone, judged[0]) if judged else alone
    if private or len(world.humans_in(chat.id)) != 1:
        return viewer
    return limited(world, viewer, humans[0])


def for_another(world: GeneratedWorld, alone: Viewer, stay: Participation) -> Viewer | str:
    """The viewer of an agent that asks for this participant."""
    assert alone.chat is not None
    caller, asker = represented(world, stay)
    confirmed = stay.confirmed or world.person_of(stay) in world.confirmed_in(alone.chat.id)
    if not confirmed or asker.orgs.isdisjoint(alone.asker.orgs):
        return REFUSED
    return replace(alone, callers=(*alone.callers, caller), asker=asker)


def limited(world: GeneratedWorld, viewer: Viewer | str, human: Participation) -> Viewer | str:
    """An agent alone with one human, for itself or for another agent, has no more than both."""
    if isinstance(viewer, str) or viewer.asker.person_id is not None:
        return viewer
    caller, view = represented(world, human)
    both = (*viewer.callers, caller)
    return replace(viewer, callers=both, asker=viewer.asker.limited_to(view))


def present(world: GeneratedWorld, chat_id: str) -> list[Participation]:
    """Who takes part now, in the order in which they came."""
    stays = [s for s in world.chats[chat_id].participations if s.left_at is None]
    return sorted(stays, key=lambda s: (s.joined_at, s.kind, s.id))


def represented(world: GeneratedWorld, stay: Participation) -> tuple[Caller, AskerView]:
    """A participant as a caller of spaces, and as the one who is judged."""
    if stay.kind == "agent":
        orgs = frozenset({OrgId(world.agents[stay.id][1])})
        return Caller(Owner.agent(stay.id), orgs), AskerView(
            chats=chats_of(world, None, stay.id), orgs=orgs
        )
    view = person_view(world, world.person_of(stay))
    user = stay.id if stay.kind == "user" else min(view.users, default="")
    if user:
        orgs = frozenset(OrgId(org) for org in world.user_orgs[user])
        view = replace(view, orgs=orgs)
    return Caller(Owner.user(user), view.orgs), view
