"""The rules of `people/policy.py` as SQL: whose name a caller may see, and which claims."""

from typing import Any

from sqlalchemy import ColumnElement, and_, exists, or_

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import param
from recollect.db.tables.people import (
    people,
    person_aliases,
    person_orgs,
    person_relationships,
)
from recollect.identity.requester import Requester
from recollect.kernel import strict_json
from recollect.people.chat import ParticipantKeys
from recollect.people.store.participation_sql import (
    live_chat_ids,
    participant_params,
    people_sharing_chats,
)

_p, _o, _a, _r = people.c, person_orgs.c, person_aliases.c, person_relationships.c

# Neither merged away nor being erased.
LIVE = and_(_p.merged_into.is_(None), _p.erasure_id.is_(None))
_KIND, _ID = param("who_kind", _p.created_by_kind), param("who_id", _p.created_by_id)
OWN_PERSON = param("own_person", _p.id)
CREATED_BY_CALLER = and_(_p.created_by_kind == _KIND, _p.created_by_id == _ID)
# The stater of a claim is a user or an agent. All users of one person are the same stater.
STATED_ALIAS_BY_CALLER = or_(
    and_(_a.added_by_kind == _KIND, _a.added_by_id == _ID), _a.stated_by == OWN_PERSON
)
STATED_RELATIONSHIP_BY_CALLER = or_(
    and_(_r.added_by_kind == _KIND, _r.added_by_id == _ID), _r.stated_by == OWN_PERSON
)
STATED_IN_OWN_CHAT = _a.chat_id.in_(live_chat_ids())
VISIBLE_ALIAS = or_(STATED_ALIAS_BY_CALLER, _a.person_id == OWN_PERSON, STATED_IN_OWN_CHAT)


def may_see_name() -> ColumnElement[bool]:
    """May the caller see the name of this row of `people`?"""
    in_org = exists().where(_o.person_id == _p.id, InTextList(_o.org_id, param("orgs")))
    return or_(in_org, CREATED_BY_CALLER, _p.id == OWN_PERSON, _p.id.in_(people_sharing_chats()))


def requester_params(requester: Requester) -> dict[str, Any]:
    """The parameters of all clauses in this module."""
    return participant_params(ParticipantKeys.for_requester(requester)) | {
        "who_kind": requester.identity.kind,
        "who_id": requester.identity.id,
        "own_person": requester.person_id,
        "orgs": strict_json.dump(sorted(requester.orgs)),
    }
