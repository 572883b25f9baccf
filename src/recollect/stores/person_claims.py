"""The store of claims about people: aliases and relationships, each with its stater."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Table, delete, insert, or_, select

from recollect.domain import jsontext
from recollect.domain.disclosure import PersonId
from recollect.domain.people import Alias, AliasKind, ClaimId, Relationship
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.people_tables import person_aliases, person_relationships
from recollect.stores.person_rows import (
    ALIAS,
    RELATIONSHIP,
    alias_from_row,
    alias_params,
    params_of,
    relationship_from_row,
    relationship_params,
)
from recollect.stores.person_visibility import (
    HEARD,
    OWN_PERSON,
    STATED_ALIAS,
    STATED_RELATIONSHIP,
    requester_params,
)
from recollect.stores.statements import Statement, param, word

_a, _r = person_aliases.c, person_relationships.c


class SqlClaims:
    def put_alias(self, tx: Tx, alias: Alias) -> Alias:
        params = alias_params(alias)
        row = tx.first(_SAME_ALIAS, params)
        if row is not None:
            return alias_from_row(row)
        tx.run(_INSERT_ALIAS, params)
        return alias

    def put_relationship(self, tx: Tx, relationship: Relationship) -> Relationship:
        params = relationship_params(relationship)
        # `to_person_id` is compared here, not in SQL: it may be NULL, which equals nothing there.
        for row in tx.fetch(_SAME_RELATIONSHIP, params):
            known = relationship_from_row(row)
            if known.to_person_id == relationship.to_person_id:
                return known
        tx.run(_INSERT_RELATIONSHIP, params)
        return relationship

    def aliases(self, tx: Tx, person_ids: Collection[PersonId]) -> list[Alias]:
        return [alias_from_row(row) for row in tx.fetch(_ALIASES, _among(person_ids))]

    def relationships(self, tx: Tx, person_ids: Collection[PersonId]) -> list[Relationship]:
        rows = tx.fetch(_RELATIONSHIPS, _among(person_ids))
        return [relationship_from_row(row) for row in rows]

    def delete_aliases(self, tx: Tx, claim_ids: Collection[ClaimId]) -> None:
        tx.run(_DELETE_ALIASES, _among(claim_ids))

    def delete_relationship(self, tx: Tx, claim_id: ClaimId) -> None:
        tx.run(_DELETE_RELATIONSHIP, {"id": claim_id})

    def spelled(self, tx: Tx, requester: Requester, form: str) -> list[Alias]:
        rows = tx.fetch(_SPELLED, requester_params(requester) | {"form": form})
        return [alias_from_row(row) for row in rows]

    def related(self, tx: Tx, requester: Requester, key: str) -> list[Relationship]:
        rows = tx.fetch(_RELATED, requester_params(requester) | {"key": key})
        return [relationship_from_row(row) for row in rows]


def _among(ids: Collection[str]) -> dict[str, Any]:
    return {"ids": jsontext.dump(sorted(set(ids)))}


def _same(table: Table, *names: str) -> list[Any]:
    return [table.c[name] == param(name, table.c[name]) for name in names]


_STATER = ("person_id", "added_by_kind", "added_by_id")
_IDS = param("ids")
_SAME_ALIAS = Statement(
    select(*ALIAS).where(*_same(person_aliases, *_STATER, "normal_value", "kind"))
)
_SAME_RELATIONSHIP = Statement(
    select(*RELATIONSHIP).where(*_same(person_relationships, *_STATER, "normal_relationship"))
)
_INSERT_ALIAS = Statement(insert(person_aliases).values(params_of(person_aliases)))
_INSERT_RELATIONSHIP = Statement(
    insert(person_relationships).values(params_of(person_relationships))
)
_ALIASES = Statement(
    select(*ALIAS).where(AmongTexts(_a.person_id, _IDS)).order_by(_a.created_at, _a.id)
)
_RELATIONSHIPS = Statement(
    select(*RELATIONSHIP).where(AmongTexts(_r.person_id, _IDS)).order_by(_r.created_at, _r.id)
)
_DELETE_ALIASES = Statement(delete(person_aliases).where(AmongTexts(_a.id, _IDS)))
_DELETE_RELATIONSHIP = Statement(delete(person_relationships).where(_r.id == param("id", _r.id)))
_SPELLED = Statement(
    select(*ALIAS).where(
        _a.normal_value == param("form", _a.normal_value),
        or_(
            _a.kind == word(AliasKind.HANDLE),
            STATED_ALIAS,
            _a.stated_by == _a.person_id,
            HEARD,
        ),
    )
)
_RELATED = Statement(
    select(*RELATIONSHIP).where(
        _r.normal_relationship == param("key", _r.normal_relationship),
        STATED_RELATIONSHIP,
        or_(_r.to_person_id.is_(None), _r.to_person_id == OWN_PERSON),
    )
)
