"""Participations in a chat as a caller may see them."""

from dataclasses import dataclass
from datetime import datetime

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import PersonId, UserId
from recollect.people.chat import Chat, Participant, ParticipantKind
from recollect.people.store.bundle import PeopleStores


@dataclass(frozen=True, slots=True)
class Participation:
    """One interval of participation. A human has a `person_id`, and a `user_id` if the caller may
    see it; an agent has an `agent_id`."""

    person_id: PersonId | None
    user_id: UserId | None
    agent_id: str | None
    joined_at: datetime
    left_at: datetime | None


def visible_participations(
    tx: Tx, stores: PeopleStores, requester: Requester, chat: Chat, stays: list[Participant]
) -> list[Participation]:
    """The participations with hidden user ids removed. A caller sees the user of somebody with whom
    they share a chat now. In a conversation tree all ids are shown, also of those who left: the
    entries of the conversation show them anyway."""
    people = _person_ids(tx, stores, stays)
    found = stores.people.fetch_many(tx, people.values())
    users = {id_: person.user_ids for id_, person in found.items()}
    known = stores.people.filter_sharing_chat(tx, requester, list(users)) | {requester.person_id}
    shown = []
    for stay in stays:
        person_id = people.get((stay.kind, stay.id))
        user_id = _participant_user(stay, users.get(person_id, ()) if person_id else ())
        open_ = chat.tree or requester.is_auditor or person_id in known
        shown.append(
            Participation(
                person_id,
                user_id if open_ else None,
                stay.id if stay.kind is ParticipantKind.AGENT else None,
                stay.joined_at,
                stay.left_at,
            )
        )
    return shown


_PersonIds = dict[tuple[ParticipantKind, str], PersonId]


def _person_ids(tx: Tx, stores: PeopleStores, stays: list[Participant]) -> _PersonIds:
    users = [UserId(stay.id) for stay in stays if stay.kind is ParticipantKind.USER]
    links = stores.people.people_by_user(tx, users)
    people: _PersonIds = {(ParticipantKind.USER, id_): person for id_, person in links.items()}
    for stay in stays:
        if stay.kind is ParticipantKind.PERSON:
            people[stay.kind, stay.id] = PersonId(stay.id)
    return people


def _participant_user(stay: Participant, users: tuple[UserId, ...]) -> UserId | None:
    if stay.kind is ParticipantKind.USER:
        return UserId(stay.id)
    return users[0] if users else None
