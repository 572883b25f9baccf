"""The rules of `people/policy.py` as SQL: whose name a caller may see, and which claims."""

from typing import Any

from sqlalchemy import ColumnElement, and_, exists, or_

from recollect.domain import jsontext
from recollect.policy.requesters import Requester
from recollect.ports.people import Seat
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.people_tables import (
    people,
    person_aliases,
    person_orgs,
    person_relationships,
)
from recollect.stores.presences import people_met, seat_params, seats
from recollect.stores.statements import param

_p, _o, _a, _r = people.c, person_orgs.c, person_aliases.c, person_relationships.c

# Neither merged away nor being erased.
LIVE = and_(_p.merged_into.is_(None), _p.erasure_id.is_(None))
_KIND, _ID = param("who_kind", _p.created_by_kind), param("who_id", _p.created_by_id)
OWN_PERSON = param("own_person", _p.id)
CREATED = and_(_p.created_by_kind == _KIND, _p.created_by_id == _ID)
# The stater of a claim is a user or an agent. All users of one person are the same stater.
STATED_ALIAS = or_(
    and_(_a.added_by_kind == _KIND, _a.added_by_id == _ID), _a.stated_by == OWN_PERSON
)
STATED_RELATIONSHIP = or_(
    and_(_r.added_by_kind == _KIND, _r.added_by_id == _ID), _r.stated_by == OWN_PERSON
)
HEARD = _a.chat_id.in_(seats())
SEEN_CLAIM = or_(STATED_ALIAS, _a.person_id == OWN_PERSON, HEARD)


def may_see_name() -> ColumnElement[bool]:
    """May the caller see the name of this row of `people`?"""
    in_org = exists().where(_o.person_id == _p.id, AmongTexts(_o.org_id, param("orgs")))
    return or_(in_org, CREATED, _p.id == OWN_PERSON, _p.id.in_(people_met()))


def requester_params(requester: Requester) -> dict[str, Any]:
    """The parameters of all clauses in this module."""
    return seat_params(Seat.of(requester)) | {
        "who_kind": requester.who.kind,
        "who_id": requester.who.id,
        "own_person": requester.person_id,
        "orgs": jsontext.dump(sorted(requester.orgs)),
    }
