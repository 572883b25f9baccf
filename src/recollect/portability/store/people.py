"""SQL for people in export and import, with their links to users and orgs and their claims."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from recollect.db.engines.expressions import InTextList, insert_if_absent
from recollect.db.statements import Query, param
from recollect.db.tables.people import (
    person_aliases,
    person_orgs,
    person_relationships,
    person_users,
    user_orgs,
)
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.portability.store import rows
from recollect.portability.store.rows import LineValues


def add_person_parts(tx: Tx, found: Sequence[LineValues]) -> None:
    """Add users (with their orgs), orgs, aliases and relationships to the values of people, by one
    query each for the whole page."""
    ids = _ids_param([values["id"] for values in found])
    users = rows.group_texts(tx.fetch(_USERS, ids))
    user_ids = _ids_param([user for several in users.values() for user in several])
    orgs_of_users = rows.group_texts(tx.fetch(_USER_ORGS, user_ids))
    orgs = rows.group_texts(tx.fetch(_ORGS, ids))
    aliases = rows.group_by_person(tx.fetch(_ALIASES, ids), rows.ALIASES, 1)
    relationships = rows.group_by_person(tx.fetch(_RELATIONSHIPS, ids), rows.RELATIONSHIPS, 1)
    for values in found:
        id_ = values["id"]
        linked = users.get(id_, [])
        values["users"] = [{"id": one, "orgs": orgs_of_users.get(one, [])} for one in linked]
        values["orgs"] = orgs.get(id_, [])
        values["aliases"] = [_drop_person_id(one) for one in aliases.get(id_, [])]
        values["relationships"] = [_drop_person_id(one) for one in relationships.get(id_, [])]


def _drop_person_id(claim: LineValues) -> LineValues:
    return {name: value for name, value in claim.items() if name != "person_id"}


def put_person(tx: Tx, values: Mapping[str, Any]) -> bool:
    """Insert a person with all of that; False if the id is taken. A user who is linked to another
    person stays linked to it."""
    if tx.fetch_first(_INSERT_PERSON, rows.PEOPLE.to_params(values)) is None:
        return False
    person = {"person_id": values["id"]}
    for org_id in values["orgs"] or ():
        tx.run(_JOIN_ORG, person | {"org_id": org_id})
    for user in values["users"] or ():
        tx.run(_LINK_USER, person | {"user_id": user["id"]})
        for org_id in user["orgs"] or ():
            tx.run(_JOIN_USER_ORG, {"user_id": user["id"], "org_id": org_id})
    for alias in values["aliases"] or ():
        tx.run(_INSERT_ALIAS, rows.ALIASES.to_params(alias | person))
    for claim in values["relationships"] or ():
        tx.run(_INSERT_RELATIONSHIP, rows.RELATIONSHIPS.to_params(claim | person))
    return True


def _ids_param(ids: Collection[str]) -> dict[str, Any]:
    return {"ids": strict_json.dump(sorted(ids))}


_IDS = param("ids")
_INSERT_PERSON = rows.PEOPLE.insert_query
_INSERT_ALIAS, _INSERT_RELATIONSHIP = rows.ALIASES.insert_query, rows.RELATIONSHIPS.insert_query
_l, _o, _w = person_users.c, person_orgs.c, user_orgs.c
_n, _b = person_aliases.c, person_relationships.c
_USERS = Query(
    select(_l.person_id, _l.user_id).where(InTextList(_l.person_id, _IDS)).order_by(_l.user_id)
)
_USER_ORGS = Query(
    select(_w.user_id, _w.org_id).where(InTextList(_w.user_id, _IDS)).order_by(_w.org_id)
)
_ORGS = Query(
    select(_o.person_id, _o.org_id).where(InTextList(_o.person_id, _IDS)).order_by(_o.org_id)
)
_ALIASES = Query(
    select(*rows.ALIASES.columns)
    .where(InTextList(_n.person_id, _IDS))
    .order_by(_n.created_at, _n.id)
)
_RELATIONSHIPS = Query(
    select(*rows.RELATIONSHIPS.columns)
    .where(InTextList(_b.person_id, _IDS))
    .order_by(_b.created_at, _b.id)
)
_PERSON_ID = param("person_id", _l.person_id)
_JOIN_ORG = Query(
    insert_if_absent(person_orgs).values(person_id=_PERSON_ID, org_id=param("org_id", _o.org_id))
)
_LINK_USER = Query(
    insert_if_absent(person_users, "user_id").values(
        person_id=_PERSON_ID, user_id=param("user_id", _l.user_id)
    )
)
_JOIN_USER_ORG = Query(
    insert_if_absent(user_orgs).values(
        user_id=param("user_id", _w.user_id), org_id=param("org_id", _w.org_id)
    )
)
