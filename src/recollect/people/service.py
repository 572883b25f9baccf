"""Creates, finds, changes and deletes people, and resolves names. Claims and merges have services
of their own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.decide import AccessDecision
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict, Forbidden
from recollect.kernel.ids import ChatId, PersonId
from recollect.kernel.pages import (
    Page,
    decode_key,
    encode_key,
    unknown_cursor_error,
)
from recollect.kernel.validation import check_metadata
from recollect.people.cards import PersonCard, load_card, load_cards
from recollect.people.chats_service import visible_chat
from recollect.people.claims_service import (
    AliasDraft,
    PersonClaims,
    RelationshipDraft,
)
from recollect.people.merge_service import MergeService
from recollect.people.model import (
    Person,
    check_alias_count,
    check_person_name,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPerson:
    """A person to create, with the caller's claims about them."""

    name: str
    aliases: tuple[AliasDraft, ...] = ()
    relationships: tuple[RelationshipDraft, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


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

    async def create(self, requester: Requester, new: NewPerson) -> PersonCard:
        """Create a person, visible in the caller's orgs. With `people.auto_merge` the result may be
        an older person into whom the new one was merged."""
        check_person_name(new.name)
        check_metadata(new.metadata)
        check_alias_count(len(new.aliases))
        for place, alias in enumerate(new.aliases):
            alias.check(f"aliases[{place}].")
        for place, relationship in enumerate(new.relationships):
            relationship.check(f"relationships[{place}].")
        async with self._audit.audit_refusals(requester, "createPerson"):
            return await self._database.write(lambda tx: self._create(tx, requester, new))

    async def get(self, requester: Requester, person_id: PersonId) -> PersonCard:
        """The canonical person; NotFound if the caller may not see the name."""

        def work(tx: Tx) -> PersonCard:
            person = visible_person(tx, self._stores, requester, person_id)
            return load_card(tx, self._stores, requester, person)

        return await self._database.read(work)

    async def list(
        self, requester: Requester, *, query: str | None, after: str | None, limit: int
    ) -> Page[PersonCard]:
        """People whose name the caller may see, the newest first. With a query, those whose name,
        or an alias that the caller may see, contains it, the best match first."""
        form = normal_form(query or "")
        if form:
            return await self._database.scan(
                lambda tx: self._search(tx, requester, form, after=after, limit=limit)
            )
        return await self._database.read(
            lambda tx: self._page(tx, requester, after=after, limit=limit)
        )

    async def update(
        self, requester: Requester, person_id: PersonId, members: Mapping[str, Any]
    ) -> PersonCard:
        """`members` are the fields that were sent: name, time_zone, metadata."""
        _check_change(members)
        async with self._audit.audit_refusals(requester, "updatePerson"):
            return await self._database.write(
                lambda tx: self._update(tx, requester, person_id, members)
            )

    async def remove(self, requester: Requester, person_id: PersonId) -> None:
        """Conflict if a memory outside the caller's own spaces refers to the person."""
        async with self._audit.audit_refusals(requester, "deletePerson"):
            await self._database.write(lambda tx: self._remove(tx, requester, person_id))

    async def resolve(
        self, requester: Requester, name: str, chat_id: ChatId | None
    ) -> ResolvedName:
        """The person that the name would mean in a write by the caller. Creates nobody. NotFound
        for a chat where the caller does not take part."""
        check_person_name(name)
        return await self._database.read(lambda tx: self._resolve(tx, requester, name, chat_id))

    def _create(self, tx: Tx, requester: Requester, new: NewPerson) -> PersonCard:
        refuse_secrets(name=new.name, metadata=new.metadata)
        self._names.refuse_pii(new.name, "name")
        now = self._runtime.clock.now()
        person = Person(
            id=PersonId(self._runtime.ids.new()),
            name=new.name,
            created_by=requester.identity,
            orgs=requester.orgs,
            created_at=now,
            updated_at=now,
            metadata=new.metadata,
        )
        self._stores.people.insert(tx, person)
        for place, alias in enumerate(new.aliases):
            self._claims.add_alias(tx, requester, person, alias, field=f"aliases[{place}].")
        for place, one in enumerate(new.relationships):
            self._claims.add_relationship(
                tx, requester, person, one, field=f"relationships[{place}]."
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
        self, tx: Tx, requester: Requester, *, after: str | None, limit: int
    ) -> Page[PersonCard]:
        place = decode_key(_LIST, after) if after else None
        found = self._stores.people.page(tx, requester, after=place, limit=limit + 1)
        shown = found[:limit]
        more = len(found) > limit
        cursor = encode_key(_LIST, shown[-1].created_at, shown[-1].id) if more else None
        return Page(load_cards(tx, self._stores, requester, shown), cursor)

    def _search(
        self, tx: Tx, requester: Requester, form: str, *, after: str | None, limit: int
    ) -> Page[PersonCard]:
        # The cursor holds (created_at, "rank id"): the rank is the first part of the order.
        place = None
        if after:
            at, key = decode_key(_SEARCH, after)
            rank, _, id_ = key.partition(" ")
            if not rank.isdecimal():
                raise unknown_cursor_error()
            place = (int(rank), at, id_)
        found = self._stores.people.search(tx, requester, form, after=place, limit=limit + 1)
        shown = found[:limit]
        cursor = None
        if len(found) > limit:
            rank_, last = shown[-1]
            cursor = encode_key(_SEARCH, last.created_at, f"{rank_} {last.id}")
        return Page(load_cards(tx, self._stores, requester, [one for _, one in shown]), cursor)

    def _update(
        self, tx: Tx, requester: Requester, person_id: PersonId, members: Mapping[str, Any]
    ) -> PersonCard:
        person = self._lock_person(tx, requester, person_id)
        view = person_view(person, frozenset())
        _require(may_change(requester.space_caller, view))
        if "time_zone" in members:
            _require(may_set_time_zone(requester.space_caller, view))
        # A time zone is one of a fixed list and can't hold a secret.
        refuse_secrets(**{name: members[name] for name in members if name != "time_zone"})
        changed = sorted(name for name in members if members[name] != getattr(person, name))
        if "name" in changed:
            self._names.refuse_pii(members["name"], "name")
        if not changed:
            return load_card(tx, self._stores, requester, person)
        person = replace(person, **members, updated_at=self._runtime.clock.now())
        self._stores.people.update(tx, person)
        payload = {"person_id": person.id, "fields": changed}
        self._audit.record(tx, requester, "person.update", payload=payload)
        return self._auto_merge_to_card(tx, requester, person)

    def _remove(self, tx: Tx, requester: Requester, person_id: PersonId) -> None:
        person = self._lock_person(tx, requester, person_id)
        _require(may_delete(requester.space_caller, person_view(person, frozenset())))
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
            visible_chat(tx, self._stores, requester, chat_id)
        found = self._subjects.look_up_name(tx, requester, name, chat_id)
        asked = [*found.candidates, *([found.person_id] if found.person_id else [])]
        people = self._stores.people.fetch_many(tx, asked)
        shown = {
            one.person.id: one
            for one in load_cards(tx, self._stores, requester, list(people.values()))
        }
        meant = shown.get(found.person_id) if found.person_id else None
        return ResolvedName(meant, found.ambiguous, [shown[id_] for id_ in found.candidates])


def _check_change(members: Mapping[str, Any]) -> None:
    if "name" in members:
        check_person_name(members["name"])
    if members.get("time_zone") is not None:
        check_time_zone(members["time_zone"])
    check_metadata(members.get("metadata", {}))


def _require(decision: AccessDecision) -> None:
    if not decision.allowed:
        raise Forbidden(f"not allowed: {decision.rule}", code="not_owner")
