"""People as a caller may see them: the name, and those other fields that the rules allow."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import ChatId, PersonId, UserId
from recollect.kernel.owner import Owner
from recollect.people.chat import ParticipantKeys
from recollect.people.model import Alias, Person, Relationship
from recollect.people.name_candidates import person_view
from recollect.people.policy import (
    ClaimView,
    may_change,
    may_see_claim,
    may_see_user,
)
from recollect.people.store.bundle import PeopleStores


@dataclass(frozen=True, slots=True)
class PersonCard:
    """What the caller may see of a person. A field is None if it is hidden or empty.

    `created_by` of a user's person is that user, so it is shown to whoever may see the user's id.
    """

    person: Person
    aliases: tuple[Alias, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    user_id: UserId | None = None
    created_by: Owner | None = None
    time_zone: str | None = None
    metadata: dict[str, Any] | None = None


def load_cards(
    tx: Tx,
    stores: PeopleStores,
    requester: Requester,
    people: Sequence[Person],
    *,
    as_of: datetime | None = None,
) -> list[PersonCard]:
    """A card for each of these people, in their order; with `as_of` for each who was known then, as
    it was then. The caller has checked that the requester may see their names."""
    if as_of is not None:
        people = stores.people.as_of(tx, people, as_of)
    ids = [one.id for one in people]
    sharing_chat = stores.people.filter_sharing_chat(tx, requester, ids)
    keys = ParticipantKeys.for_requester(requester)
    chats = stores.chats.current_chats(tx, users=keys.users, people=keys.people, agent=keys.agent)
    viewer = _CardViewer(requester, sharing_chat, chats)
    aliases = stores.claims.aliases(tx, ids, as_of=as_of)
    relationships = stores.claims.relationships(tx, ids, as_of=as_of)
    return [viewer.build_card(one, aliases, relationships) for one in people]


def load_card(tx: Tx, stores: PeopleStores, requester: Requester, person: Person) -> PersonCard:
    return load_cards(tx, stores, requester, [person])[0]


@dataclass(frozen=True, slots=True)
class _CardViewer:
    """The caller, the people who share a chat with the caller, and the caller's chats."""

    requester: Requester
    sharing_chat: frozenset[PersonId]
    chats: frozenset[ChatId]

    def build_card(
        self, person: Person, aliases: list[Alias], relationships: list[Relationship]
    ) -> PersonCard:
        caller, view = self.requester.space_caller, person_view(person, self.sharing_chat)
        knows_user = may_see_user(caller, view, auditor=self.requester.is_auditor).allowed
        changes = may_change(caller, view).allowed or self.requester.is_auditor
        # Auditors see every field, but not more claims: those are judged below by the caller alone.
        is_self = person.id == self.requester.person_id or self.requester.is_auditor
        return PersonCard(
            person,
            tuple(one for one in aliases if self._can_see_claim(person, one)),
            tuple(one for one in relationships if self._can_see_claim(person, one)),
            user_id=person.user_ids[0] if person.user_ids and knows_user else None,
            created_by=person.created_by if changes or knows_user else None,
            time_zone=person.time_zone if is_self else None,
            metadata=person.metadata if changes else None,
        )

    def _can_see_claim(self, person: Person, claim: Alias | Relationship) -> bool:
        if claim.person_id != person.id:
            return False
        heard = claim.chat_id is not None and claim.chat_id in self.chats
        view = ClaimView(
            effective_stater(self.requester, claim),
            frozenset(person.user_ids),
            frozenset({self.requester.identity}) if heard else frozenset(),
        )
        return may_see_claim(self.requester.space_caller, view).allowed


def effective_stater(requester: Requester, claim: Alias | Relationship) -> Owner:
    """The stater of a claim, which is the requester if any user of the requester's person stated
    it.
    """
    if isinstance(claim, Alias):
        person_id, owner = claim.stated_by, claim.added_by
    else:
        person_id, owner = claim.stated_by_person, claim.stated_by
    is_caller = person_id is not None and person_id == requester.person_id
    return requester.identity if is_caller else owner
