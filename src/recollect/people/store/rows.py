"""Converts rows of people, aliases and relationships to domain objects and back."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Column, Table

from recollect.db.statements import Row, param
from recollect.db.tables.people import (
    people,
    person_aliases,
    person_relationships,
)
from recollect.kernel import strict_json
from recollect.kernel.ids import ChatId, OrgId, PersonId, UserId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.people.model import (
    Alias,
    AliasKind,
    ClaimId,
    Person,
    Relationship,
    normal_form,
)
from recollect.people.relationship_words import relationship_key


def columns_except(table: Table, *names: str) -> tuple[Column[Any], ...]:
    """The columns of a table without these."""
    return tuple(column for column in table.columns if column.name not in names)


# The `..._from_row` functions below take the columns in this order.
PERSON_COLUMNS = columns_except(people, "normal_name", "erasure_id")
ALIAS_COLUMNS = columns_except(person_aliases, "normal_value")
RELATIONSHIP_COLUMNS = columns_except(person_relationships, "normal_relationship")


def column_params(table: Table) -> dict[str, Any]:
    """A parameter for each column, of the same name."""
    return {column.name: param(column.name, column) for column in table.columns}


def person_params(person: Person) -> dict[str, Any]:
    """One value for each column of people."""
    return {
        "id": person.id,
        "name": person.name,
        "normal_name": normal_form(person.name),
        "time_zone": person.time_zone,
        "created_by_kind": person.created_by.kind,
        "created_by_id": person.created_by.id,
        "created_at": person.created_at,
        "updated_at": person.updated_at,
        "merged_into": person.merged_into,
        "metadata": strict_json.dump(person.metadata),
        "erasure_id": None,
        "awaited_handle": person.awaited_handle,
        "awaited_provider": person.awaited_provider,
    }


def person_from_row(row: Row, user_ids: Iterable[str], orgs: Iterable[str]) -> Person:
    """The columns are those of PERSON."""
    return Person(
        id=PersonId(row[0]),
        name=row[1],
        user_ids=tuple(map(UserId, sorted(user_ids))),
        time_zone=row[2],
        created_by=Owner(OwnerKind(row[3]), row[4]),
        orgs=frozenset(map(OrgId, orgs)),
        created_at=row[5],
        updated_at=row[6],
        merged_into=PersonId(row[7]) if row[7] is not None else None,
        metadata=strict_json.load(row[8]),
        awaited_handle=row[9],
        awaited_provider=row[10],
    )


def alias_params(alias: Alias) -> dict[str, Any]:
    """One value for each column of aliases."""
    return {
        "id": alias.id,
        "person_id": alias.person_id,
        "value": alias.value,
        "normal_value": normal_form(alias.value),
        "kind": alias.kind,
        "provider": alias.provider,
        "added_by_kind": alias.added_by.kind,
        "added_by_id": alias.added_by.id,
        "stated_by": alias.stated_by,
        "chat_id": alias.chat_id,
        "created_at": alias.created_at,
        "verified": alias.verified,
    }


def alias_from_row(row: Row) -> Alias:
    """The columns are those of ALIAS."""
    return Alias(
        id=ClaimId(row[0]),
        person_id=PersonId(row[1]),
        value=row[2],
        kind=AliasKind(row[3]),
        provider=row[4],
        added_by=Owner(OwnerKind(row[5]), row[6]),
        stated_by=PersonId(row[7]) if row[7] is not None else None,
        chat_id=ChatId(row[8]) if row[8] is not None else None,
        created_at=row[9],
        verified=bool(row[10]),
    )


def relationship_params(claim: Relationship) -> dict[str, Any]:
    """One value for each column of relationships."""
    return {
        "id": claim.id,
        "person_id": claim.person_id,
        "relationship": claim.relationship,
        "normal_relationship": relationship_key(claim.relationship),
        "to_person_id": claim.to_person_id,
        "added_by_kind": claim.stated_by.kind,
        "added_by_id": claim.stated_by.id,
        "stated_by": claim.stated_by_person,
        "chat_id": claim.chat_id,
        "created_at": claim.created_at,
    }


def relationship_from_row(row: Row) -> Relationship:
    """The columns are those of RELATIONSHIP."""
    return Relationship(
        id=ClaimId(row[0]),
        person_id=PersonId(row[1]),
        relationship=row[2],
        to_person_id=PersonId(row[3]) if row[3] is not None else None,
        stated_by=Owner(OwnerKind(row[4]), row[5]),
        stated_by_person=PersonId(row[6]) if row[6] is not None else None,
        chat_id=ChatId(row[7]) if row[7] is not None else None,
        created_at=row[8],
    )
