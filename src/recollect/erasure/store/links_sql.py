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

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import literal_word, param
from recollect.db.tables.memories import memories, memory_subjects
from recollect.erasure.model import ErasureTarget
from recollect.erasure.store.needles_sql import needle_list
from recollect.kernel import strict_json
from recollect.kernel.runtime import SEALED_MARKER
from recollect.kernel.space import SpaceKind

_m, _s = memories.c, memory_subjects.c
PEOPLE, USERS, AGENTS = param("people"), param("users"), param("agents")
PLACES, GONE = param("places"), param("gone")
NEEDLES, EVERYWHERE = param("needles"), param("everywhere")


def link_params(target: ErasureTarget) -> dict[str, Any]:
    """The parameters of all clauses in this module."""
    lists = {
        "people": target.person_ids,
        "users": target.user_ids,
        "agents": target.agents,
        "places": (*target.chats, *target.trees),
        "gone": (*target.gone_chats, *target.gone_trees),
    }
    named = {name: strict_json.dump(list(ids)) for name, ids in lists.items()}
    needles = needle_list((*target.person_ids, *target.user_ids))
    return named | {
        "stand_in": target.stand_in,
        "needles": needles,
        "everywhere": needle_list(target.unambiguous_identifiers),
        "marker": SEALED_MARKER[:1],
    }


def sealed_clause(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Is the column encrypted? SQL can't search it then, so such rows are read and decrypted."""
    return func.substr(column, 1, 1) == param("marker", column)


def user_clause(kind: ColumnElement[Any], id_: ColumnElement[Any]) -> ColumnElement[bool]:
    """Is the owner (kind and id) one of the target's users?"""
    return and_(kind == literal_word("user"), InTextList(id_, USERS))


def _space_clause(kind: SpaceKind, ids: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(_m.space_kind == literal_word(kind), InTextList(_m.space_id, ids))


# A subquery of ids and not EXISTS: inside an OR each alternative must be served by an index.
ABOUT_TARGET = _m.id.in_(select(_s.memory_id).where(InTextList(_s.person_id, PEOPLE)))
_others = memory_subjects.alias("other_subjects")
JOINT_MEMORY = and_(
    ABOUT_TARGET,
    exists().where(_others.c.memory_id == _m.id, not_(InTextList(_others.c.person_id, PEOPLE))),
)
_OF_AGENTS = and_(
    InTextList(_m.agent_id, AGENTS),
    or_(
        _m.space_kind == literal_word(SpaceKind.AGENT_PRIVATE),
        _m.space_kind == literal_word(SpaceKind.RUN),
    ),
)
DELETED_MEMORY = or_(
    ABOUT_TARGET,
    _space_clause(SpaceKind.USER, USERS),
    _space_clause(SpaceKind.CHAT, GONE),
    _OF_AGENTS,
)
STATED_MEMORY = and_(
    not_(DELETED_MEMORY),
    or_(InTextList(_m.stated_by, PEOPLE), user_clause(_m.written_by_kind, _m.written_by_id)),
)
MEMORY_IN_CONVERSATIONS = or_(
    _space_clause(SpaceKind.CHAT, PLACES),
    InTextList(_m.learned_in, PLACES),
    InTextList(_m.learned_in, GONE),
)
