"""Visibility as a WHERE clause over `memories`: the SQL twin of `can_view`.

A property test over generated worlds checks on every engine that both give the same answer.

A clause is built once for each `ViewerShape`: what kinds of callers, in what kind of chat, under
which settings. Everything else that a viewer holds is a parameter whose name begins with `sight_`.
Lists are one parameter each (JSON), so the text of a statement never depends on their length and
every statement is compiled once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Text,
    and_,
    case,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
    true,
)

from recollect.domain import jsontext
from recollect.domain.agents import AGENT_MARK, OwnerKind
from recollect.domain.chats import ParticipantKind
from recollect.domain.disclosure import ChatKind, SensitiveInGroups, UnknownOrigin
from recollect.domain.memories import Origin, Sensitivity, Status
from recollect.domain.spaces import SpaceKind
from recollect.policy.sight import Sight
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.memory_tables import memories, memory_subjects
from recollect.stores.people_tables import agents, chats, presences, user_orgs
from recollect.stores.space_rights import (
    CHATS,
    NOW,
    CallerShape,
    all_read,
    all_write,
    caller_params,
    caller_shapes,
    not_due,
    of_kind,
    present_at,
)
from recollect.stores.statements import param, word

_m, _s, _p, _c = memories.c, memory_subjects.c, presences.c, chats.c
_ONE: ColumnElement[int] = literal_column("1")

PERSON = param("sight_person", _m.stated_by)
USERS = param("sight_users", _m.space_id)
_ORGS = param("sight_orgs", _m.org_id)
CHAT = param("sight_chat", _m.learned_in)
_PEOPLE = param("sight_people", _m.stated_by)


@dataclass(frozen=True, slots=True)
class SightShape:
    """The part of a viewer that determines the text of a statement. It is the key of the caches
    below, so it must stay small: no ids, no instants."""

    callers: tuple[CallerShape, ...]
    chat: ChatKind | None
    person: bool
    lenient: bool
    closed: bool
    system: bool

    @classmethod
    def of(cls, sight: Sight) -> "SightShape":
        """The viewer without its values."""
        chat = sight.chat.kind if sight.chat else None
        lenient = sight.settings.sensitive_in_groups is SensitiveInGroups.SUBJECT_PRESENT
        return cls(
            callers=caller_shapes(sight.callers),
            chat=chat,
            person=sight.asker.person_id is not None,
            lenient=lenient and chat is ChatKind.GROUP,
            closed=sight.settings.unknown_origin is UnknownOrigin.CLOSED,
            system=bool(sight.system),
        )

    @property
    def group(self) -> bool:
        """Is it asked in a group, where others read the answer?"""
        return self.chat is ChatKind.GROUP


def sight_params(sight: Sight) -> dict[str, Any]:
    """All parameters of a viewer. A statement uses those that occur in its clause."""
    chat = sight.chat
    return caller_params(sight.callers) | {
        "sight_now": sight.now,
        "sight_person": sight.asker.person_id,
        "sight_users": _listed(sight.asker.users),
        "sight_chats": _listed(sight.asker.chats),
        "sight_orgs": _listed(sight.asker.orgs),
        "sight_chat": chat.id if chat else None,
        "sight_people": _listed(chat.participants if chat else ()),
    }


@cache
def sight_clause(shape: SightShape) -> ColumnElement[bool]:
    """Which memories the viewer may see. Status is left to `filter_clause`, except that only the
    system sees quarantined rows; expired rows are for those who may write the space.
    """
    # Three clauses, each inside the next, because reads differ in what they may still find:
    #   disclosed_clause             the rule alone, whatever has become of the row;
    #   visible_or_compacted_clause  not being erased, not quarantined, not expired for readers;
    #   visible_clause               and with its text still there.
    # The system sees everything except rows that are being erased.
    standing = standing_clause(shape)
    return standing if shape.system else and_(_m.compacted_at.is_(None), standing)


@cache
def standing_clause(shape: SightShape) -> ColumnElement[bool]:
    """Like `visible_clause`, with compacted rows, of which only ids, times and links are left."""
    if shape.system:
        return _m.erasure_id.is_(None)
    return and_(
        _m.erasure_id.is_(None),
        _m.status != word(Status.QUARANTINED),
        or_(not_due(NOW), all_write(shape.callers)),
        told_clause(shape),
    )


@cache
def told_clause(shape: SightShape) -> ColumnElement[bool]:
    """Which memories the rule shows to the viewer, in any state: also expired or quarantined ones.

    `decide_disclosure` takes its steps one after the other and stops at the first answer. SQL has
    no such order, so the steps are turned into conditions here: a denial is a condition that every
    row must meet, a permission is one alternative of an OR. Spaces split cleanly into two groups,
    hence the two alternatives.
    """
    return true() if shape.system else or_(_by_space(shape), _by_disclosure(shape))


def _listed(ids: Iterable[str]) -> str:
    return jsontext.dump(sorted(ids))


def _by_space(shape: SightShape) -> ColumnElement[bool]:
    """Agent, run and org spaces, where the right to read the space decides (steps 1, 2 and 3)."""
    if not shape.callers:
        return false()
    unheard = _m.sensitivity == word(Sensitivity.PUBLIC) if shape.group else true()
    open_to = and_(of_kind(SpaceKind.ORG), all_read(shape.callers, SpaceKind.ORG))
    closed_to = (
        and_(of_kind(kind), all_read(shape.callers, kind), unheard)
        for kind in (SpaceKind.AGENT_PRIVATE, SpaceKind.RUN)
    )
    everybody = of_kind(SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT)
    # Outside of chats the right to read the space is enough for non-portable memories, and every
    # alternative below implies that right.
    carried = true() if shape.chat is None else _carried(shape)
    return and_(carried, or_(everybody, open_to, *closed_to))


def _by_disclosure(shape: SightShape) -> ColumnElement[bool]:
    """Spaces of users and chats. A row must pass steps 0 (reader of the space, or a shared org) and
    1 (portability), and be disclosed by one of: this chat's space, p's own space outside of chats,
    or a relation of p.

    p's own space stands outside of `_origin_clause`: closed imports stay visible to their user.
    """
    in_chat = and_(of_kind(SpaceKind.CHAT), _quiet(), _there(shape))
    shown = [in_chat, and_(_known_origin(shape), _by_relations(shape))]
    if shape.chat is None:
        shown.append(_own())
    return and_(
        of_kind(SpaceKind.USER, SpaceKind.CHAT),
        or_(_inside(), _in_common_org()),
        _carried(shape),
        or_(*shown),
    )


def _carried(shape: SightShape) -> ColumnElement[bool]:
    """Step 1: portable; or asked in the chat where it was learned; or, outside of chats, asked by a
    reader of the space."""
    if shape.chat is None:
        return or_(_m.portable == true(), _inside())
    return or_(_m.portable == true(), and_(_learned_in_chat(), _m.learned_in == CHAT))


def _there(shape: SightShape) -> ColumnElement[bool]:
    return _takes_part() if shape.chat is None else _m.space_id == CHAT


def _quiet() -> ColumnElement[bool]:
    return or_(_m.sensitivity == word(Sensitivity.PUBLIC), _m.has_subjects == false())


def _known_origin(shape: SightShape) -> ColumnElement[bool]:
    """Step 6, and unresolved names: `closed` hides imports of unknown origin, and a memory with an
    unresolved name is for readers of its space only."""
    named = or_(_m.bare_names.is_(None), _inside())
    return and_(_m.origin != word(Origin.UNKNOWN), named) if shape.closed else named


def _by_relations(shape: SightShape) -> ColumnElement[bool]:
    rows = _group_rows(shape) if shape.group else _private_rows(shape)
    return or_(*(and_(_m.sensitivity == word(kind), enough) for kind, enough in rows.items()))


def _private_rows(shape: SightShape) -> dict[Sensitivity, ColumnElement[bool]]:
    """Outside of groups: what discloses a memory of each sensitivity."""
    # Step 7 in the row for public memories. `_origin_clause` has removed closed ones before.
    imported = and_(_m.origin == word(Origin.UNKNOWN), _m.has_subjects == true())
    if not shape.person:
        return {Sensitivity.PUBLIC: imported}
    about_none = and_(_m.has_subjects == false(), _inside())
    return {
        Sensitivity.PUBLIC: or_(imported, _own(), _stated(), _subject(), about_none, _witnessed()),
        Sensitivity.PERSONAL: or_(_own(), _subject()),
        Sensitivity.SENSITIVE: or_(and_(_own(), _stated()), _subject()),
    }


def _group_rows(shape: SightShape) -> dict[Sensitivity, ColumnElement[bool]]:
    """In a group: what discloses a memory of each sensitivity. A missing row hides all of it.

    The relation NO_SUBJECTS does not occur. In a group it holds for this chat's space, whose
    memories without subjects `_disclosure_clause` shows anyway, and for p's own space, which
    `_is_own_space` covers.
    """
    # A public memory with subjects needs no relation: everybody in the group may see it.
    public = or_(_m.has_subjects == true(), _own()) if shape.person else _m.has_subjects == true()
    rows: dict[Sensitivity, ColumnElement[bool]] = {Sensitivity.PUBLIC: public}
    if shape.lenient:
        return rows | dict.fromkeys((Sensitivity.PERSONAL, Sensitivity.SENSITIVE), _present())
    return rows | ({Sensitivity.PERSONAL: _subject()} if shape.person else {})


def _inside() -> ColumnElement[bool]:
    return or_(_own(), and_(of_kind(SpaceKind.CHAT), _takes_part()))


def _own() -> ColumnElement[bool]:
    return and_(of_kind(SpaceKind.USER), AmongTexts(_m.space_id, USERS))


def _takes_part() -> ColumnElement[bool]:
    return AmongTexts(_m.space_id, CHATS)


def _stated() -> ColumnElement[bool]:
    return _m.stated_by == PERSON


def _learned_in_chat() -> ColumnElement[bool]:
    return _m.origin == word(Origin.CHAT)


# In the subqueries below `correlate` names the tables of the outer statement. Left to itself,
# SQLAlchemy would correlate by what the final statement happens to select from.


def _subject() -> ColumnElement[bool]:
    query = select(_ONE).where(_s.memory_id == _m.id, _s.person_id == PERSON)
    return exists(query.correlate(memories))


def _present() -> ColumnElement[bool]:
    """Does one of the subjects take part in the chat now?"""
    query = select(_ONE).where(_s.memory_id == _m.id, AmongTexts(_s.person_id, _PEOPLE))
    return exists(query.correlate(memories))


def _witnessed() -> ColumnElement[bool]:
    """Did p, as a user or as a person, take part in the chat when it was said?"""
    there = select(_ONE).where(
        _p.chat_id == _m.learned_in, _as_anybody(), present_at(_m.observed_at)
    )
    return and_(_learned_in_chat(), ever_there(), exists(there.correlate(memories)))


def ever_there() -> ColumnElement[bool]:
    """Did p ever take part in the chat? The subquery does not depend on the row and runs once; it
    excludes most rows before the interval is looked up for each of the rest."""
    return _m.learned_in.in_(select(_p.chat_id).where(_as_anybody()))


def _as_anybody() -> ColumnElement[bool]:
    as_user = and_(_p.kind == word(ParticipantKind.USER), AmongTexts(_p.member_id, USERS))
    as_person = and_(_p.kind == word(ParticipantKind.PERSON), _p.member_id == PERSON)
    return or_(as_user, as_person)


def _in_common_org() -> ColumnElement[bool]:
    """Step 0: does p share an org with the user whose space it is, or with the chat's creator?"""
    by_user = and_(~_BY_AGENT, _has_org(_c.created_by_id))
    created = select(_ONE).where(_c.id == _m.space_id, or_(by_user, and_(_BY_AGENT, _agents_org())))
    return or_(
        and_(of_kind(SpaceKind.USER), _has_org(_m.space_id)),
        and_(of_kind(SpaceKind.CHAT), exists(created.correlate(memories))),
    )


def _has_org(user_id: ColumnElement[str]) -> ColumnElement[bool]:
    query = select(_ONE).where(
        user_orgs.c.user_id == user_id, AmongTexts(user_orgs.c.org_id, _ORGS)
    )
    return exists(query.correlate(memories, chats))


def _agents_org() -> ColumnElement[bool]:
    bare = func.substr(_c.created_by_id, literal_column(str(len(AGENT_MARK) + 1)))
    agent_id = case((_MARKED, bare), else_=_c.created_by_id)
    query = select(_ONE).where(agents.c.id == agent_id, AmongTexts(agents.c.org_id, _ORGS))
    return exists(query.correlate(chats))


# A tree stores an agent as a user whose id begins with `agent:`. Prefix match as a range of bytes.
_MARKED = and_(
    _c.created_by_id >= literal_column("'agent:'", Text),
    _c.created_by_id < literal_column("'agent;'", Text),
)
_BY_AGENT = or_(_c.created_by_kind == word(OwnerKind.AGENT), _MARKED)
