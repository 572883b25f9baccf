"""The store of people. Searches return only people whose name the requester may see."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    and_,
    case,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    tuple_,
    union_all,
    update,
)

from recollect.db.engines.expressions import AdvisoryLock, InTextList, insert_if_absent
from recollect.db.statements import Query, Row, param
from recollect.db.tables.people import (
    people,
    person_aliases,
    person_orgs,
    person_users,
)
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel import strict_json
from recollect.kernel.ids import OrgId, PersonId, UserId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.people.chat import ParticipantKeys
from recollect.people.model import Person
from recollect.people.store.participation_sql import (
    participant_params,
    people_sharing_chats,
)
from recollect.people.store.past import AS_OF, fetch_as_of, keep_version, name_then, was_known
from recollect.people.store.removal import (
    delete_person,
    has_other_references,
    is_in_memories,
)
from recollect.people.store.rows import (
    PERSON_COLUMNS,
    column_params,
    person_from_row,
    person_params,
)
from recollect.people.store.visibility import (
    LIVE,
    VISIBLE_ALIAS,
    may_see_name,
    requester_params,
)

_p, _l, _o, _a = people.c, person_users.c, person_orgs.c, person_aliases.c


class PersonStore:
    """People. An id that is passed in may be that of a merged person; every person that is returned
    is canonical."""

    def insert(self, tx: Tx, person: Person) -> None:
        """Insert a person with their orgs, without links to users."""
        tx.run(_INSERT, person_params(person))
        for org_id in sorted(person.orgs):
            tx.run(_JOIN_ORG, {"person_id": person.id, "org_id": org_id})

    def fetch(self, tx: Tx, person_id: PersonId) -> Person | None:
        """The person, without a visibility check."""
        return self.fetch_many(tx, [person_id]).get(person_id)

    def fetch_many(self, tx: Tx, person_ids: Collection[PersonId]) -> dict[PersonId, Person]:
        """Those people that exist, by the ids that were passed in; no visibility check."""
        if not person_ids:
            return {}
        # Two statements: ids to canonical ids, then the canonical rows. A canonical id and an id
        # that was merged into it give one row and two keys of the result.
        leads = {PersonId(row[0]): row[1] for row in tx.fetch(_CANONICAL, _ids_param(person_ids))}
        found = {
            one.id: one for one in _load_people(tx, tx.fetch(_FETCH, _ids_param(leads.values())))
        }
        return {requested_id: found[id_] for requested_id, id_ in leads.items() if id_ in found}

    def lock(self, tx: Tx, person_ids: Collection[PersonId]) -> None:
        """Lock the rows, in the order of their ids, until the transaction ends."""
        tx.lock(_LOCK, _ids_param(person_ids))

    def update(self, tx: Tx, before: Person, person: Person) -> None:
        """Store name, time zone, metadata and `updated_at`, and keep the version before."""
        keep_version(tx, before, until=person.updated_at)
        params = person_params(person)
        tx.run(_UPDATE, {name: params[name] for name in ("id", *_CHANGEABLE)})

    def delete(self, tx: Tx, person_id: PersonId) -> None:
        """Delete a canonical person, with claims about and by them, their participations, the
        people merged into them, and all references from memories."""
        delete_person(tx, person_id)

    def is_in_memories(self, tx: Tx, person_id: PersonId, *, outside: Collection[UserId]) -> bool:
        """Is a memory about them or stated by them, outside the spaces of these users?"""
        return is_in_memories(tx, person_id, outside=outside)

    def has_other_references(self, tx: Tx, requester: Requester, person_id: PersonId) -> bool:
        """Does anything that is not the requester's refer to the person: a memory outside the
        requester's spaces, a claim of somebody else, or a participation in a chat that the
        requester did not create, unless the requester came there earlier and never left?"""
        return has_other_references(tx, requester, person_id)

    def people_by_user(self, tx: Tx, user_ids: Collection[UserId]) -> dict[UserId, PersonId]:
        """The person of each user who has one."""
        rows = tx.fetch(_LINKS, _ids_param(user_ids))
        return {UserId(row[0]): PersonId(row[1]) for row in rows}

    def filter_sharing_chat(
        self, tx: Tx, requester: Requester, person_ids: Collection[PersonId]
    ) -> frozenset[PersonId]:
        """Those of these canonical people who share a current chat with the caller and are
        confirmed there."""
        if not person_ids:
            return frozenset()
        params = participant_params(ParticipantKeys.for_requester(requester)) | _ids_param(
            person_ids
        )
        return frozenset(PersonId(row[0]) for row in tx.fetch(_SHARING_CHAT, params))

    def as_of(self, tx: Tx, found: Collection[Person], as_of: datetime) -> list[Person]:
        """Those of these people who were known then, in their order, as they stood."""
        return fetch_as_of(tx, found, as_of)

    def page(
        self,
        tx: Tx,
        requester: Requester,
        *,
        as_of: datetime | None = None,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Person]:
        """People whose name the caller may see, the newest first; with `as_of` those who were
        known then."""
        params = requester_params(requester) | {"limit": limit, "as_of": as_of}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        query = _page(cursor=after is not None, past=as_of is not None)
        return _load_people(tx, tx.fetch(query, params))

    def search(
        self,
        tx: Tx,
        requester: Requester,
        form: str,
        *,
        as_of: datetime | None = None,
        after: tuple[int, datetime, str] | None,
        limit: int,
    ) -> list[tuple[int, Person]]:
        """Those of them whose name, or an alias that the caller may see, contains the normal form;
        each with a rank: 0 equal, 1 at the beginning of a word, 2 anywhere else. With `as_of` the
        names and aliases of then count."""
        params = requester_params(requester) | _like_patterns(form)
        params |= {"limit": limit, "as_of": as_of}
        if after is not None:
            params |= {"rank": after[0], "at": after[1], "id": after[2]}
        rows = tx.fetch(_search(cursor=after is not None, past=as_of is not None), params)
        ranks = [int(row[-1]) for row in rows]
        return list(zip(ranks, _load_people(tx, [row[:-1] for row in rows]), strict=True))

    def find_namesakes(
        self, tx: Tx, requester: Requester, form: str
    ) -> list[tuple[PersonId, Owner]]:
        """People with exactly this name, each with the creator of the name. The name of a person
        who was merged away still finds the canonical person, unless it was a handle: who said
        `@bob` has named nobody."""
        rows = tx.fetch(_NAMESAKES, requester_params(requester) | {"form": form})
        return [(PersonId(row[0]), Owner(OwnerKind(row[1]), row[2])) for row in rows]

    def lock_handle(self, tx: Tx, handle: str) -> None:
        """Lock a handle until the transaction ends, whether or not anybody bears it."""
        tx.lock(_LOCK_NAME, {"name": f"handle {handle}"})

    def find_awaited(
        self, tx: Tx, handle: str, provider: str | None, *, orgs: Collection[OrgId]
    ) -> list[PersonId]:
        """The people of these orgs who stand for the bearer of this handle, the oldest first. There
        may be several, since orgs don't know each other's."""
        params = {"handle": handle, "provider": provider or "", "orgs": _dump_sorted(orgs)}
        return [PersonId(row[0]) for row in tx.fetch(_FIND_AWAITED, params)]


def _ids_param(ids: Iterable[str]) -> dict[str, Any]:
    return {"ids": _dump_sorted(ids)}


def _dump_sorted(ids: Iterable[str]) -> str:
    return strict_json.dump(sorted(set(ids)))


def _load_people(tx: Tx, rows: Sequence[Row]) -> list[Person]:
    # Users and orgs come by two statements of their own: joins would multiply the rows of a page.
    ids = _ids_param(row[0] for row in rows)
    users: dict[str, list[str]] = {}
    orgs: dict[str, list[str]] = {}
    for statement, found in ((_USERS, users), (_ORGS, orgs)) if rows else ():
        for person_id, value in tx.fetch(statement, ids):
            found.setdefault(person_id, []).append(value)
    return [person_from_row(row, users.get(row[0], ()), orgs.get(row[0], ())) for row in rows]


def _like_patterns(form: str) -> dict[str, Any]:
    """Patterns for LIKE in which the text is taken literally."""
    literal = form.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return {
        "form": form,
        "start": f"{literal}%",
        "word": f"% {literal}%",
        "inside": f"%{literal}%",
    }


def _like(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    return column.like(param(name, column), escape="\\")


def _rank(column: ColumnElement[str]) -> ColumnElement[int]:
    begins = or_(_like(column, "start"), _like(column, "word"))
    return case((column == param("form", column), 0), (begins, 1), else_=2)


@cache
def _page(*, cursor: bool, past: bool) -> Query:
    known = (was_known(),) if past else ()
    query = select(*PERSON_COLUMNS).where(LIVE, may_see_name(), *known)
    if cursor:
        query = query.where(tuple_(_p.created_at, _p.id) < _CURSOR)
    return Query(query.order_by(_p.created_at.desc(), _p.id.desc()).limit(param("limit")))


def _matches(*, past: bool) -> Select[Any]:
    """Everybody whose name, or an alias that the caller may see, matches; with the best rank."""
    name = name_then() if past else _p.normal_name
    known, claimed = ((was_known(),), (_a.created_at <= AS_OF,)) if past else ((), ())
    by_name = select(_p.id, _rank(name).label("rank")).where(_like(name, "inside"), *known)
    by_alias = select(_a.person_id, _rank(_a.normal_value)).where(
        _like(_a.normal_value, "inside"), VISIBLE_ALIAS, *claimed
    )
    both = union_all(by_name, by_alias).subquery("both")
    return select(both.c.id, func.min(both.c.rank).label("rank")).group_by(both.c.id)


@cache
def _search(*, cursor: bool, past: bool) -> Query:
    matches = _matches(past=past).subquery("matches")
    query = (
        select(*PERSON_COLUMNS, matches.c.rank)
        .select_from(people.join(matches, matches.c.id == _p.id))
        .where(LIVE, may_see_name())
    )
    if cursor:
        # The order mixes directions (rank up, time and id down), so no single row comparison fits.
        rank = param("rank", literal_column("0", BigInteger))
        later = tuple_(_p.created_at, _p.id) < _CURSOR
        query = query.where(or_(matches.c.rank > rank, and_(matches.c.rank == rank, later)))
    query = query.order_by(matches.c.rank, _p.created_at.desc(), _p.id.desc())
    return Query(query.limit(param("limit")))


_CURSOR = tuple_(param("at", _p.created_at), param("id", _p.id))
_IDS = param("ids")
_INSERT = Query(insert(people).values(column_params(people)))
_JOIN_ORG = Query(insert_if_absent(person_orgs).values(column_params(person_orgs)))
_CANONICAL = Query(
    select(_p.id, func.coalesce(_p.merged_into, _p.id)).where(InTextList(_p.id, _IDS))
)
_FETCH = Query(select(*PERSON_COLUMNS).where(InTextList(_p.id, _IDS), LIVE))
_USERS = Query(select(_l.person_id, _l.user_id).where(InTextList(_l.person_id, _IDS)))
_ORGS = Query(select(_o.person_id, _o.org_id).where(InTextList(_o.person_id, _IDS)))
_LINKS = Query(select(_l.user_id, _l.person_id).where(InTextList(_l.user_id, _IDS)))
_LOCK = Query(select(_p.id).where(InTextList(_p.id, _IDS)).order_by(_p.id).with_for_update())
_CHANGEABLE = ("name", "normal_name", "time_zone", "metadata", "updated_at")
_UPDATE = Query(
    update(people)
    .where(_p.id == param("id", _p.id))
    .values({name: param(name, _p[name]) for name in _CHANGEABLE})
)
_SHARING_CHAT = Query(
    select(_p.id).where(InTextList(_p.id, _IDS), _p.id.in_(people_sharing_chats()))
)
_LOCK_NAME = Query(select(AdvisoryLock(param("name"))))
_FIND_AWAITED = Query(
    select(_p.id)
    .where(
        _p.awaited_handle == param("handle", _p.awaited_handle),
        func.coalesce(_p.awaited_provider, "") == param("provider", _p.awaited_provider),
        exists().where(_o.person_id == _p.id, InTextList(_o.org_id, param("orgs"))),
        LIVE,
    )
    .order_by(_p.created_at, _p.id)
)
# The name is looked up on all rows, redirects too; visibility is checked on the canonical person.
_known = people.alias("known")
_NAMESAKES = Query(
    select(_p.id, _known.c.created_by_kind, _known.c.created_by_id)
    .select_from(_known.join(people, _p.id == func.coalesce(_known.c.merged_into, _known.c.id)))
    .where(
        _known.c.normal_name == param("form", _known.c.normal_name),
        _known.c.awaited_handle.is_(None),
        LIVE,
        may_see_name(),
    )
)
