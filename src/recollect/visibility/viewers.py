"""Builds the `Viewer` of a call: who calls, in which chat, and for whom they ask there."""

from dataclasses import dataclass, replace

from recollect.db.transaction import Tx
from recollect.identity.model import Caller
from recollect.identity.requester import Requester
from recollect.kernel.errors import Forbidden, NotFound, ValidationFailed
from recollect.kernel.ids import AgentId, ChatId, OrgId, PersonId, UserId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.kernel.runtime import Runtime
from recollect.memories.model import ReadContext
from recollect.people.chat import Chat, ChatKind, Participant, ParticipantKind
from recollect.people.store.bundle import PeopleStores
from recollect.visibility.disclosure import (
    AskerView,
    ChatView,
    DisclosureSettings,
)
from recollect.visibility.viewer import Viewer

# A person without a user owns nothing: no user has an empty id.
_NOBODY = Owner.user("")
_DIRECT = ReadContext()


@dataclass(frozen=True, slots=True)
class _RepresentedAsker:
    """The participant for whom an agent asks."""

    who: Owner
    view: AskerView

    @property
    def caller(self) -> Caller:
        """As a caller of spaces, without admin or acting rights: those come with a credential, and
        the agent presents its own, not this participant's."""
        return Caller(self.who, self.view.orgs)


class ViewerFactory:
    """Looks up everything that a `Viewer` holds, in the transaction of the read it is for."""

    def __init__(
        self, stores: PeopleStores, runtime: Runtime, settings: DisclosureSettings
    ) -> None:
        self._stores = stores
        self._runtime = runtime
        self._settings = settings

    def viewer_for(self, tx: Tx, requester: Requester, context: ReadContext = _DIRECT) -> Viewer:
        """The viewer for this requester in this context.

        NotFound for a chat where the requester takes no part. `asker_id` is for agents (Forbidden
        for users) and must name another participant of the chat. Forbidden with the code
        `asker_not_allowed` for an agent that may not ask for that participant, or for the partner
        of a private chat: it never gets its own view in place of theirs.
        """
        # Four cases, from the least to the most that is known:
        # - outside of chats: the requester is judged by their own rights;
        # - a user in a chat: the same, and the chat decides who listens;
        # - an agent in a chat that asks for nobody: as an agent, without person or users;
        # - an agent that asks for a participant: disclosure judges that participant, and what
        #   depends on a space must be readable by both (two callers).
        if context.asker_id is not None and context.chat_id is None:
            raise ValidationFailed.for_field(
                "asker_id", "needs `chat_id`: in which chat is it asked?"
            )
        own = self._own_view(tx, requester)
        viewer = Viewer(
            callers=(requester.space_caller,),
            asker=own,
            chat=None,
            settings=self._settings,
            now=self._runtime.clock.now(),
        )
        if context.chat_id is None:
            return viewer
        chat = self._require_chat(tx, own, context.chat_id)
        with_chat = replace(viewer, chat=self._chat_view(tx, chat))
        asker = self._represented_asker(tx, requester, chat, asker_id=context.asker_id)
        if asker is not None:
            both = (requester.space_caller, asker.caller)
            with_chat = replace(with_chat, callers=both, asker=asker.view)
        return self._limit_to_single_human(tx, with_chat, chat)

    def _own_view(self, tx: Tx, requester: Requester) -> AskerView:
        person_id = requester.person_id
        return AskerView(
            person_id,
            requester.user_ids,
            self._current_chats(tx, requester.user_ids, person_id, requester.agent_id),
            requester.orgs,
        )

    def _require_chat(self, tx: Tx, own: AskerView, chat_id: ChatId) -> Chat:
        chat = self._stores.chats.fetch(tx, chat_id)
        if chat is None or chat.id not in own.chats:
            raise NotFound("chat", chat_id)
        return chat

    def _chat_view(self, tx: Tx, chat: Chat) -> ChatView:
        """Who listens is read for a group only; in a private chat no rule needs it."""
        if chat.kind is ChatKind.PRIVATE:
            return ChatView(chat.id, chat.kind)
        here = self._stores.chats.audience(tx, chat.id)
        return ChatView(chat.id, chat.kind, here.people, here.users, here.humans)

    def _limit_to_single_human(self, tx: Tx, viewer: Viewer, chat: Chat) -> Viewer:
        """In a group with one human an agent that asks for nobody is judged by the chats and orgs
        that it shares with that human, and needs their right to read a space beside its own: they
        would hear more than in private otherwise."""
        group_of_one = chat.kind is ChatKind.GROUP and viewer.chat and viewer.chat.humans == 1
        if not group_of_one or viewer.asker.person_id is not None:
            return viewer
        present = self._stores.chats.participants(tx, chat.id)
        human = next(one for one in present if one.kind is not ParticipantKind.AGENT)
        listener = self._asker_from(tx, human)
        return replace(
            viewer,
            callers=(*viewer.callers, listener.caller),
            asker=viewer.asker.limited_to(listener.view),
        )

    def _represented_asker(
        self, tx: Tx, requester: Requester, chat: Chat, *, asker_id: str | None
    ) -> _RepresentedAsker | None:
        """For whom an agent asks: in a group, the participant that it names, if any; in a private
        chat always its human partner, whoever is named. None for a user, who asks for themself."""
        if requester.agent_id is None:
            if asker_id is not None:
                raise Forbidden("`asker_id` is for agents; a user asks for themself")
            return None
        others = self._other_participants(tx, requester.agent_id, chat)
        judged = self._find_asker(tx, others, asker_id) if asker_id is not None else None
        if chat.kind is ChatKind.PRIVATE:
            judged = next((one for one in others if one.kind is not ParticipantKind.AGENT), None)
        if judged is None:
            return None
        asker = self._asker_from(tx, judged)
        # The creator of a chat may add anybody to it. Without these two conditions an agent could
        # read on behalf of a stranger just by adding them to a chat of its own.
        confirmed = self._is_confirmed(tx, chat, judged, asker.view)
        if not confirmed or asker.view.orgs.isdisjoint(requester.orgs):
            message = (
                "an agent may ask only for a participant who shares an org with it and takes part"
                " by their own doing: they wrote in the chat, made it or joined it themself"
            )
            raise Forbidden(message, code="asker_not_allowed")
        return asker

    def _is_confirmed(self, tx: Tx, chat: Chat, participant: Participant, view: AskerView) -> bool:
        """Does the participant take part by their own doing, under this id or, after a merge,
        under another one of the same person?"""
        if participant.confirmed_at is not None:
            return True
        return view.person_id in self._stores.chats.audience(tx, chat.id).people

    def _other_participants(self, tx: Tx, agent_id: AgentId, chat: Chat) -> list[Participant]:
        present = self._stores.chats.participants(tx, chat.id)
        return [one for one in present if (one.kind, one.id) != (ParticipantKind.AGENT, agent_id)]

    def _find_asker(self, tx: Tx, others: list[Participant], asker_id: str) -> Participant:
        """The participant with this id: a user's id, `agent:` and an agent's id, or a person's id,
        which also finds the user of that person."""
        users = [UserId(one.id) for one in others if one.kind is ParticipantKind.USER]
        people = self._stores.people.people_by_user(tx, users)
        for one in others:
            person_id = people.get(UserId(one.id)) if one.kind is ParticipantKind.USER else None
            if asker_id in (_asker_spelling(one), person_id):
                return one
        raise ValidationFailed.for_field("asker_id", "must name another participant of the chat")

    def _asker_from(self, tx: Tx, participant: Participant) -> _RepresentedAsker:
        if participant.kind is ParticipantKind.AGENT:
            return self._agent_asker(tx, AgentId(participant.id))
        if participant.kind is ParticipantKind.PERSON:
            return self._person_asker(tx, PersonId(participant.id))
        return self._user_asker(tx, UserId(participant.id))

    def _agent_asker(self, tx: Tx, agent_id: AgentId) -> _RepresentedAsker:
        agent = self._stores.agents.fetch(tx, agent_id)
        orgs = frozenset({agent.org_id}) if agent is not None else frozenset[OrgId]()
        chats = self._current_chats(tx, frozenset(), None, agent_id)
        return _RepresentedAsker(Owner.agent(agent_id), AskerView(chats=chats, orgs=orgs))

    def _person_asker(self, tx: Tx, person_id: PersonId) -> _RepresentedAsker:
        person = self._stores.people.fetch(tx, person_id)
        if person is None:
            return _RepresentedAsker(_NOBODY, AskerView())
        # A person with users is judged like a user, so that their own spaces count. Any of the
        # users will do: the view holds all users of the person.
        if person.user_ids:
            return self._user_asker(tx, min(person.user_ids))
        chats = self._current_chats(tx, frozenset(), person.id, None)
        return _RepresentedAsker(_NOBODY, AskerView(person.id, frozenset(), chats, person.orgs))

    def _user_asker(self, tx: Tx, user_id: UserId) -> _RepresentedAsker:
        """A user who never called has no person yet and no known org."""
        known = self._stores.users.fetch(tx, user_id)
        users = known.user_ids if known is not None else frozenset({user_id})
        person_id = known.person_id if known is not None else None
        orgs = known.orgs if known is not None else frozenset[OrgId]()
        chats = self._current_chats(tx, users, person_id, None)
        return _RepresentedAsker(Owner.user(user_id), AskerView(person_id, users, chats, orgs))

    def _current_chats(
        self,
        tx: Tx,
        users: frozenset[UserId],
        person_id: PersonId | None,
        agent_id: AgentId | None,
    ) -> frozenset[ChatId]:
        people = frozenset({person_id}) if person_id is not None else frozenset[PersonId]()
        return self._stores.chats.current_chats(tx, users=users, people=people, agent=agent_id)


def _asker_spelling(participant: Participant) -> str:
    agent = participant.kind is ParticipantKind.AGENT
    return Owner(OwnerKind.AGENT, participant.id).spelling if agent else participant.id
