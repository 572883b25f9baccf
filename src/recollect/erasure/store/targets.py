"""Finds the target of an erasure: ids, names, chats, trees, agents, and people who share a name."""

from collections.abc import Iterable, Sequence, Set
from typing import Any

from sqlalchemy import Text, and_, exists, literal_column, not_, or_, select, union

from recollect.db.engines.expressions import InTextList, InUuidList
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import entries, memberships, trees
from recollect.db.tables.memories import memories
from recollect.db.tables.people import (
    agents,
    named_chats,
    people,
    person_aliases,
    person_users,
    person_versions,
    presences,
)
from recollect.db.transaction import Tx
from recollect.erasure.identifier_matcher import IdentifierMatcher
from recollect.erasure.model import BYTE_SEARCH_MIN, ErasureTarget
from recollect.erasure.name_parts import parts_of_names, split_parts
from recollect.erasure.plan import RedactionPlan
from recollect.erasure.store.links_sql import STATED_MEMORY, link_params
from recollect.kernel import strict_json
from recollect.kernel.ids import PersonId, UserId, parse_uuid
from recollect.people.model import is_handle_of, normal_form
from recollect.people.store.participation_sql import IS_HUMAN

_p, _a, _l, _h, _m = people.c, person_aliases.c, person_users.c, presences.c, memberships.c
_v = person_versions.c


_POSSESSIVE = ("'s", "’s", "' ", "’ ")


def has_user(tx: Tx, user_id: UserId) -> bool:
    """Does the user have a person, a membership or an entry, or did anybody say their handle?"""
    known = any(tx.fetch_first(one, {"user_id": user_id}) is not None for one in _USER_EXISTS)
    return known or bool(_find_awaited(tx, [user_id]))


def resolve_person(tx: Tx, person_id: PersonId) -> PersonId | None:
    """The id after merges; None if the person is unknown or being erased."""
    row = tx.fetch_first(_CANONICAL, {"id": person_id})
    return None if row is None or row[2] is not None else PersonId(row[1] or row[0])


def find_target(
    tx: Tx, *, person_id: PersonId | None, user_ids: Sequence[UserId], stand_in: str
) -> ErasureTarget:
    """Everything linked to a canonical person (with those merged into it) and to these users: also
    the people who stand for them in orgs where they did not call yet."""
    awaited = _find_awaited(tx, user_ids)
    ids = _to_json_list([person_id, *awaited] if person_id else awaited)
    rows = tx.fetch(_PEOPLE, {"ids": ids})
    person_ids = tuple(row[0] for row in rows)
    claims = tx.fetch(_ALIASES, {"ids": _to_json_list(person_ids)})
    linked = tx.fetch(_USERS, {"ids": ids})
    users = tuple(sorted({*user_ids, *(row[0] for row in linked)}))
    found = ErasureTarget(
        stand_in=stand_in,
        person_ids=person_ids,
        user_ids=users,
        names=_drop_duplicates(
            [row[1] for row in rows]
            + [v for v, kind in claims if kind == "alias"]
            + [row[0] for row in tx.fetch(_FORMER_NAMES, {"ids": _to_json_list(person_ids)})]
        ),
        handles=_drop_duplicates(value for value, kind in claims if kind == "handle"),
    )
    return _add_conversations(tx, found)


def _find_awaited(tx: Tx, user_ids: Sequence[UserId]) -> list[PersonId]:
    """Those whom somebody meant by `@` and the id of one of these users."""
    handles = {normal_form(id_) for id_ in user_ids if is_handle_of(id_, normal_form(id_))}
    return [PersonId(row[0]) for row in tx.fetch(_AWAITED, {"handles": _to_json_list(handles)})]


def extend_target(tx: Tx, target: ErasureTarget) -> ErasureTarget:
    """The target with people that were created for its users since, and their chats and trees."""
    rows = tx.fetch(_LINKED, {"ids": _to_json_list(target.user_ids)})
    ids = [row[0] for row in rows if row[0] not in target.person_ids]
    users = [UserId(id_) for id_ in target.user_ids]
    # At least one pass, without a person if there is no new one: the users may have joined chats.
    for person_id in ids or [None]:
        found = find_target(tx, person_id=person_id, user_ids=users, stand_in=target.stand_in)
        target = target.merge(found)
    return target


def plan_redaction(tx: Tx, target: ErasureTarget) -> RedactionPlan:
    """Decide which identifiers are redacted where, by the names of all other people.

    An identifier that is a name of another person, or a part of one, is shared: `Ann` is shared if
    there is an `Ann Miller`. Her rows and the chats she is in keep `Ann`; elsewhere it is redacted
    in linked rows.
    """
    identifiers = target.identifiers
    matcher = IdentifierMatcher(identifiers)
    rows = tx.fetch(_OTHER_NAMES, {"ids": _to_json_list(target.person_ids)}) if identifiers else ()
    # One pass over all names with one matcher for everything. Only the few that match are compared
    # again, identifier by identifier, to see which of them are shared.
    alike = [(id_, name) for id_, name in rows if _has_name_part(name, matcher)]
    shared = {
        one
        for one in identifiers
        if any(_has_name_part(name, IdentifierMatcher([one])) for _, name in alike)
    }
    namesakes = {id_ for id_, _ in alike}
    users = {row[0] for row in tx.fetch(_USERS, {"ids": _to_json_list(namesakes)})}
    chats = tx.fetch(_PRESENT, {"users": _to_json_list(users), "people": _to_json_list(namesakes)})
    unique = tuple(one for one in identifiers if one not in shared)
    traces, left = _split_name_parts(target, shared, [name for _, name in rows])
    return RedactionPlan(
        target,
        IdentifierMatcher((*identifiers, *target.person_ids), capitalized=traces),
        IdentifierMatcher((*unique, *target.person_ids), capitalized=traces),
        IdentifierMatcher(target.unambiguous_identifiers),
        IdentifierMatcher((*identifiers, *target.person_ids, *traces)),
        frozenset(namesakes),
        frozenset(users),
        frozenset(row[0] for row in chats),
        tuple(one for one in unique if len(one.encode()) >= BYTE_SEARCH_MIN),
        name_parts_left=len(left),
    )


def _split_name_parts(
    target: ErasureTarget, shared: Set[str], other_names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of names that are traces of the target, and the others. Of a name that another
    person has too, no part is a trace."""
    parts = parts_of_names(target.names)
    # A part may be a name of its own, an alias: then it is redacted as such.
    own = {one for one in parts if one in target.identifiers}
    matcher = IdentifierMatcher(parts)
    alike = [name for name in other_names if _has_name_part(name, matcher)] if parts else []
    borne = {
        one
        for one in parts
        if any(_has_name_part(name, IdentifierMatcher([one])) for name in alike)
    }
    borne |= set(parts_of_names(one for one in target.names if one in shared))
    traces, left = split_parts(target.names, borne)
    return traces, tuple(one for one in left if one not in own)


def _has_name_part(name: str, matcher: IdentifierMatcher) -> bool:
    """Is an identifier a part of the name? A possessive does not count: a person known as "Ann's
    mother" is not called Ann."""
    return any(not name[end:].startswith(_POSSESSIVE) for _, end in matcher.find_spans(name))


def _add_conversations(tx: Tx, target: ErasureTarget) -> ErasureTarget:
    """Add chats, trees, agents and statements.

    A chat is shared if another human ever was a participant, also one who has left: what they said
    there is theirs. A tree is shared if it has a member who is neither the target nor an agent.
    Shared ones stay and are redacted, the others are deleted.
    """
    owners = {"users": _to_json_list(target.user_ids), "people": _to_json_list(target.person_ids)}
    here = {row[0] for row in tx.fetch(_PRESENT, owners)}
    here |= {row[0] for row in tx.fetch(_MEMBER, owners)}
    tree_ids = [one for one in here if parse_uuid(one) is not None]
    places = owners | {"ids": _to_json_list(here), "tree_ids": _to_json_list(tree_ids)}
    # Participations are stored for chats and trees alike; the tables say which is which.
    living = {row[0] for row in tx.fetch(_TREES, places)}
    shared_trees = {row[0] for row in tx.fetch(_SHARED_TREES, places)} & living
    named = {row[0] for row in tx.fetch(_NAMED_CHATS, places)}
    shared_chats = {
        row[0] for row in tx.fetch(_SHARED_CHATS, owners | {"ids": _to_json_list(named)})
    }
    owned = tx.fetch(_AGENTS, owners)
    target = ErasureTarget(
        stand_in=target.stand_in,
        person_ids=target.person_ids,
        user_ids=target.user_ids,
        names=target.names,
        handles=target.handles,
        chats=tuple(sorted(shared_chats)),
        trees=tuple(sorted(shared_trees)),
        gone_chats=tuple(sorted(named - shared_chats)),
        gone_trees=tuple(sorted(living - shared_trees)),
        agents=tuple(sorted(row[0] for row in owned)),
    )
    stated = tuple(row[0] for row in tx.fetch(_STATED, link_params(target)))
    return ErasureTarget.from_json(target.to_json() | {"memories": stated})


def _to_json_list(texts: Iterable[str]) -> str:
    return strict_json.dump(sorted(set(texts)))


def _drop_duplicates(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _participant_clause(users: str = "users", persons: str = "people") -> Any:
    return or_(
        and_(_h.kind == literal_word("user"), InTextList(_h.member_id, param(users))),
        and_(_h.kind == literal_word("person"), InTextList(_h.member_id, param(persons))),
    )


_IDS = param("ids")
_USER = param("user_id", _l.user_id)
_USER_EXISTS = (
    Query(select(_l.user_id).where(_l.user_id == _USER).limit(1)),
    Query(select(_m.user_id).where(_m.user_id == _USER).limit(1)),
    Query(select(entries.c.id).where(entries.c.user_id == _USER).limit(1)),
)
_CANONICAL = Query(select(_p.id, _p.merged_into, _p.erasure_id).where(_p.id == param("id", _p.id)))
_AWAITED = Query(
    select(_p.id).where(
        InTextList(_p.awaited_handle, param("handles")),
        _p.awaited_provider.is_(None),
        _p.merged_into.is_(None),
        _p.erasure_id.is_(None),
    )
)
_PEOPLE = Query(
    select(_p.id, _p.name)
    .where(or_(InTextList(_p.id, _IDS), InTextList(_p.merged_into, _IDS)))
    .order_by(_p.id)
)
_ALIASES = Query(select(_a.value, _a.kind).where(InTextList(_a.person_id, _IDS)).order_by(_a.id))
_FORMER_NAMES = Query(
    select(_v.name).where(InTextList(_v.person_id, _IDS)).order_by(_v.until, _v.id)
)
_USERS = Query(select(_l.user_id).where(InTextList(_l.person_id, _IDS)))
_PRESENT = Query(select(_h.chat_id).where(_participant_clause()).distinct())
_MEMBER = Query(
    select(_m.conversation_group_id).where(InTextList(_m.user_id, param("users"))).distinct()
)
_NAMED_CHATS = Query(
    select(named_chats.c.id).where(
        or_(
            InTextList(named_chats.c.id, _IDS),
            and_(
                named_chats.c.created_by_kind == literal_word("user"),
                InTextList(named_chats.c.created_by_id, param("users")),
            ),
        )
    )
)
# No condition on `left_at`: those who have left count too.
_SHARED_CHATS = Query(
    select(named_chats.c.id).where(
        InTextList(named_chats.c.id, _IDS),
        exists().where(_h.chat_id == named_chats.c.id, IS_HUMAN, not_(_participant_clause())),
    )
)
_TREES = Query(select(trees.c.id).where(InUuidList(trees.c.id, param("tree_ids"))))
# Members with the prefix `agent:`, as a range that an index serves (`;` follows `:`).
_IS_AGENT = and_(
    _m.user_id >= literal_column("'agent:'", Text), _m.user_id < literal_column("'agent;'", Text)
)
_SHARED_TREES = Query(
    select(_m.conversation_group_id)
    .where(
        InUuidList(_m.conversation_group_id, param("tree_ids")),
        not_(InTextList(_m.user_id, param("users"))),
        not_(_IS_AGENT),
    )
    .distinct()
)
_AGENTS = Query(
    select(agents.c.id).where(
        agents.c.owner_kind == literal_word("user"), InTextList(agents.c.owner_id, param("users"))
    )
)
_STATED = Query(select(memories.c.id).where(STATED_MEMORY).order_by(memories.c.doc))
_LINKED = Query(select(_l.person_id).where(InTextList(_l.user_id, _IDS)).order_by(_l.person_id))
_OTHER_PEOPLE = and_(_p.erasure_id.is_(None), not_(InTextList(_p.id, _IDS)))
_OTHER_NAMES = Query(
    union(
        select(_p.id, _p.name).where(_OTHER_PEOPLE),
        select(_p.id, _a.value)
        .select_from(person_aliases.join(people, _p.id == _a.person_id))
        .where(_OTHER_PEOPLE),
    )
)
