"""People as they stood at an earlier instant. A change keeps the version before it; the present one
is the row of `people`."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from sqlalchemy import ColumnElement, and_, exists, func, insert, or_, select

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, Row, param
from recollect.db.tables.people import people, person_versions
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.clock import to_text
from recollect.kernel.ids import PersonId
from recollect.people.model import Person, normal_form
from recollect.people.store.rows import column_params

_p, _v = people.c, person_versions.c
AS_OF = param("as_of", _p.created_at)


def keep_version(tx: Tx, before: Person, *, until: datetime) -> None:
    """Keep the version that a change ends. One that never stood, because it was changed within the
    same instant, is not kept."""
    if before.updated_at < until:
        tx.run(_KEEP, _version_params(before, until))


def fetch_as_of(tx: Tx, found: Collection[Person], as_of: datetime) -> list[Person]:
    """Those of these canonical people who were known then, in their order, as they stood."""
    if not found:
        return []
    params = {"ids": strict_json.dump(sorted({one.id for one in found})), "as_of": as_of}
    known = {row[0] for row in tx.fetch(_KNOWN, params)}
    versions = {row[0]: row[1:] for row in tx.fetch(_VERSIONS, params)}
    return [_restore(one, versions.get(one.id)) for one in found if one.id in known]


def was_known() -> ColumnElement[bool]:
    """Did this row of `people`, or one that was merged into it since, exist at `as_of`?"""
    earlier = people.alias("earlier").c
    merged = exists().where(earlier.merged_into == _p.id, earlier.created_at <= AS_OF)
    return or_(_p.created_at <= AS_OF, merged)


def name_then() -> ColumnElement[str]:
    """The normal form of the name that this row of `people` had at `as_of`."""
    then = select(_v.normal_name).where(_v.person_id == _p.id, _contains_as_of())
    return func.coalesce(then.correlate(people).scalar_subquery(), _p.normal_name)


def _contains_as_of() -> ColumnElement[bool]:
    return and_(_v.updated_at <= AS_OF, _v.until > AS_OF)


def _restore(person: Person, version: Row | None) -> Person:
    if version is None:
        return person
    name, time_zone, metadata, updated_at = version
    return replace(
        person,
        name=name,
        time_zone=time_zone,
        metadata=strict_json.load(metadata),
        updated_at=updated_at,
    )


def _version_params(person: Person, until: datetime) -> dict[str, object]:
    return {
        "id": f"{person.id} {to_text(until)}",
        "person_id": PersonId(person.id),
        "name": person.name,
        "normal_name": normal_form(person.name),
        "time_zone": person.time_zone,
        "metadata": strict_json.dump(person.metadata),
        "updated_at": person.updated_at,
        "until": until,
    }


_IDS = param("ids")
_KEEP = Query(insert(person_versions).values(column_params(person_versions)))
_KNOWN = Query(select(_p.id).where(InTextList(_p.id, _IDS), was_known()))
_VERSIONS = Query(
    select(_v.person_id, _v.name, _v.time_zone, _v.metadata, _v.updated_at).where(
        InTextList(_v.person_id, _IDS), _contains_as_of()
    )
)
