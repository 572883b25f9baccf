"""Visibility as a WHERE clause over `memories`: the same decision as `can_view`.

A property test over generated worlds checks on every engine that both give the same answer.

A clause is built once for each `ViewerShape`: what kinds of callers, in what kind of chat, under
which settings. Every other value of a viewer is a parameter whose name begins with `viewer_`.
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
    not_,
    or_,
    select,
    true,
)

from recollect.db.engines.expressions import InSubquery, InTextList
from recollect.db.statements import literal_word, param
from recollect.db.tables.memories import memories, memory_subjects
from recollect.db.tables.people import agents, chats, presences, user_orgs
from recollect.kernel import strict_json
from recollect.kernel.owner import AGENT_PREFIX, OwnerKind
from recollect.kernel.space import SpaceKind
from recollect.memories.model import MemoryOrigin, MemoryStatus, Sensitivity
from recollect.people.chat import ChatKind, ParticipantKind
from recollect.visibility.disclosure import is_open_to_anyone
from recollect.visibility.model import Closeness, SensitiveInGroups, UnknownOrigin
from recollect.visibility.spaces_sql import (
    ASKER_CHATS,
    NOW,
    CallerShape,
    all_can_read,
    all_can_write,
    caller_params,
    caller_shapes,
    is_not_expired,
    is_of_kind,
    is_present_at,
)
from recollect.visibility.viewer import Viewer

_m, _s, _p, _c = memories.c, memory_subjects.c, presences.c, chats.c
_ONE: ColumnElement[int] = literal_column("1")

ASKER_PERSON = param("viewer_person", _m.stated_by)
ASKER_USERS = param("viewer_users", _m.space_id)
_ASKER_ORGS = param("viewer_orgs", _m.org_id)
CURRENT_CHAT = param("viewer_chat", _m.learned_in)
CHAT_PEOPLE = param("viewer_people", _m.stated_by)
CHAT_USERS = param("viewer_people_users", _m.space_id)


@dataclass(frozen=True, slots=True)
class ViewerShape:
    """The part of a viewer that determines the text of a statement. It is the key of the caches
    below, so it must stay small: no ids, no instants."""

    callers: tuple[CallerShape, ...]
    chat: ChatKind | None
    person: bool
    lenient: bool
    anyone: bool
    closed: bool
    system: bool

    @classmethod
    def from_viewer(cls, viewer: Viewer) -> "ViewerShape":
        """The viewer without its values."""
        chat = viewer.chat.kind if viewer.chat else None
        anyone = viewer.chat is not None and is_open_to_anyone(viewer.chat, viewer.settings)
        lenient = viewer.settings.sensitive_in_groups is SensitiveInGroups.SUBJECT_PRESENT
        return cls(
            callers=caller_shapes(viewer.callers),
            chat=chat,
            person=viewer.asker.person_id is not None,
            lenient=lenient and chat is ChatKind.GROUP,
            anyone=anyone and chat is ChatKind.GROUP,
            closed=viewer.settings.unknown_origin is UnknownOrigin.CLOSED,
            system=bool(viewer.system),
        )

    @property
    def is_group(self) -> bool:
        """Is it asked in a group, where others read the answer?"""
        return self.chat is ChatKind.GROUP


def viewer_params(viewer: Viewer) -> dict[str, Any]:
    """All parameters of a viewer. A statement uses those that occur in its clause."""
    chat = viewer.chat
    return caller_params(viewer.callers) | {
        "viewer_now": viewer.now,
        "viewer_person": viewer.asker.person_id,
        "viewer_users": _json_list(viewer.asker.users),
        "viewer_chats": _json_list(viewer.asker.chats),
        "viewer_orgs": _json_list(viewer.asker.orgs),
        "viewer_chat": chat.id if chat else None,
        "viewer_people": _json_list(chat.people if chat else ()),
        "viewer_people_users": _json_list(chat.users if chat else ()),
    }


@cache
def visible_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """Which memories the viewer may see. Status is left to `filter_clause`, except that only the
    system sees quarantined rows; expired rows are for those who may write the space.
    """
    # Clauses, each inside the next, because reads differ in what they may still find:
    #   disclosed_clause             the rule alone, whatever has become of the row;
    #   visible_or_compacted_clause  not being erased, not quarantined, not expired for readers;
    #   visible_clause               and with its text still there.
    # `visible_by_id_clause` is `visible_clause` with what is expired for readers.
    # The system sees everything except rows that are being erased.
    return _with_text(shape, visible_or_compacted_clause(shape))


@cache
def visible_by_id_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """Like `visible_clause` for a read by id, which finds what is over as if it were active: the
    twin of `can_view_by_id`. Whether expired rows are asked for is left to `filter_clause`."""
    return _with_text(shape, _remaining_clause(shape))


@cache
def visible_or_compacted_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """Like `visible_clause`, with compacted rows, of which only ids, times and links are left."""
    remaining = _remaining_clause(shape)
    if shape.system:
        return remaining
    return and_(or_(is_not_expired(NOW), all_can_write(shape.callers)), remaining)


def _remaining_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """What the rule shows, except rows that are being erased or quarantined."""
    if shape.system:
        return _m.erasure_id.is_(None)
    return and_(
        _m.erasure_id.is_(None),
        _m.status != literal_word(MemoryStatus.QUARANTINED),
        disclosed_clause(shape),
    )


def _with_text(shape: ViewerShape, clause: ColumnElement[bool]) -> ColumnElement[bool]:
    return clause if shape.system else and_(_m.compacted_at.is_(None), clause)


@cache
def disclosed_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """Which memories the rule shows to the viewer, in any state: also expired or quarantined ones.

    `decide_disclosure` takes its steps one after the other and stops at the first answer. SQL has
    no such order, so the steps are turned into conditions here: a denial is a condition that every
    row must meet, a permission is one alternative of an OR. Spaces split cleanly into two groups,
    hence the two alternatives.
    """
    # Where each step of the rule is, in the order of `decide_disclosure`:
    #
    #   inactive        not here: `visible_or_compacted_clause`, since some reads find such rows too
    #   0  org.other    `_is_space_reader` or `_shares_org`, in `_disclosure_clause`
    #   1  portable     `_portability_clause`, in both alternatives
    #   2  space.open   `_space_clause`: agent_public and agent for everybody, org by its readers
    #   3  space.agent  `_space_clause`: agent_private and run by their readers; in a group only
    #      space.run    public memories, because everybody there reads the answer
    #   4  space.own    `_is_own_space`, an alternative of its own outside of chats
    #   5  space.chat   `in_chat`: the chat's space, asked there or by a participant outside of
    #                   chats, public or about nobody
    #   6  closed       `_origin_clause`. It guards the table only: steps 4 and 5 come before it
    #   7  open import  `imported`, in the table's row for public memories outside of groups
    #   8  table        `_private_conditions` and `_group_conditions`, a condition a sensitivity;
    #                   unresolved names, which the table leaves to readers, in `_origin_clause`
    #
    # A step that denies and comes before a step that permits must guard it. So 0 and 1 are joined
    # by AND to all that follows, and 6 to steps 7 and 8.
    return true() if shape.system else or_(_space_clause(shape), _disclosure_clause(shape))


@cache
def closeness_clause(shape: ViewerShape, closeness: Closeness) -> ColumnElement[bool]:
    """Which memories are as close to p and the chat as this. It grants nothing."""
    own = or_(_is_own_space(), _is_subject()) if shape.person else false()
    near = _is_about_participant() if shape.is_group else false()
    match closeness:
        case Closeness.OWN:
            return own
        case Closeness.PARTICIPANTS:
            return and_(near, not_(own))
        case Closeness.OTHERS:
            return not_(or_(own, near))


def _json_list(ids: Iterable[str]) -> str:
    return strict_json.dump(sorted(ids))


def _space_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """Agent, run and org spaces, where the right to read the space decides (steps 1, 2 and 3)."""
    if not shape.callers:
        return false()
    for_audience = _m.sensitivity == literal_word(Sensitivity.PUBLIC) if shape.is_group else true()
    open_to = and_(is_of_kind(SpaceKind.ORG), all_can_read(shape.callers, SpaceKind.ORG))
    closed_to = (
        and_(is_of_kind(kind), all_can_read(shape.callers, kind), for_audience)
        for kind in (SpaceKind.AGENT_PRIVATE, SpaceKind.RUN)
    )
    everybody = is_of_kind(SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT)
    # Outside of chats the right to read the space is enough for non-portable memories, and every
    # alternative below implies that right.
    is_portable = true() if shape.chat is None else _portability_clause(shape)
    return and_(is_portable, or_(everybody, open_to, *closed_to))


def _disclosure_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """Spaces of users and chats. A row must pass steps 0 (reader of the space, or a shared org) and
    1 (portability), and be disclosed by one of: this chat's space, p's own space outside of chats,
    or a relation of p.

    p's own space stands outside of `_origin_clause`: closed imports stay visible to their user.
    """
    in_chat = and_(
        is_of_kind(SpaceKind.CHAT), _is_public_or_without_subjects(), _is_asked_in_chat(shape)
    )
    clauses = [in_chat, and_(_origin_clause(shape), _relations_clause(shape))]
    if shape.chat is None:
        clauses.append(_is_own_space())
    return and_(
        is_of_kind(SpaceKind.USER, SpaceKind.CHAT),
        or_(_is_space_reader(), _shares_org()),
        _portability_clause(shape),
        or_(*clauses),
    )


def _portability_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """Step 1: portable; or asked in the chat where it was learned; or, outside of chats, asked by a
    reader of the space."""
    if shape.chat is None:
        return or_(_m.portable == true(), _is_space_reader())
    return or_(_m.portable == true(), and_(_is_learned_in_chat(), _m.learned_in == CURRENT_CHAT))


def _is_asked_in_chat(shape: ViewerShape) -> ColumnElement[bool]:
    return _is_participant() if shape.chat is None else _m.space_id == CURRENT_CHAT


def _is_public_or_without_subjects() -> ColumnElement[bool]:
    return or_(_m.sensitivity == literal_word(Sensitivity.PUBLIC), _m.has_subjects == false())


def _origin_clause(shape: ViewerShape) -> ColumnElement[bool]:
    """Step 6, and unresolved names: `closed` hides imports of unknown origin, and a memory with an
    unresolved name is for readers of its space only."""
    named = or_(_m.bare_names.is_(None), _is_space_reader())
    return and_(_m.origin != literal_word(MemoryOrigin.UNKNOWN), named) if shape.closed else named


def _relations_clause(shape: ViewerShape) -> ColumnElement[bool]:
    rows = _group_conditions(shape) if shape.is_group else _private_conditions(shape)
    return or_(
        *(and_(_m.sensitivity == literal_word(kind), condition) for kind, condition in rows.items())
    )


def _private_conditions(shape: ViewerShape) -> dict[Sensitivity, ColumnElement[bool]]:
    """Outside of groups: what discloses a memory of each sensitivity."""
    # Step 7 in the row for public memories. `_origin_clause` has removed closed ones before.
    imported = and_(_m.origin == literal_word(MemoryOrigin.UNKNOWN), _m.has_subjects == true())
    if not shape.person:
        return {Sensitivity.PUBLIC: imported}
    about_none = and_(_m.has_subjects == false(), _is_space_reader())
    return {
        Sensitivity.PUBLIC: or_(
            imported,
            _is_own_space(),
            _is_stater(),
            _is_subject(),
            about_none,
            _is_witnessed(_IS_ASKER_PRESENCE),
        ),
        Sensitivity.PERSONAL: or_(_is_own_space(), _is_subject()),
        Sensitivity.SENSITIVE: or_(and_(_is_own_space(), _is_stater()), _is_subject()),
    }


def _group_conditions(shape: ViewerShape) -> dict[Sensitivity, ColumnElement[bool]]:
    """In a group: what discloses a memory of each sensitivity. A missing row hides all of it.

    The relation NO_SUBJECTS does not occur. In a group it holds for this chat's space, whose
    memories without subjects `_disclosure_clause` shows anyway, and for p's own space, which
    `_is_own_space` covers.
    """
    # A public memory with subjects depends on those who take part, one without on who asks.
    about_somebody = _m.has_subjects == true()
    heard = about_somebody if shape.anyone else and_(about_somebody, _is_known_to_participants())
    own = and_(_m.has_subjects == false(), _is_own_space())
    rows: dict[Sensitivity, ColumnElement[bool]] = {
        Sensitivity.PUBLIC: or_(heard, own) if shape.person else heard
    }
    if shape.lenient:
        return rows | dict.fromkeys(
            (Sensitivity.PERSONAL, Sensitivity.SENSITIVE), _is_about_participant()
        )
    return rows | ({Sensitivity.PERSONAL: _is_subject()} if shape.person else {})


def _is_space_reader() -> ColumnElement[bool]:
    return or_(_is_own_space(), and_(is_of_kind(SpaceKind.CHAT), _is_participant()))


def _is_own_space() -> ColumnElement[bool]:
    return and_(is_of_kind(SpaceKind.USER), InTextList(_m.space_id, ASKER_USERS))


def _is_participant() -> ColumnElement[bool]:
    return InTextList(_m.space_id, ASKER_CHATS)


def _is_stater() -> ColumnElement[bool]:
    return _m.stated_by == ASKER_PERSON


def _is_learned_in_chat() -> ColumnElement[bool]:
    return _m.origin == literal_word(MemoryOrigin.CHAT)


# In the subqueries below `correlate` names the tables of the outer statement. Left to itself,
# SQLAlchemy would correlate by what the final statement happens to select from.


def _is_subject() -> ColumnElement[bool]:
    query = select(_ONE).where(_s.memory_id == _m.id, _s.person_id == ASKER_PERSON)
    return exists(query.correlate(memories))


def _is_about_participant() -> ColumnElement[bool]:
    """Is one of the subjects a confirmed participant of the chat?"""
    query = select(_ONE).where(_s.memory_id == _m.id, InTextList(_s.person_id, CHAT_PEOPLE))
    return exists(query.correlate(memories))


def _is_known_to_participants() -> ColumnElement[bool]:
    """Has one of the chat's confirmed participants the relation S, O, T or W to the memory?"""
    return or_(
        and_(is_of_kind(SpaceKind.USER), InTextList(_m.space_id, CHAT_USERS)),
        InTextList(_m.stated_by, CHAT_PEOPLE),
        _is_about_participant(),
        _is_witnessed(_IS_PARTICIPANTS_PRESENCE),
    )


def _is_witnessed(by: ColumnElement[bool]) -> ColumnElement[bool]:
    """Did one of these, as a user or as a person, take part in the chat when it was said?"""
    presence = select(_ONE).where(_p.chat_id == _m.learned_in, by, is_present_at(_m.observed_at))
    return and_(_is_learned_in_chat(), _is_once_joined(by), exists(presence.correlate(memories)))


def _is_once_joined(by: ColumnElement[bool]) -> ColumnElement[bool]:
    """Did one of these ever take part in the chat? The subquery does not depend on the row and runs
    once; it excludes most rows before the interval is looked up for each of the rest."""
    return InSubquery(_m.learned_in, select(_p.chat_id).where(by).scalar_subquery())


def has_asker_joined() -> ColumnElement[bool]:
    """Did p ever take part in the chat where the memory was learned?"""
    return _is_once_joined(_IS_ASKER_PRESENCE)


def has_participant_joined() -> ColumnElement[bool]:
    """Did a confirmed participant ever take part in the chat where the memory was learned?"""
    return _is_once_joined(_IS_PARTICIPANTS_PRESENCE)


def _is_presence_of(
    users: ColumnElement[Any], as_person: ColumnElement[bool]
) -> ColumnElement[bool]:
    as_user = and_(_p.kind == literal_word(ParticipantKind.USER), InTextList(_p.member_id, users))
    return or_(as_user, and_(_p.kind == literal_word(ParticipantKind.PERSON), as_person))


_IS_ASKER_PRESENCE = _is_presence_of(ASKER_USERS, _p.member_id == ASKER_PERSON)
_IS_PARTICIPANTS_PRESENCE = _is_presence_of(CHAT_USERS, InTextList(_p.member_id, CHAT_PEOPLE))


def _shares_org() -> ColumnElement[bool]:
    """Step 0: does p share an org with the user whose space it is, or with the chat's creator?"""
    by_user = and_(~_CREATED_BY_AGENT, _user_shares_org(_c.created_by_id))
    created = select(_ONE).where(
        _c.id == _m.space_id, or_(by_user, and_(_CREATED_BY_AGENT, _agent_shares_org()))
    )
    return or_(
        and_(is_of_kind(SpaceKind.USER), _user_shares_org(_m.space_id)),
        and_(is_of_kind(SpaceKind.CHAT), exists(created.correlate(memories))),
    )


def _user_shares_org(user_id: ColumnElement[str]) -> ColumnElement[bool]:
    query = select(_ONE).where(
        user_orgs.c.user_id == user_id, InTextList(user_orgs.c.org_id, _ASKER_ORGS)
    )
    return exists(query.correlate(memories, chats))


def _agent_shares_org() -> ColumnElement[bool]:
    bare = func.substr(_c.created_by_id, literal_column(str(len(AGENT_PREFIX) + 1)))
    agent_id = case((_HAS_AGENT_PREFIX, bare), else_=_c.created_by_id)
    query = select(_ONE).where(agents.c.id == agent_id, InTextList(agents.c.org_id, _ASKER_ORGS))
    return exists(query.correlate(chats))


# A tree stores an agent as a user whose id begins with `agent:`. Prefix match as a range of bytes.
_HAS_AGENT_PREFIX = and_(
    _c.created_by_id >= literal_column("'agent:'", Text),
    _c.created_by_id < literal_column("'agent;'", Text),
)
_CREATED_BY_AGENT = or_(_c.created_by_kind == literal_word(OwnerKind.AGENT), _HAS_AGENT_PREFIX)
