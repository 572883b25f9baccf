"""Collects the people who could be meant by a name, as input for `resolve_name`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import NotFound
from recollect.kernel.ids import ChatId, OrgId, PersonId
from recollect.kernel.owner import Owner
from recollect.people.chat import ParticipantKeys
from recollect.people.model import (
    Alias,
    AliasKind,
    Person,
    Relationship,
    normal_form,
)
from recollect.people.name_resolution import (
    ClaimedPerson,
    NameCandidate,
    ResolutionStages,
)
from recollect.people.policy import PersonView, may_see_name
from recollect.people.relationship_words import is_relationship, relationship_key
from recollect.people.store.bundle import PeopleStores


class NameCandidateFinder:
    """Looks up the candidates of each step, reduced to people who have the name."""

    def __init__(self, stores: PeopleStores) -> None:
        self._stores = stores

    def gather_stages(
        self, tx: Tx, requester: Requester, name: str, chat_id: ChatId | None
    ) -> ResolutionStages:
        """The candidates of all steps of a bare name. Nobody is among them whose name the caller
        may not see.

        A relationship word, as "my wife", is not searched in the org: there it would find somebody
        else's wife. A chat counts only for those who take part in it.
        """
        if chat_id is not None and not self._takes_part(tx, requester, chat_id):
            chat_id = None
        found = self._gather_matches(tx, requester, normal_form(name))
        present = ChatPeople.load(tx, self._stores, chat_id)
        known = found.candidates(present.confirmed)
        orgs = frozenset[OrgId]() if is_relationship(name) else requester.orgs
        of_org = [one for one in known if not found.people[one.person_id].orgs.isdisjoint(orgs)]
        return ResolutionStages(
            own=requester.person_id,
            claimed=found.claimed_people(requester),
            participants=[one for one in known if one.person_id in present.current],
            org=of_org,
        )

    def _gather_matches(self, tx: Tx, requester: Requester, form: str) -> "_NameMatches":
        stores = self._stores
        named = stores.people.find_namesakes(tx, requester, form)
        aliases = stores.claims.find_aliases(tx, requester, form)
        related = stores.claims.find_relationships(tx, requester, relationship_key(form))
        # Claims are found by their text alone, so visibility is checked for all people at once.
        ids = {one for one, _ in named} | {claim.person_id for claim in aliases}
        ids |= {claim.person_id for claim in related}
        visible_ids = visible_people(tx, stores, requester, ids)
        return _NameMatches(form, visible_ids, named, aliases, related)

    def _takes_part(self, tx: Tx, requester: Requester, chat_id: ChatId) -> bool:
        keys = ParticipantKeys.for_requester(requester)
        return self._stores.chats.is_participant(tx, chat_id, keys)


@dataclass(frozen=True, slots=True)
class ChatPeople:
    """Who takes part in a chat now, and who of them by their own doing."""

    current: frozenset[PersonId] = frozenset()
    confirmed: frozenset[PersonId] = frozenset()

    @classmethod
    def load(cls, tx: Tx, stores: PeopleStores, chat_id: ChatId | None) -> "ChatPeople":
        if chat_id is None:
            return cls()
        current = stores.chats.current_people(tx, chat_id)
        return cls(current, stores.chats.audience(tx, chat_id).people)


@dataclass(frozen=True, slots=True)
class _NameMatches:
    """What the stores know about a name. `people` are the canonical people behind it, only those
    whom the caller may see."""

    form: str
    people: Mapping[PersonId, Person]
    named: list[tuple[PersonId, Owner]]
    aliases: list[Alias]
    related: list[Relationship]

    def candidates(self, confirmed: Collection[PersonId]) -> list[NameCandidate]:
        """Everybody with that name, alias or handle; `confirmed`: who takes part in the chat by
        their own doing."""
        full_names = {one for one, _ in self.named} | self._ids_by_alias_kind(AliasKind.ALIAS)
        handles = self._ids_by_alias_kind(AliasKind.HANDLE)
        form, none = frozenset({self.form}), frozenset[str]()
        return [
            NameCandidate(
                one.id,
                form if one.id in full_names else none,
                form if one.id in handles else none,
                linked_to_user=one.is_users,
                confirmed=one.id in confirmed,
            )
            for one in self.people.values()
            if one.id in full_names | handles
        ]

    def claimed_people(self, requester: Requester) -> list[ClaimedPerson]:
        """Those to whom the caller gave that name, alias or relationship. The caller's own person
        is no match by its name: somebody else may have the same name."""
        names = {one for one, by in self.named if by == requester.identity} - {requester.person_id}
        names |= {one.person_id for one in self.aliases if is_stater(requester, one)}
        relations = {one.person_id for one in self.related}
        form, key = frozenset({self.form}), frozenset({relationship_key(self.form)})
        none = frozenset[str]()
        return [
            ClaimedPerson(id_, form if id_ in names else none, key if id_ in relations else none)
            for id_ in self.people.keys() & (names | relations)
        ]

    def _ids_by_alias_kind(self, kind: AliasKind) -> set[PersonId]:
        return {one.person_id for one in self.aliases if one.kind is kind}


def is_stater(requester: Requester, claim: Alias) -> bool:
    """Did the caller state the claim, as this user or as another user of the same person?"""
    stated = claim.stated_by is not None and claim.stated_by == requester.person_id
    return stated or claim.added_by == requester.identity


def person_view(person: Person, sharing_chat: frozenset[PersonId]) -> PersonView:
    """The facts that the rules need; `sharing_chat`: who shares a chat with the caller."""
    return PersonView(
        person.created_by,
        frozenset(person.user_ids),
        person.orgs,
        in_common_chat=person.id in sharing_chat,
        awaited=person.awaited_handle is not None,
    )


def visible_people(
    tx: Tx, stores: PeopleStores, requester: Requester, person_ids: Collection[PersonId]
) -> dict[PersonId, Person]:
    """Canonical people, by the ids that were passed in; only those whose name the caller may
    see."""
    people = stores.people.fetch_many(tx, person_ids)
    sharing_chat = stores.people.filter_sharing_chat(
        tx, requester, {person.id for person in people.values()}
    )
    return {
        id_: person
        for id_, person in people.items()
        if may_see_name(requester.space_caller, person_view(person, sharing_chat)).allowed
    }


def visible_person(
    tx: Tx, stores: PeopleStores, requester: Requester, person_id: PersonId
) -> Person:
    """The canonical person; NotFound if the caller may not see the name."""
    person = visible_people(tx, stores, requester, [person_id]).get(person_id)
    if person is None:
        raise NotFound("person", person_id)
    return person
