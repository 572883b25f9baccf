"""People in a recall: names for the lines of the prompt block, and a list of the people that the
asker may see."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import PersonId
from recollect.memories.model import Memory
from recollect.people.model import Person, Relationship
from recollect.people.name_candidates import person_view
from recollect.people.policy import may_see_name
from recollect.search.store.bundle import SearchStores
from recollect.visibility.viewer import Viewer


@dataclass(frozen=True, slots=True)
class RecalledPerson:
    """A person in the answer, with the relationships that the asker may see."""

    id: PersonId
    name: str
    relationships: Sequence[Relationship]


class RecallPeopleReader:
    """Reads people as far as everybody may see them who reads the answer: the asker, and the agent
    that asks for them."""

    def __init__(self, stores: SearchStores) -> None:
        self._stores = stores

    def visible_names(
        self, tx: Tx, requester: Requester, viewer: Viewer, memories: Sequence[Memory]
    ) -> Mapping[str, str]:
        """Names of the memories' subjects and of those who stated them, by person id. Only names
        that every caller behind the request may see."""
        ids = {PersonId(id_) for one in memories for id_ in (*one.subjects, one.stated_by) if id_}
        return {
            str(id_): one.name
            for id_, one in self._visible_people(tx, requester, viewer, ids).items()
        }

    def list_people(
        self, tx: Tx, requester: Requester, viewer: Viewer, memories: Sequence[Memory]
    ) -> list[RecalledPerson]:
        """The subjects of these memories, then the other participants of the chat."""
        subjects = [PersonId(id_) for memory in memories for id_ in memory.subjects]
        present = self._people_in_chat(tx, viewer)
        ids = list(dict.fromkeys([*subjects, *sorted(present)]))
        people = self._visible_people(tx, requester, viewer, ids)
        claims = self._visible_claims(tx, requester, viewer, people)
        return [
            RecalledPerson(
                id_, people[id_].name, [claim for claim in claims if claim.person_id == id_]
            )
            for id_ in ids
            if id_ in people
        ]

    def _visible_people(
        self, tx: Tx, requester: Requester, viewer: Viewer, ids: Collection[PersonId]
    ) -> dict[PersonId, Person]:
        if not ids:
            return {}
        people = self._stores.people.fetch_many(tx, ids)
        known = self._stores.people.filter_sharing_chat(tx, requester, people)
        if viewer.chat is not None:
            # An agent may ask in a chat for others; who is confirmed there is known to them too.
            known |= self._stores.chats.audience(tx, viewer.chat.id).people
        return {
            id_: one
            for id_, one in people.items()
            if all(may_see_name(who, person_view(one, known)).allowed for who in viewer.callers)
        }

    def _people_in_chat(self, tx: Tx, viewer: Viewer) -> frozenset[PersonId]:
        chat = viewer.chat
        return self._stores.chats.current_people(tx, chat.id) if chat is not None else frozenset()

    def _visible_claims(
        self, tx: Tx, requester: Requester, viewer: Viewer, people: Collection[PersonId]
    ) -> list[Relationship]:
        """Relationships that the asker stated, that are about the asker, or that were stated in
        this chat."""
        if not people:
            return []
        asker, chat = viewer.asker.person_id, viewer.chat
        return [
            claim
            for claim in self._stores.claims.relationships(tx, people)
            if (asker is not None and asker in (claim.stated_by_person, claim.person_id))
            or claim.stated_by == requester.identity
            or (chat is not None and claim.chat_id == chat.id)
        ]
