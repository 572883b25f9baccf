"""States and withdraws claims about people: aliases, handles and relationships. A claim belongs to
its stater, and only the stater may withdraw it."""

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict, Forbidden, NotFound
from recollect.kernel.ids import PersonId
from recollect.kernel.runtime import Runtime
from recollect.people.cards import effective_stater, load_card
from recollect.people.commands import AddAlias, AddRelationship
from recollect.people.model import (
    Alias,
    AliasKind,
    ClaimId,
    Person,
    Relationship,
    check_alias,
    check_alias_count,
    check_relationship,
    normal_form,
)
from recollect.people.name_candidates import person_view, visible_person
from recollect.people.name_rules import RELATIONSHIP_HINT, PersonNameScreen
from recollect.people.policy import (
    ClaimView,
    may_add_alias,
    may_take_handle,
    may_withdraw,
)
from recollect.people.store.bundle import PeopleStores
from recollect.screening.secret_check import refuse_secrets


class PersonClaims:
    """Adds claims inside the transaction of the caller."""

    def __init__(self, stores: PeopleStores, runtime: Runtime, names: PersonNameScreen) -> None:
        self._stores = stores
        self._runtime = runtime
        self._names = names

    def add_alias(
        self, tx: Tx, requester: Requester, person: Person, command: AddAlias, *, field: str = ""
    ) -> Alias:
        """Add the caller's alias; an equal one of the caller is returned unchanged."""
        refuse_secrets(**{f"{field}value": command.value, f"{field}provider": command.provider})
        if command.kind is AliasKind.ALIAS:
            self._names.refuse_pii(command.value, f"{field}value")
        else:
            require_free_handle(tx, self._stores, requester, command.value, field=f"{field}value")
        alias = Alias(
            id=ClaimId(self._runtime.ids.new()),
            person_id=person.id,
            value=command.value,
            kind=command.kind,
            provider=command.provider,
            added_by=requester.identity,
            stated_by=requester.person_id,
            created_at=self._runtime.clock.now(),
            verified=requester.is_admin or requester.principal.trusted,
        )
        stored = self._stores.claims.put_alias(tx, alias)
        if stored.id == alias.id:
            check_alias_count(len(self._stores.claims.aliases(tx, [person.id])))
        return stored

    def add_relationship(
        self,
        tx: Tx,
        requester: Requester,
        person: Person,
        command: AddRelationship,
        *,
        field: str = "",
    ) -> Relationship:
        """Add the caller's claim; an equal one of the caller is returned unchanged."""
        to_person_id = requester.person_id
        if command.to_person_id is not None:
            to_person_id = visible_person(tx, self._stores, requester, command.to_person_id).id
        name = f"{field}relationship"
        refuse_secrets(**{name: command.relationship})
        self._names.refuse_pii(command.relationship, name, wanted=RELATIONSHIP_HINT)
        claim = Relationship(
            id=ClaimId(self._runtime.ids.new()),
            person_id=person.id,
            relationship=command.relationship,
            to_person_id=to_person_id,
            stated_by=requester.identity,
            stated_by_person=requester.person_id,
            created_at=self._runtime.clock.now(),
        )
        return self._stores.claims.put_relationship(tx, claim)


def require_free_handle(
    tx: Tx, stores: PeopleStores, requester: Requester, handle: str, *, field: str
) -> None:
    """Conflict if the handle is the id of another user: handles are resolved before names, so
    everybody would find this person instead of that user. Admins may."""
    users = stores.users.find_by_handle(tx, handle, requester.orgs) - requester.user_ids
    if not may_take_handle(requester.space_caller, of_another=bool(users)).allowed:
        message = f"{field}: is the id of another user; only that user or an admin may state it"
        raise Conflict(message, details={"reason": "id_taken", "field": field})


class ClaimService:
    def __init__(
        self, context: ServiceContext[PeopleStores], audit: MemoryAudit, *, names: PersonNameScreen
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._audit = audit
        self._claims = PersonClaims(context.stores, context.runtime, names)

    async def add_alias(
        self, requester: Requester, person_id: PersonId, command: AddAlias
    ) -> Alias:
        """Needs the right to change the person; a handle of a user's person needs that user or an
        admin."""
        check_alias(command.value, command.provider)
        async with self._audit.audit_refusals(requester, "addAlias"):
            return await self._database.write(
                lambda tx: self._add_alias(tx, requester, person_id, command)
            )

    async def add_relationship(
        self, requester: Requester, person_id: PersonId, command: AddRelationship
    ) -> Relationship:
        """Anybody who may see the person may state a relationship."""
        check_relationship(command.relationship)

        def work(tx: Tx) -> Relationship:
            person = self._lock_person(tx, requester, person_id)
            claim = self._claims.add_relationship(tx, requester, person, command)
            self._record(tx, requester, person, "relationships")
            return claim

        async with self._audit.audit_refusals(requester, "addRelationship"):
            return await self._database.write(work)

    async def withdraw_alias(self, requester: Requester, person_id: PersonId, value: str) -> None:
        """Withdraw the caller's own aliases and handles of that normal form. NotFound if the caller
        sees none, Forbidden if they are all of others."""
        async with self._audit.audit_refusals(requester, "deleteAlias"):
            await self._database.write(
                lambda tx: self._withdraw_alias(tx, requester, person_id, value)
            )

    async def withdraw_relationship(
        self, requester: Requester, person_id: PersonId, claim_id: ClaimId
    ) -> None:
        """Withdraw a claim of the caller. NotFound if the caller does not see it, Forbidden if it
        is somebody else's."""
        async with self._audit.audit_refusals(requester, "deleteRelationship"):
            await self._database.write(
                lambda tx: self._withdraw_relationship(tx, requester, person_id, claim_id)
            )

    def _add_alias(
        self, tx: Tx, requester: Requester, person_id: PersonId, command: AddAlias
    ) -> Alias:
        person = self._lock_person(tx, requester, person_id)
        view = person_view(person, frozenset())
        handle = command.kind is AliasKind.HANDLE
        may_add_alias(requester.space_caller, view, handle=handle).require_allowed()
        alias = self._claims.add_alias(tx, requester, person, command)
        self._record(tx, requester, person, "aliases")
        return alias

    def _withdraw_alias(
        self, tx: Tx, requester: Requester, person_id: PersonId, value: str
    ) -> None:
        person = self._lock_person(tx, requester, person_id)
        form = normal_form(value)
        aliases = load_card(tx, self._stores, requester, person).aliases
        named = [one for one in aliases if normal_form(one.value) == form]
        self._require_own(requester, named, value)
        own = [one.id for one in named if effective_stater(requester, one) == requester.identity]
        self._stores.claims.delete_aliases(tx, own)
        self._record(tx, requester, person, "aliases")

    def _withdraw_relationship(
        self, tx: Tx, requester: Requester, person_id: PersonId, claim_id: ClaimId
    ) -> None:
        person = self._lock_person(tx, requester, person_id)
        claims = load_card(tx, self._stores, requester, person).relationships
        named = [one for one in claims if one.id == claim_id]
        self._require_own(requester, named, claim_id)
        self._stores.claims.delete_relationship(tx, claim_id)
        self._record(tx, requester, person, "relationships")

    def _require_own(
        self, requester: Requester, claims: list[Alias] | list[Relationship], id_: str
    ) -> None:
        if not claims:
            raise NotFound("claim", id_)
        views = [ClaimView(effective_stater(requester, one)) for one in claims]
        if not any(may_withdraw(requester.space_caller, view).allowed for view in views):
            raise Forbidden("only the stater of a claim may withdraw it", code="not_owner")

    def _lock_person(self, tx: Tx, requester: Requester, person_id: PersonId) -> Person:
        # Read again under the lock: a merge may have redirected the id in between. The lock also
        # keeps two requests from inserting the same claim, and the count of aliases correct.
        person = visible_person(tx, self._stores, requester, person_id)
        self._stores.people.lock(tx, [person.id])
        return visible_person(tx, self._stores, requester, person_id)

    def _record(self, tx: Tx, requester: Requester, person: Person, field: str) -> None:
        payload = {"person_id": person.id, "fields": [field]}
        self._audit.record(tx, requester, "person.update", payload=payload)
