"""Identities of participants. A user and the user's person are one human, whichever of the two was
added to the chat, and so are people who were merged."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import PersonId, UserId
from recollect.people.chat import Participant, ParticipantKind
from recollect.people.store.bundle import PeopleStores

ParticipantRef = tuple[ParticipantKind, str]


@dataclass(frozen=True, slots=True)
class ParticipantIdentity:
    """One human, as the canonical person, or one agent. A user without a person is identified by
    the user's id. Two participants are the same exactly if their identities are equal."""

    person_id: PersonId | None = None
    user_id: UserId | None = None
    agent_id: str | None = None

    def is_caller(self, requester: Requester) -> bool:
        if self.agent_id is not None:
            return self.agent_id == requester.agent_id
        if self.user_id is not None:
            return self.user_id in requester.user_ids
        return self.person_id == requester.person_id


def participant_ref(participant: Participant) -> ParticipantRef:
    """Kind and id under which the participant is stored."""
    return participant.kind, participant.id


def resolve_identities(
    tx: Tx, stores: PeopleStores, names: Collection[ParticipantRef]
) -> dict[ParticipantRef, ParticipantIdentity]:
    """The identity of each of these participants, with two reads however many they are."""
    users = [UserId(id_) for kind, id_ in names if kind is ParticipantKind.USER]
    people = [PersonId(id_) for kind, id_ in names if kind is ParticipantKind.PERSON]
    linked = stores.people.people_by_user(tx, users)
    merged = {id_: one.id for id_, one in stores.people.fetch_many(tx, people).items()}
    return {name: _to_identity(name, linked, merged) for name in names}


def possible_identities(
    tx: Tx, stores: PeopleStores, member_id: str, kind: ParticipantKind | None
) -> frozenset[ParticipantIdentity]:
    """The identities that an id may stand for: a user, a person, an agent, or only `kind`."""
    names = [(one, member_id) for one in ParticipantKind if kind in (None, one)]
    return frozenset(resolve_identities(tx, stores, names).values())


def _to_identity(
    name: ParticipantRef, linked: Mapping[UserId, PersonId], merged: Mapping[PersonId, PersonId]
) -> ParticipantIdentity:
    kind, id_ = name
    if kind is ParticipantKind.AGENT:
        return ParticipantIdentity(agent_id=id_)
    if kind is ParticipantKind.PERSON:
        return ParticipantIdentity(merged.get(PersonId(id_), PersonId(id_)))
    person_id = linked.get(UserId(id_))
    return (
        ParticipantIdentity(person_id)
        if person_id is not None
        else ParticipantIdentity(user_id=UserId(id_))
    )
