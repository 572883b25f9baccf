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
    see it; an agent has an `agent_id`. Without `confirmed_at` it is only an invitation."""

    person_id: PersonId | None
    user_id: UserId | None
    agent_id: str | None
    joined_at: datetime
    left_at: datetime | None
    confirmed_at: datetime | None


def visible_participations(
    tx: Tx, stores: PeopleStores, requester: Requester, chat: Chat, rows: list[Participant]
) -> list[Participation]:
    """The participations with hidden user ids removed. A caller sees the user of somebody who is
    confirmed in a chat that they share now, and the ids of users who take part as users: who
    added them knew the id. In a conversation tree all ids are shown, also of those who left: the
    entries of the conversation show them anyway."""
    people = _person_ids(tx, stores, rows)
    found = stores.people.fetch_many(tx, people.values())
    users = {id_: person.user_ids for id_, person in found.items()}
    known = stores.people.filter_sharing_chat(tx, requester, list(users)) | {requester.person_id}
    present = {(one.kind, one.id) for one in stores.chats.participants(tx, chat.id)}
    participations = []
    for row in rows:
        person_id = people.get((row.kind, row.id))
        user_id = _participant_user(row, users.get(person_id, ()) if person_id else ())
        named = row.kind is ParticipantKind.USER and (row.kind, row.id) in present
        open_ = chat.tree or requester.is_auditor or named or person_id in known
        participations.append(
            Participation(
                person_id,
                user_id if open_ else None,
                row.id if row.kind is ParticipantKind.AGENT else None,
                row.joined_at,
                row.left_at,
                row.confirmed_at,
            )
        )
    return participations


_PersonIds = dict[tuple[ParticipantKind, str], PersonId]


def _person_ids(tx: Tx, stores: PeopleStores, rows: list[Participant]) -> _PersonIds:
    users = [UserId(row.id) for row in rows if row.kind is ParticipantKind.USER]
    links = stores.people.people_by_user(tx, users)
    people: _PersonIds = {(ParticipantKind.USER, id_): person for id_, person in links.items()}
    for row in rows:
        if row.kind is ParticipantKind.PERSON:
            people[row.kind, row.id] = PersonId(row.id)
    return people


def _participant_user(row: Participant, users: tuple[UserId, ...]) -> UserId | None:
    if row.kind is ParticipantKind.USER:
        return UserId(row.id)
    return users[0] if users else None
