"""Stays in a chat as the one who asks may see them."""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.chats import Chat, Participant, ParticipantKind
from recollect.domain.disclosure import PersonId
from recollect.domain.ids import UserId
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.stores import Stores


@dataclass(frozen=True, slots=True)
class Stay:
    """A human has a person, and a user where the caller may know which; the rest are agents."""

    person_id: PersonId | None
    user_id: UserId | None
    agent_id: str | None
    joined_at: datetime
    left_at: datetime | None


def shown_stays(
    tx: Tx, stores: Stores, requester: Requester, chat: Chat, stays: list[Participant]
) -> list[Stay]:
    """Which user somebody is, those know who share a chat with them. Members of a conversation know
    each other's ids from what was said there, also of those who left."""
    people = _people(tx, stores, stays)
    found = stores.people.fetch_many(tx, people.values())
    users = {id_: person.user_ids for id_, person in found.items()}
    known = stores.people.meet(tx, requester, list(users)) | {requester.person_id}
    shown = []
    for stay in stays:
        person_id = people.get((stay.kind, stay.id))
        user_id = _user_of(stay, users.get(person_id, ()) if person_id else ())
        open_ = chat.tree or requester.auditor or person_id in known
        shown.append(
            Stay(
                person_id,
                user_id if open_ else None,
                stay.id if stay.kind is ParticipantKind.AGENT else None,
                stay.joined_at,
                stay.left_at,
            )
        )
    return shown


_Members = dict[tuple[ParticipantKind, str], PersonId]


def _people(tx: Tx, stores: Stores, stays: list[Participant]) -> _Members:
    users = [UserId(stay.id) for stay in stays if stay.kind is ParticipantKind.USER]
    links = stores.people.people_of(tx, users)
    people: _Members = {(ParticipantKind.USER, id_): person for id_, person in links.items()}
    for stay in stays:
        if stay.kind is ParticipantKind.PERSON:
            people[stay.kind, stay.id] = PersonId(stay.id)
    return people


def _user_of(stay: Participant, users: tuple[UserId, ...]) -> UserId | None:
    if stay.kind is ParticipantKind.USER:
        return UserId(stay.id)
    return users[0] if users else None
