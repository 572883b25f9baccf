"""Creates, finds, changes and deletes people, and resolves names. Claims and merges have services
of their own."""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict, NotFound
from recollect.kernel.ids import ChatId, PersonId
from recollect.kernel.pages import (
    Page,
    decode_key,
    encode_key,
    unknown_cursor_error,
)
from recollect.kernel.space import to_chat_id
from recollect.kernel.validation import check_metadata
from recollect.people.cards import PersonCard, load_card, load_cards
from recollect.people.chats_service import visible_chat
from recollect.people.claims_service import PersonClaims
from recollect.people.commands import CreatePerson, ResolvePerson, UpdatePerson
from recollect.people.merge_service import MergeService
from recollect.people.model import (
    Person,
    check_alias,
    check_alias_count,
    check_person_name,
    check_relationship,
    check_time_zone,
    normal_form,
)
from recollect.people.name_candidates import person_view, visible_person
from recollect.people.name_rules import PersonNameScreen
from recollect.people.policy import may_change, may_delete, may_set_time_zone
from recollect.people.store.bundle import PeopleStores
from recollect.people.subject_resolver import SubjectResolver
from recollect.screening.secret_check import refuse_secrets

_LIST, _SEARCH = "people", "people.search"


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """The person that a name means, or None, with the candidates among whom the caller may
    choose."""

    card: PersonCard | None
    ambiguous: bool
    candidates: list[PersonCard]


class PeopleService:
    def __init__(
        self,
        context: ServiceContext[PeopleStores],
        audit: MemoryAudit,
        *,
        names: PersonNameScreen,
        merging: MergeService,
        auto_merge: bool,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._names = names
        self._subjects = SubjectResolver(context.stores, context.runtime, audit, names=names)
        self._claims = PersonClaims(context.stores, context.runtime, names)
        self._merging = merging
        self._auto_merge = auto_merge

    async def create(self, requester: Requester, command: CreatePerson) -> PersonCard:
        """Create a person, visible in the caller's orgs. With `people.auto_merge` the result may be
        an older person into whom the new one was merged."""
        check_person_name(command.name)
        check_metadata(command.metadata or {})
        aliases = command.aliases or ()
        check_alias_count(len(aliases))
        for index, alias in enumerate(aliases):
            check_alias(alias.value, alias.provider, field_name=f"aliases[{index}].value")
        for index, claim in enumerate(command.relationships or ()):
            check_relationship(claim.relationship, f"relationships[{index}].relationship")
        async with self._audit.audit_refusals(requester, "createPerson"):
            return await self._database.write(lambda tx: self._create(tx, requester, command))

    async def get(
        self, requester: Requester, person_id: PersonId, *, as_of: datetime | None = None
    ) -> PersonCard:
        """The canonical person, with `as_of` as they stood then. NotFound if the caller may not
        see the name today, or if nobody knew the person then."""

        def work(tx: Tx) -> PersonCard:
            person = visible_person(tx, self._stores, requester, person_id)
            cards = load_cards(tx, self._stores, requester, [person], as_of=as_of)
            if not cards:
                raise NotFound("person", person_id)
            return cards[0]

        return await self._database.read(work)

    async def list(
        self,
        requester: Requester,
        *,
        query: str | None,
        as_of: datetime | None = None,
        after: str | None,
        limit: int,
    ) -> Page[PersonCard]:
        """People whose name the caller may see, the newest first. With a query, those whose name,
        or an alias that the caller may see, contains it, the best match first. With `as_of`, those
        who were known then, with their names and claims of then."""
        form = normal_form(query or "")
        if form:
            return await self._database.scan(
                lambda tx: self._search(tx, requester, form, as_of=as_of, after=after, limit=limit)
            )
        return await self._database.read(
            lambda tx: self._page(tx, requester, as_of=as_of, after=after, limit=limit)
        )

    async def update(
        self, requester: Requester, person_id: PersonId, command: UpdatePerson
    ) -> PersonCard:
        """Change the fields that were sent."""
        if command.name is not None:
            check_person_name(command.name)
        if command.time_zone is not None:
            check_time_zone(command.time_zone)
        check_metadata(command.metadata or {})
        async with self._audit.audit_refusals(requester, "updatePerson"):
            return await self._database.write(
                lambda tx: self._update(tx, requester, person_id, command)
            )

    async def remove(self, requester: Requester, person_id: PersonId) -> None:
        """Conflict if a memory outside the caller's own spaces refers to the person."""
        async with self._audit.audit_refusals(requester, "deletePerson"):
            await self._database.write(lambda tx: self._remove(tx, requester, person_id))

    async def resolve(self, requester: Requester, command: ResolvePerson) -> ResolvedName:
        """The person that the name would mean in a write by the caller. Creates nobody. NotFound
        for a chat where the caller does not take part."""
        chat_id = to_chat_id(command.chat_id) if command.chat_id is not None else None
        check_person_name(command.name)
        return await self._database.read(
            lambda tx: self._resolve(tx, requester, command.name, chat_id)
        )

    def _create(self, tx: Tx, requester: Requester, command: CreatePerson) -> PersonCard:
        refuse_secrets(name=command.name, metadata=command.metadata)
        self._names.refuse_pii(command.name, "name")
        now = self._runtime.clock.now()
        person = Person(
            id=PersonId(self._runtime.ids.new()),
            name=command.name,
            created_by=requester.identity,
            orgs=requester.orgs,
            created_at=now,
            updated_at=now,
            metadata=command.metadata or {},
        )
        self._stores.people.insert(tx, person)
        for index, alias in enumerate(command.aliases or ()):
            self._claims.add_alias(tx, requester, person, alias, field=f"aliases[{index}].")
        for index, claim in enumerate(command.relationships or ()):
            self._claims.add_relationship(
                tx, requester, person, claim, field=f"relationships[{index}]."
            )
        self._audit.record(tx, requester, "person.create", payload={"person_id": person.id})
        return self._auto_merge_to_card(tx, requester, person)

    def _auto_merge_to_card(self, tx: Tx, requester: Requester, person: Person) -> PersonCard:
        """After a change of the name: merge automatically if that is enabled, and return the
        card."""
        if self._auto_merge:
            person = self._merging.auto_merge(tx, requester, person)
        return load_card(tx, self._stores, requester, person)

    def _page(
        self,
        tx: Tx,
        requester: Requester,
        *,
        as_of: datetime | None,
        after: str | None,
        limit: int,
    ) -> Page[PersonCard]:
        after_key = decode_key(_LIST, after) if after else None
        found = self._stores.people.page(
            tx, requester, as_of=as_of, after=after_key, limit=limit + 1
        )
        page = found[:limit]
        more = len(found) > limit
        cursor = encode_key(_LIST, page[-1].created_at, page[-1].id) if more else None
        return Page(load_cards(tx, self._stores, requester, page, as_of=as_of), cursor)

    def _search(
        self,
        tx: Tx,
        requester: Requester,
        form: str,
        *,
        as_of: datetime | None,
        after: str | None,
        limit: int,
    ) -> Page[PersonCard]:
        # The cursor holds (created_at, "rank id"): the rank is the first part of the order.
        after_key = None
        if after:
            at, key = decode_key(_SEARCH, after)
            rank, _, id_ = key.partition(" ")
            if not rank.isdecimal():
                raise unknown_cursor_error()
            after_key = (int(rank), at, id_)
        found = self._stores.people.search(
            tx, requester, form, as_of=as_of, after=after_key, limit=limit + 1
        )
        page = found[:limit]
        cursor = None
        if len(found) > limit:
            last_rank, last = page[-1]
            cursor = encode_key(_SEARCH, last.created_at, f"{last_rank} {last.id}")
        people = [one for _, one in page]
        return Page(load_cards(tx, self._stores, requester, people, as_of=as_of), cursor)

    def _update(
        self, tx: Tx, requester: Requester, person_id: PersonId, command: UpdatePerson
    ) -> PersonCard:
        person = self._lock_person(tx, requester, person_id)
        view = person_view(person, frozenset())
        may_change(requester.space_caller, view).require_allowed()
        sent = command.sent_fields
        if "time_zone" in sent:
            may_set_time_zone(requester.space_caller, view).require_allowed()
        # A time zone is one of a fixed list and can't hold a secret.
        refuse_secrets(name=command.name, metadata=command.metadata)
        changed = sorted(name for name in sent if sent[name] != getattr(person, name))
        if "name" in changed:
            self._names.refuse_pii(sent["name"], "name")
        if not changed:
            return load_card(tx, self._stores, requester, person)
        before, now = person, self._runtime.clock.now()
        person = replace(person, **sent, updated_at=now)
        self._stores.people.update(tx, before, person)
        payload = {"person_id": person.id, "fields": changed}
        self._audit.record(tx, requester, "person.update", payload=payload)
        return self._auto_merge_to_card(tx, requester, person)

    def _remove(self, tx: Tx, requester: Requester, person_id: PersonId) -> None:
        person = self._lock_person(tx, requester, person_id)
        may_delete(requester.space_caller, person_view(person, frozenset())).require_allowed()
        if self._stores.people.is_in_memories(tx, person.id, outside=requester.user_ids):
            message = "memories of others are about this person"
            raise Conflict(message, details={"reason": "has_memories"})
        self._stores.people.delete(tx, person.id)
        self._audit.record(tx, requester, "person.delete", payload={"person_id": person.id})

    def _lock_person(self, tx: Tx, requester: Requester, person_id: PersonId) -> Person:
        # Read again under the lock: a merge may have redirected the id in between.
        person = visible_person(tx, self._stores, requester, person_id)
        self._stores.people.lock(tx, [person.id])
        return visible_person(tx, self._stores, requester, person_id)

    def _resolve(
        self, tx: Tx, requester: Requester, name: str, chat_id: ChatId | None
    ) -> ResolvedName:
        if chat_id is not None:
            chat_id = visible_chat(tx, self._stores, requester, chat_id).id
        found = self._subjects.look_up_name(tx, requester, name, chat_id)
        ids = [*found.candidates, *([found.person_id] if found.person_id else [])]
        people = self._stores.people.fetch_many(tx, ids)
        cards = {
            card.person.id: card
            for card in load_cards(tx, self._stores, requester, list(people.values()))
        }
        card = cards.get(found.person_id) if found.person_id else None
        return ResolvedName(card, found.ambiguous, [cards[id_] for id_ in found.candidates])
