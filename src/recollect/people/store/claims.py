"""The store of claims about people: aliases and relationships, each with its stater."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, Table, delete, insert, or_, select, update

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.people import person_aliases, person_relationships
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel import strict_json
from recollect.kernel.ids import PersonId
from recollect.people.model import Alias, AliasKind, ClaimId, Relationship
from recollect.people.store.rows import (
    ALIAS_COLUMNS,
    RELATIONSHIP_COLUMNS,
    alias_from_row,
    alias_params,
    column_params,
    relationship_from_row,
    relationship_params,
)
from recollect.people.store.visibility import (
    OWN_PERSON,
    STATED_ALIAS_BY_CALLER,
    STATED_IN_OWN_CHAT,
    STATED_RELATIONSHIP_BY_CALLER,
    requester_params,
)

_a, _r = person_aliases.c, person_relationships.c


class ClaimStore:
    """Aliases and relationships, one for each person, word and stater."""

    def put_alias(self, tx: Tx, alias: Alias) -> Alias:
        """Insert the alias, unless the stater has one of that normal form, kind and provider;
        return the stored one. It is verified from then on if either is."""
        params = alias_params(alias)
        # The provider is compared here, not in SQL: it may be NULL, which equals nothing there.
        for row in tx.fetch(_SAME_ALIAS, params):
            known = alias_from_row(row)
            if known.provider == alias.provider:
                verified = known.verified or alias.verified
                tx.run(_VERIFY_ALIAS, {"id": known.id, "verified": verified})
                return replace(known, verified=verified)
        tx.run(_INSERT_ALIAS, params)
        return alias

    def put_relationship(self, tx: Tx, relationship: Relationship) -> Relationship:
        """Insert the claim, unless the stater has one of that key between the two; return the
        stored one."""
        params = relationship_params(relationship)
        # `to_person_id` is compared here, not in SQL: it may be NULL, which equals nothing there.
        for row in tx.fetch(_SAME_RELATIONSHIP, params):
            known = relationship_from_row(row)
            if known.to_person_id == relationship.to_person_id:
                return known
        tx.run(_INSERT_RELATIONSHIP, params)
        return relationship

    def aliases(
        self, tx: Tx, person_ids: Collection[PersonId], *, as_of: datetime | None = None
    ) -> list[Alias]:
        """All aliases of canonical people, oldest first; with `as_of` those stated by then."""
        params = _ids_param(person_ids) | {"as_of": as_of}
        return [alias_from_row(row) for row in tx.fetch(_aliases(past=as_of is not None), params)]

    def relationships(
        self, tx: Tx, person_ids: Collection[PersonId], *, as_of: datetime | None = None
    ) -> list[Relationship]:
        """All relationships of canonical people, oldest first; with `as_of` those stated by
        then."""
        params = _ids_param(person_ids) | {"as_of": as_of}
        rows = tx.fetch(_relationships(past=as_of is not None), params)
        return [relationship_from_row(row) for row in rows]

    def delete_aliases(self, tx: Tx, claim_ids: Collection[ClaimId]) -> None:
        tx.run(_DELETE_ALIASES, _ids_param(claim_ids))

    def delete_relationship(self, tx: Tx, claim_id: ClaimId) -> None:
        tx.run(_DELETE_RELATIONSHIP, {"id": claim_id})

    def find_aliases(self, tx: Tx, requester: Requester, form: str) -> list[Alias]:
        """Aliases of exactly this normal form that count when the caller resolves a name: handles,
        the caller's own claims, what people claim of themselves, and what was claimed in a chat
        where the caller takes part now."""
        rows = tx.fetch(_FIND_ALIASES, requester_params(requester) | {"form": form})
        return [alias_from_row(row) for row in rows]

    def find_relationships(self, tx: Tx, requester: Requester, key: str) -> list[Relationship]:
        """The caller's own claims, under this key, of what somebody is to the caller."""
        rows = tx.fetch(_FIND_RELATIONSHIPS, requester_params(requester) | {"key": key})
        return [relationship_from_row(row) for row in rows]


def _ids_param(ids: Collection[str]) -> dict[str, Any]:
    return {"ids": strict_json.dump(sorted(set(ids)))}


@cache
def _aliases(*, past: bool) -> Query:
    return Query(_claims_about(select(*ALIAS_COLUMNS), person_aliases, past=past))


@cache
def _relationships(*, past: bool) -> Query:
    return Query(_claims_about(select(*RELATIONSHIP_COLUMNS), person_relationships, past=past))


def _claims_about(query: Select[Any], claims: Table, *, past: bool) -> Select[Any]:
    c = claims.c
    about = query.where(InTextList(c.person_id, _IDS)).order_by(c.created_at, c.id)
    return about.where(c.created_at <= param("as_of", c.created_at)) if past else about


def _equals_params(table: Table, *names: str) -> list[Any]:
    return [table.c[name] == param(name, table.c[name]) for name in names]


_STATER = ("person_id", "added_by_kind", "added_by_id")
_IDS = param("ids")
_SAME_ALIAS = Query(
    select(*ALIAS_COLUMNS).where(*_equals_params(person_aliases, *_STATER, "normal_value", "kind"))
)
_SAME_RELATIONSHIP = Query(
    select(*RELATIONSHIP_COLUMNS).where(
        *_equals_params(person_relationships, *_STATER, "normal_relationship")
    )
)
_INSERT_ALIAS = Query(insert(person_aliases).values(column_params(person_aliases)))
_VERIFY_ALIAS = Query(
    update(person_aliases)
    .where(_a.id == param("id", _a.id))
    .values(verified=param("verified", _a.verified))
)
_INSERT_RELATIONSHIP = Query(
    insert(person_relationships).values(column_params(person_relationships))
)
_DELETE_ALIASES = Query(delete(person_aliases).where(InTextList(_a.id, _IDS)))
_DELETE_RELATIONSHIP = Query(delete(person_relationships).where(_r.id == param("id", _r.id)))
_FIND_ALIASES = Query(
    select(*ALIAS_COLUMNS).where(
        _a.normal_value == param("form", _a.normal_value),
        or_(
            _a.kind == literal_word(AliasKind.HANDLE),
            STATED_ALIAS_BY_CALLER,
            _a.stated_by == _a.person_id,
            STATED_IN_OWN_CHAT,
        ),
    )
)
_FIND_RELATIONSHIPS = Query(
    select(*RELATIONSHIP_COLUMNS).where(
        _r.normal_relationship == param("key", _r.normal_relationship),
        STATED_RELATIONSHIP_BY_CALLER,
        or_(_r.to_person_id.is_(None), _r.to_person_id == OWN_PERSON),
    )
)
