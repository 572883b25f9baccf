"""SQL clauses: which rows are linked to the target of an erasure.

Four groups of memories; one may be in the second and the third:

- deleted: about the target, in their user space, in a chat without another human, or in the private
  and run spaces of agents they own. A memory about several people (`JOINT_MEMORY`) is deleted too,
  and counted separately in the report;
- stated: said or written by the target about others. They stay, without author and identifiers;
- in conversations: of a shared chat, or learned in a chat the target took part in, whoever wrote
  them. They stay and are redacted;
- all others are redacted of unambiguous identifiers only.
"""

from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, not_, or_, select

from recollect.domain import jsontext
from recollect.domain.erasure import Target
from recollect.domain.spaces import SpaceKind
from recollect.ports.runtime import SEALED_MARKER
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.erasure_needles import needles_of
from recollect.stores.memory_tables import memories, memory_subjects
from recollect.stores.statements import param, word

_m, _s = memories.c, memory_subjects.c
PEOPLE, USERS, AGENTS = param("people"), param("users"), param("agents")
PLACES, GONE = param("places"), param("gone")
NEEDLES, EVERYWHERE = param("needles"), param("everywhere")


def link_params(target: Target) -> dict[str, Any]:
    """The parameters of all clauses in this module."""
    lists = {
        "people": target.person_ids,
        "users": target.user_ids,
        "agents": target.agents,
        "places": (*target.chats, *target.trees),
        "gone": (*target.gone_chats, *target.gone_trees),
    }
    named = {name: jsontext.dump(list(ids)) for name, ids in lists.items()}
    needles = needles_of((*target.person_ids, *target.user_ids))
    return named | {
        "stand_in": target.stand_in,
        "needles": needles,
        "everywhere": needles_of(target.everywhere),
        "marker": SEALED_MARKER[:1],
    }


def is_sealed(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Is the column encrypted? SQL can't search it then, so such rows are read and decrypted."""
    return func.substr(column, 1, 1) == param("marker", column)


def by_user(kind: ColumnElement[Any], id_: ColumnElement[Any]) -> ColumnElement[bool]:
    """Is the owner (kind and id) one of the target's users?"""
    return and_(kind == word("user"), AmongTexts(id_, USERS))


def _in_space(kind: SpaceKind, ids: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(_m.space_kind == word(kind), AmongTexts(_m.space_id, ids))


# A subquery of ids and not EXISTS: inside an OR each alternative must be served by an index.
ABOUT = _m.id.in_(select(_s.memory_id).where(AmongTexts(_s.person_id, PEOPLE)))
_others = memory_subjects.alias("other_subjects")
JOINT = and_(
    ABOUT,
    exists().where(_others.c.memory_id == _m.id, not_(AmongTexts(_others.c.person_id, PEOPLE))),
)
_OF_AGENTS = and_(
    AmongTexts(_m.agent_id, AGENTS),
    or_(_m.space_kind == word(SpaceKind.AGENT_PRIVATE), _m.space_kind == word(SpaceKind.RUN)),
)
MEMORY_GOES = or_(
    ABOUT, _in_space(SpaceKind.USER, USERS), _in_space(SpaceKind.CHAT, GONE), _OF_AGENTS
)
MEMORY_STATED = and_(
    not_(MEMORY_GOES),
    or_(AmongTexts(_m.stated_by, PEOPLE), by_user(_m.written_by_kind, _m.written_by_id)),
)
MEMORY_IN_PLACES = or_(
    _in_space(SpaceKind.CHAT, PLACES),
    AmongTexts(_m.learned_in, PLACES),
    AmongTexts(_m.learned_in, GONE),
)
