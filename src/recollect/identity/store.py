"""SQL for users: which person a user belongs to, and which orgs they were last seen in."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, or_, select

from recollect.db.engines.expressions import InTextList, insert_if_absent
from recollect.db.statements import Query, param
from recollect.db.tables.people import (
    people,
    person_orgs,
    person_users,
    user_orgs,
)
from recollect.db.transaction import Tx
from recollect.identity.model import KnownUser
from recollect.jobs.ports import JobStores
from recollect.kernel import strict_json
from recollect.kernel.ids import OrgId, PersonId, UserId
from recollect.kernel.owner import OwnerKind
from recollect.people.model import normal_form

_p, _l, _o = people.c, person_users.c, user_orgs.c


class UserStore:
    """Users and their people."""

    def fetch(self, tx: Tx, user_id: UserId) -> KnownUser | None:
        """None for a user who is not known yet."""
        rows = tx.fetch(_LINKS, {"user_id": user_id})
        if not rows:
            return None
        orgs = tx.fetch(_ORGS, {"user_id": user_id})
        return KnownUser(
            PersonId(rows[0][0]),
            frozenset(UserId(row[1]) for row in rows),
            frozenset(OrgId(row[0]) for row in orgs),
        )

    def find_by_handle(self, tx: Tx, handle: str, orgs: frozenset[OrgId]) -> frozenset[UserId]:
        """Users of these orgs whose id is this handle, in any letter case, with or without `@`."""
        form = normal_form(handle)
        # Not every database can lower-case letters beyond ASCII. So the usual spellings are also
        # compared as they are.
        shapes = (form, form.upper(), form.title(), form.capitalize())
        params = {
            "orgs": strict_json.dump(sorted(orgs)),
            "forms": strict_json.dump(_handle_spellings(form)),
            "spellings": strict_json.dump(_handle_spellings(*shapes)),
        }
        return frozenset(UserId(row[0]) for row in tx.fetch(_FIND_BY_HANDLE, params))

    def insert_person(
        self, tx: Tx, user_id: UserId, person_id: PersonId, *, name: str, at: datetime
    ) -> None:
        """Insert the user's person, unless a concurrent call did so first."""
        # The link decides a race between two first requests of one user: only the transaction
        # that inserts it makes the person.
        made = tx.fetch_first(_LINK, {"user_id": user_id, "person_id": person_id})
        if made is None:
            return
        params = {"id": person_id, "user_id": user_id, "name": name, "at": at}
        params |= {"normal_name": normal_form(name), "kind": str(OwnerKind.USER)}
        tx.run(_INSERT, params)

    def update_orgs(self, tx: Tx, user_id: UserId, orgs: frozenset[OrgId]) -> None:
        """Replace the user's orgs. A person has the orgs of all its users."""
        # A person has the orgs of all its users. So the new ones are added first, and then those
        # go that none of the person's users has any more.
        tx.run(_LEAVE, {"user_id": user_id})
        (person_id, *_), *_ = tx.fetch(_LINKS, {"user_id": user_id})
        for org_id in sorted(orgs):
            tx.run(_JOIN, {"user_id": user_id, "org_id": org_id})
            tx.run(_JOIN_PERSON, {"person_id": person_id, "org_id": org_id})
        tx.run(_LEAVE_PERSON, {"person_id": person_id})


def _handle_spellings(*spellings: str) -> list[str]:
    return sorted({f"{mark}{one}" for one in spellings for mark in ("", "@")})


_USER = param("user_id", _l.user_id)
_same_person = person_users.alias("same")
_LINKS = Query(
    select(_same_person.c.person_id, _same_person.c.user_id)
    .select_from(person_users.join(_same_person, _same_person.c.person_id == _l.person_id))
    .where(_l.user_id == _USER)
)
_ORGS = Query(select(_o.org_id).where(_o.user_id == _USER))
_FIND_BY_HANDLE = Query(
    select(_o.user_id).where(
        InTextList(_o.org_id, param("orgs")),
        or_(
            InTextList(_o.user_id, param("spellings")),
            InTextList(func.lower(_o.user_id), param("forms")),
        ),
    )
)
_LINK = Query(
    insert_if_absent(person_users, "user_id")
    .values(user_id=_USER, person_id=param("person_id", _l.person_id))
    .returning(_l.person_id)
)
_INSERT = Query(
    insert(people).values(
        id=param("id", _p.id),
        name=param("name", _p.name),
        normal_name=param("normal_name", _p.normal_name),
        created_by_kind=param("kind", _p.created_by_kind),
        created_by_id=param("user_id", _p.created_by_id),
        created_at=param("at", _p.created_at),
        updated_at=param("at", _p.updated_at),
    )
)
_LEAVE = Query(delete(user_orgs).where(_o.user_id == _USER))
_ORG = param("org_id", _o.org_id)
_JOIN = Query(insert_if_absent(user_orgs).values(user_id=_USER, org_id=_ORG))
_JOIN_PERSON = Query(
    insert_if_absent(person_orgs).values(
        person_id=param("person_id", person_orgs.c.person_id), org_id=_ORG
    )
)
_PERSON = param("person_id", person_orgs.c.person_id)
_ORGS_OF_USERS = (
    select(_o.org_id)
    .select_from(person_users.join(user_orgs, _o.user_id == _l.user_id))
    .where(_l.person_id == _PERSON)
)
_LEAVE_PERSON = Query(
    delete(person_orgs).where(
        person_orgs.c.person_id == _PERSON, person_orgs.c.org_id.not_in(_ORGS_OF_USERS)
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityStores(JobStores):
    """The stores of this package and of those below."""

    users: UserStore
