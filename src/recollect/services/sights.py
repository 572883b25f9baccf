"""Builds the `Viewer` of a call: who calls, in which chat, and for whom they ask there."""

from dataclasses import dataclass, replace

from recollect.domain.agents import AgentId, Owner, OwnerKind
from recollect.domain.chats import Chat, Participant, ParticipantKind
from recollect.domain.disclosure import (
    AskerView,
    ChatKind,
    ChatView,
    DisclosureSettings,
    PersonId,
    SensitiveInGroups,
)
from recollect.domain.ids import UserId
from recollect.domain.spaces import ChatId, OrgId
from recollect.errors import Forbidden, NotFound, ValidationFailed
from recollect.policy.requesters import Requester
from recollect.policy.sight import Sight
from recollect.policy.spaces import Caller
from recollect.ports.database import Tx
from recollect.ports.memories import Context
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores

# A person without a user owns nothing: no user has an empty id.
_NOBODY = Owner.user("")
_DIRECT = Context()


@dataclass(frozen=True, slots=True)
class _Asked:
    """The participant for whom an agent asks."""

    who: Owner
    view: AskerView

    @property
    def caller(self) -> Caller:
        """As a caller of spaces, without admin or acting rights: those come with a credential, and
        the agent presents its own, not this participant's."""
        return Caller(self.who, self.view.orgs)


class Sights:
    """Looks up everything that a `Viewer` holds, in the transaction of the read it is for."""

    def __init__(self, stores: Stores, runtime: Runtime, settings: DisclosureSettings) -> None:
        self._stores = stores
        self._runtime = runtime
        self._settings = settings

    def of(self, tx: Tx, requester: Requester, context: Context = _DIRECT) -> Sight:
        """The viewer for this requester in this context.

        NotFound for a chat where the requester takes no part. `asker_id` is for agents (Forbidden
        for users) and must name another participant of the chat.
        """
        # Four cases, from the least to the most that is known:
        # - outside of chats: the requester is judged by their own rights;
        # - a user in a chat: the same, and the chat decides who listens;
        # - an agent in a chat that asks for nobody: as an agent, without person or users;
        # - an agent that asks for a participant: disclosure judges that participant, and what
        #   depends on a space must be readable by both (two callers).
        if context.asker_id is not None and context.chat_id is None:
            raise ValidationFailed.of("asker_id", "needs `chat_id`: in which chat is it asked?")
        own = self._own_view(tx, requester)
        sight = Sight(
            callers=(requester.caller,),
            asker=own,
            chat=None,
            settings=self._settings,
            now=self._runtime.clock.now(),
        )
        if context.chat_id is None:
            return sight
        chat = self._chat(tx, own, context.chat_id)
        shown = replace(sight, chat=self._chat_view(tx, chat))
        asked = self._asked(tx, requester, chat, asker_id=context.asker_id)
        if asked is None or not asked.view.orgs & requester.orgs:
            # The creator of a chat may add any user to it. Without this check an agent could read
            # on behalf of a stranger just by adding them to a chat of its own.
            return shown
        return replace(shown, callers=(requester.caller, asked.caller), asker=asked.view)

    def _own_view(self, tx: Tx, requester: Requester) -> AskerView:
        person_id = requester.person_id
        return AskerView(
            person_id,
            requester.user_ids,
            self._chats(tx, requester.user_ids, person_id, requester.agent_id),
            requester.orgs,
        )

    def _chat(self, tx: Tx, own: AskerView, chat_id: ChatId) -> Chat:
        chat = self._stores.chats.fetch(tx, chat_id) if chat_id in own.chats else None
        if chat is None:
            raise NotFound("chat", chat_id)
        return chat

    def _chat_view(self, tx: Tx, chat: Chat) -> ChatView:
        """The participants are read only if `subject_present` is set; no other rule needs them."""
        lenient = self._settings.sensitive_in_groups is SensitiveInGroups.SUBJECT_PRESENT
        people = self._stores.chats.people_in(tx, chat.id) if lenient else frozenset[PersonId]()
        return ChatView(chat.id, chat.kind, people)

    def _asked(
        self, tx: Tx, requester: Requester, chat: Chat, *, asker_id: str | None
    ) -> _Asked | None:
        """For whom an agent asks: in a group, the participant that it names, if any; in a private
        chat always its human partner, whoever is named. None for a user, who asks for themself."""
        if requester.agent_id is None:
            if asker_id is not None:
                raise Forbidden("`asker_id` is for agents; a user asks for themself")
            return None
        others = self._others(tx, requester.agent_id, chat)
        named = self._named(tx, others, asker_id) if asker_id is not None else None
        if chat.kind is ChatKind.GROUP:
            return self._seen(tx, named) if named is not None else None
        partner = next((one for one in others if one.kind is not ParticipantKind.AGENT), None)
        return self._seen(tx, partner) if partner is not None else None

    def _others(self, tx: Tx, agent_id: AgentId, chat: Chat) -> list[Participant]:
        present = self._stores.chats.participants(tx, chat.id)
        return [one for one in present if (one.kind, one.id) != (ParticipantKind.AGENT, agent_id)]

    def _named(self, tx: Tx, others: list[Participant], asker_id: str) -> Participant:
        """The participant with this id: a user's id, `agent:` and an agent's id, or a person's id,
        which also finds the user of that person."""
        users = [UserId(one.id) for one in others if one.kind is ParticipantKind.USER]
        people = self._stores.people.people_of(tx, users)
        for one in others:
            person_id = people.get(UserId(one.id)) if one.kind is ParticipantKind.USER else None
            if asker_id in (_spelling(one), person_id):
                return one
        raise ValidationFailed.of("asker_id", "must name another participant of the chat")

    def _seen(self, tx: Tx, participant: Participant) -> _Asked:
        if participant.kind is ParticipantKind.AGENT:
            return self._asked_agent(tx, AgentId(participant.id))
        if participant.kind is ParticipantKind.PERSON:
            return self._asked_person(tx, PersonId(participant.id))
        return self._asked_user(tx, UserId(participant.id))

    def _asked_agent(self, tx: Tx, agent_id: AgentId) -> _Asked:
        agent = self._stores.agents.fetch(tx, agent_id)
        orgs = frozenset({agent.org_id}) if agent is not None else frozenset[OrgId]()
        chats = self._chats(tx, frozenset(), None, agent_id)
        return _Asked(Owner.agent(agent_id), AskerView(chats=chats, orgs=orgs))

    def _asked_person(self, tx: Tx, person_id: PersonId) -> _Asked:
        person = self._stores.people.fetch(tx, person_id)
        if person is None:
            return _Asked(_NOBODY, AskerView())
        # A person with users is judged like a user, so that their own spaces count. Any of the
        # users will do: the view holds all users of the person.
        if person.user_ids:
            return self._asked_user(tx, min(person.user_ids))
        chats = self._chats(tx, frozenset(), person.id, None)
        return _Asked(_NOBODY, AskerView(person.id, frozenset(), chats, person.orgs))

    def _asked_user(self, tx: Tx, user_id: UserId) -> _Asked:
        """A user who never called has no person yet and no known org."""
        known = self._stores.users.fetch(tx, user_id)
        users = known.user_ids if known is not None else frozenset({user_id})
        person_id = known.person_id if known is not None else None
        orgs = known.orgs if known is not None else frozenset[OrgId]()
        chats = self._chats(tx, users, person_id, None)
        return _Asked(Owner.user(user_id), AskerView(person_id, users, chats, orgs))

    def _chats(
        self,
        tx: Tx,
        users: frozenset[UserId],
        person_id: PersonId | None,
        agent_id: AgentId | None,
    ) -> frozenset[ChatId]:
        people = frozenset({person_id}) if person_id is not None else frozenset[PersonId]()
        return self._stores.chats.chats_of(tx, users=users, people=people, agent=agent_id)


def _spelling(participant: Participant) -> str:
    agent = participant.kind is ParticipantKind.AGENT
    return Owner(OwnerKind.AGENT, participant.id).spelling if agent else participant.id
