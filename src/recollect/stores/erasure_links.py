"""Which rows are linked to somebody who is erased, as parts of statements."""

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
    """The parameters of everything here."""
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
    """Can the text not be searched by a statement?"""
    return func.substr(column, 1, 1) == param("marker", column)


def by_user(kind: ColumnElement[Any], id_: ColumnElement[Any]) -> ColumnElement[bool]:
    """Is it one of their users?"""
    return and_(kind == word("user"), AmongTexts(id_, USERS))


def _in_space(kind: SpaceKind, ids: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(_m.space_kind == word(kind), AmongTexts(_m.space_id, ids))


# By the ids of rows, so that an index serves it where it is one of several alternatives.
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
# What goes: about them, in their space, in what nobody else takes part in, of their agents.
MEMORY_GOES = or_(
    ABOUT, _in_space(SpaceKind.USER, USERS), _in_space(SpaceKind.CHAT, GONE), _OF_AGENTS
)
# What stays of theirs: said or written by them, about others.
MEMORY_STATED = and_(
    not_(MEMORY_GOES),
    or_(AmongTexts(_m.stated_by, PEOPLE), by_user(_m.written_by_kind, _m.written_by_id)),
)
MEMORY_IN_PLACES = or_(
    _in_space(SpaceKind.CHAT, PLACES),
    AmongTexts(_m.learned_in, PLACES),
    AmongTexts(_m.learned_in, GONE),
)
