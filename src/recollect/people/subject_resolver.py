"""Resolves names in a request to people, from the requester's point of view. A name that means
nobody yet creates a person."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import InvalidInput, ValidationFailed
from recollect.kernel.ids import ChatId, PersonId, parse_uuid
from recollect.kernel.runtime import Runtime
from recollect.people.handle_bearers import HandleBearers
from recollect.people.model import (
    ClaimId,
    Person,
    Relationship,
    check_person_name,
    is_address,
    normal_form,
)
from recollect.people.name_candidates import NameCandidateFinder, visible_person
from recollect.people.name_resolution import NameResolution, resolve_name
from recollect.people.name_rules import PersonNameScreen
from recollect.people.relationship_words import is_relationship
from recollect.people.store.bundle import PeopleStores
from recollect.screening.secret_check import refuse_secrets


@dataclass(frozen=True, slots=True)
class ResolvedSubjects:
    """Canonical ids without duplicates, in the order of the names, and the people who are new."""

    ids: tuple[PersonId, ...] = ()
    created: tuple[Person, ...] = ()


class SubjectResolver:
    """Finds and creates people by name, inside the transaction of the caller."""

    def __init__(
        self, stores: PeopleStores, runtime: Runtime, audit: MemoryAudit, *, names: PersonNameScreen
    ) -> None:
        self._stores = stores
        self._runtime = runtime
        self._audit = audit
        self._names = names
        self._naming = NameCandidateFinder(stores)
        self._bearers = HandleBearers(stores)

    def resolve(
        self, tx: Tx, requester: Requester, names: Sequence[str], chat_id: ChatId | None
    ) -> ResolvedSubjects:
        """The people of these ids and names. Creates people.

        NotFound for an id that the requester may not see. InvalidInput with code
        `ambiguous_subject` for a name that may mean several people, ValidationFailed for a word
        that can't name anybody.
        """
        found = [
            self._resolve_one(tx, requester, name, chat_id=chat_id, field=f"subjects[{index}]")
            for index, name in enumerate(names)
        ]
        ids = [one.id if isinstance(one, Person) else one for one in found]
        created = [one for one in found if isinstance(one, Person)]
        return ResolvedSubjects(tuple(dict.fromkeys(ids)), tuple(created))

    def canonical_ids(self, tx: Tx, person_ids: Iterable[PersonId]) -> tuple[PersonId, ...]:
        """The canonical ids of these people, without duplicates, in their order; unknown ids are
        left out."""
        ids = list(person_ids)
        known = self._stores.people.fetch_many(tx, ids)
        return tuple(dict.fromkeys(known[id_].id for id_ in ids if id_ in known))

    def look_up_name(
        self, tx: Tx, requester: Requester, name: str, chat_id: ChatId | None
    ) -> NameResolution:
        """The person that a name means, or why there is none. Creates nobody."""
        finder = self._bearers if is_address(name) else self._naming
        return resolve_name(name, finder.gather_stages(tx, requester, name, chat_id))

    def _resolve_one(
        self, tx: Tx, requester: Requester, name: str, *, chat_id: ChatId | None, field: str
    ) -> Person | PersonId:
        """A new person, or the id of a known one."""
        # Most names resolve to somebody who exists, and that needs no lock. Only when a person
        # would be created is a lock taken, and the name is looked up a second time: two concurrent
        # writes of one requester that both mention a new "Anna" must create one Anna. The second
        # writer waits for the lock, then finds the person that the first one created. Two different
        # requesters may create one Anna each: they may well mean different people. An address means
        # one person whoever says it, so there the address is locked too.
        #
        # Secrets and personal data are refused before the lock and only for a name that would be
        # stored. A name that resolves is not stored, so it needs no screening.
        id_ = parse_uuid(name)
        if id_ is not None:
            return visible_person(tx, self._stores, requester, PersonId(id_)).id
        check_person_name(name, field)
        found = self.look_up_name(tx, requester, name, chat_id)
        if found.creates:
            refuse_secrets(**{field: name})
            self._names.refuse_pii(name, field)
            self._lock(tx, requester, name)
            found = self.look_up_name(tx, requester, name, chat_id)
        if found.person_id is not None:
            return found.person_id
        if found.ambiguous:
            raise ambiguous_subject_error(field, found.candidates)
        if not found.creates:
            raise ValidationFailed.for_field(
                field, "must name somebody; here this word names nobody"
            )
        return self._create_person(tx, requester, name, chat_id)

    def _create_person(
        self, tx: Tx, requester: Requester, name: str, chat_id: ChatId | None
    ) -> Person:
        """Create the person of that name, or the one who stands for the bearer of a handle.

        "My wife" is no name but a relationship: the person then gets a claim of that relationship
        to the requester and belongs to no org. In an org, others who say "my wife" would find this
        person.
        """
        address = is_address(name)
        nameless = not address and is_relationship(name)
        now = self._runtime.clock.now()
        person = Person(
            id=PersonId(self._runtime.ids.new()),
            name=_display_name(name),
            created_by=requester.identity,
            orgs=frozenset() if nameless else requester.orgs,
            created_at=now,
            updated_at=now,
            awaited_handle=normal_form(name) if address else None,
            awaited_provider=self._bearers.provider_of(tx, requester, chat_id) if address else None,
        )
        self._stores.people.insert(tx, person)
        if nameless:
            self._claim_relationship(tx, requester, person, chat_id=chat_id)
        self._audit.record(tx, requester, "person.create", payload={"person_id": person.id})
        return person

    def _lock(self, tx: Tx, requester: Requester, name: str) -> None:
        self._lock_requester(tx, requester)
        if is_address(name):
            self._stores.people.lock_handle(tx, normal_form(name))

    def _lock_requester(self, tx: Tx, requester: Requester) -> None:
        if requester.person_id is not None:
            self._stores.people.lock(tx, [requester.person_id])
        elif requester.agent_id is not None:
            self._stores.agents.lock(tx, requester.agent_id)

    def _claim_relationship(
        self, tx: Tx, requester: Requester, person: Person, *, chat_id: ChatId | None
    ) -> None:
        claim = Relationship(
            id=ClaimId(self._runtime.ids.new()),
            person_id=person.id,
            relationship=normal_form(person.name),
            to_person_id=requester.person_id,
            stated_by=requester.identity,
            stated_by_person=requester.person_id,
            chat_id=chat_id,
            created_at=person.created_at,
        )
        self._stores.claims.put_relationship(tx, claim)


def _display_name(name: str) -> str:
    """The name with single blanks, without the mark of an address in front."""
    text = " ".join(name.split())
    return text.lstrip("@ ") or text


def ambiguous_subject_error(field: str, candidates: Sequence[PersonId]) -> InvalidInput:
    """The error that asks the caller to send the id of a candidate instead of the name."""
    message = f"{field}: may mean several people; send the id of one of the candidates"
    error = InvalidInput(message, field=field, code="ambiguous_subject")
    error.details = {"message": message, "field": field, "candidates": list(candidates)}
    return error
