"""A Sight as SQL over `memories`: the twin of `policy.sight.look`. A property test over generated
worlds holds the two equal on every engine.

A clause is made once for each shape of sight: what kind of callers, in what kind of chat. What a
sight holds beyond that, lists too, are parameters, all of which begin with `sight_`.
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
    """What of a sight is in a statement's text."""

    callers: tuple[CallerShape, ...]
    chat: ChatKind | None
    person: bool
    lenient: bool
    closed: bool
    system: bool

    @classmethod
    def of(cls, sight: Sight) -> "SightShape":
        """The sight with its values taken out."""
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
        """Do others listen?"""
        return self.chat is ChatKind.GROUP


def sight_params(sight: Sight) -> dict[str, Any]:
    """The values of a sight. A statement takes those that its shape asks for."""
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
    """Which memories the sight shows: whatever their status, and to those who may write their
    space also when they are past their time. What of this is asked for says `filter_clause`."""
    standing = standing_clause(shape)
    return standing if shape.system else and_(_m.compacted_at.is_(None), standing)


@cache
def standing_clause(shape: SightShape) -> ColumnElement[bool]:
    """The same, and those of which nothing but ids, times and links stands any more."""
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
    """Which memories the sight may know, whatever has become of them."""
    return true() if shape.system else or_(_by_space(shape), _by_disclosure(shape))


def _listed(ids: Iterable[str]) -> str:
    return jsontext.dump(sorted(ids))


def _by_space(shape: SightShape) -> ColumnElement[bool]:
    """Spaces of agents, runs and orgs, which disclosure never opens."""
    if not shape.callers:
        return false()
    unheard = _m.sensitivity == word(Sensitivity.PUBLIC) if shape.group else true()
    open_to = and_(of_kind(SpaceKind.ORG), all_read(shape.callers, SpaceKind.ORG))
    closed_to = (
        and_(of_kind(kind), all_read(shape.callers, kind), unheard)
        for kind in (SpaceKind.AGENT_PRIVATE, SpaceKind.RUN)
    )
    everybody = of_kind(SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT)
    # Whoever reads such a space may have what is not portable, outside of chats.
    carried = true() if shape.chat is None else _carried(shape)
    return and_(carried, or_(everybody, open_to, *closed_to))


def _by_disclosure(shape: SightShape) -> ColumnElement[bool]:
    """Spaces of users and chats."""
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
    """Not portable: asked where it was learned, or outside of chats by a reader of the space."""
    if shape.chat is None:
        return or_(_m.portable == true(), _inside())
    return or_(_m.portable == true(), and_(_learned_in_chat(), _m.learned_in == CHAT))


def _there(shape: SightShape) -> ColumnElement[bool]:
    return _takes_part() if shape.chat is None else _m.space_id == CHAT


def _quiet() -> ColumnElement[bool]:
    """Nobody's privacy is at stake."""
    return or_(_m.sensitivity == word(Sensitivity.PUBLIC), _m.has_subjects == false())


def _known_origin(shape: SightShape) -> ColumnElement[bool]:
    """Where nobody knows the origin it may be closed, and who is meant by a bare name is not told
    outside of the space."""
    named = or_(_m.bare_names.is_(None), _inside())
    return and_(_m.origin != word(Origin.UNKNOWN), named) if shape.closed else named


def _by_relations(shape: SightShape) -> ColumnElement[bool]:
    rows = _group_rows(shape) if shape.group else _private_rows(shape)
    return or_(*(and_(_m.sensitivity == word(kind), enough) for kind, enough in rows.items()))


def _private_rows(shape: SightShape) -> dict[Sensitivity, ColumnElement[bool]]:
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
    """What has no subjects and lies in this chat's space was shown before."""
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


def _subject() -> ColumnElement[bool]:
    query = select(_ONE).where(_s.memory_id == _m.id, _s.person_id == PERSON)
    return exists(query.correlate(memories))


def _present() -> ColumnElement[bool]:
    """Does a subject take part now?"""
    query = select(_ONE).where(_s.memory_id == _m.id, AmongTexts(_s.person_id, _PEOPLE))
    return exists(query.correlate(memories))


def _witnessed() -> ColumnElement[bool]:
    """Was p there when it was said, as a user or as a person?"""
    there = select(_ONE).where(
        _p.chat_id == _m.learned_in, _as_anybody(), present_at(_m.observed_at)
    )
    return and_(_learned_in_chat(), ever_there(), exists(there.correlate(memories)))


def ever_there() -> ColumnElement[bool]:
    """Did p ever take part in the chat? Looked up once, it spares most rows the look-up of an
    interval."""
    return _m.learned_in.in_(select(_p.chat_id).where(_as_anybody()))


def _as_anybody() -> ColumnElement[bool]:
    as_user = and_(_p.kind == word(ParticipantKind.USER), AmongTexts(_p.member_id, USERS))
    as_person = and_(_p.kind == word(ParticipantKind.PERSON), _p.member_id == PERSON)
    return or_(as_user, as_person)


def _in_common_org() -> ColumnElement[bool]:
    """Does p share an org with the user whose space it is, or with the chat's creator?"""
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


# A tree knows an agent by a user's id with a mark: from the mark to what follows it in bytes.
_MARKED = and_(
    _c.created_by_id >= literal_column("'agent:'", Text),
    _c.created_by_id < literal_column("'agent;'", Text),
)
_BY_AGENT = or_(_c.created_by_kind == word(OwnerKind.AGENT), _MARKED)
