"""Who may read and who may write the space of a memory, as SQL.

The same rules as in `identity/space_policy.py`. The clauses belong in a statement over `memories`.
The text of a statement depends on the kinds of its callers only. Ids and lists are parameters;
a list is one parameter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, false, func, literal_column, or_, select, true

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import literal_word, param
from recollect.db.tables.memories import memories
from recollect.db.tables.people import (
    agents,
    chats,
    presences,
    run_ancestors,
    runs,
)
from recollect.identity.model import Caller
from recollect.kernel import strict_json
from recollect.kernel.owner import OwnerKind
from recollect.kernel.space import SpaceKind

_m, _a, _p, _r, _u = memories.c, agents.c, presences.c, runs.c, run_ancestors.c
_ONE: ColumnElement[int] = literal_column("1")

ASKER_CHATS = param("viewer_chats", _m.space_id)
NOW = param("viewer_now", _m.expires_at)
# The function hides the column from the planners on purpose. A condition on the kind alone is not
# selective, and without it the engines would collect all rows of the kind by index and sort them,
# instead of reading an index in the requested order and stopping at the limit.
SPACE_KIND = func.coalesce(_m.space_kind, literal_word("none"))


@dataclass(frozen=True, slots=True)
class CallerShape:
    """The part of a caller that determines the text of a statement. `place` is the caller's number
    among those of the viewer and part of the names of its parameters."""

    place: int
    kind: OwnerKind

    @property
    def id(self) -> ColumnElement[Any]:
        return param(f"viewer_id_{self.place}", _m.space_id)

    @property
    def acting_id(self) -> ColumnElement[Any]:
        """The caller's id if it is an agent with its owner's rights, else NULL."""
        return param(f"viewer_acting_{self.place}", _m.space_id)

    @property
    def is_admin(self) -> ColumnElement[Any]:
        return param(f"viewer_admin_{self.place}", _m.verified)

    @property
    def spelling(self) -> ColumnElement[Any]:
        """The id under which conversation trees store the caller; an agent's has a prefix."""
        return param(f"viewer_spelling_{self.place}", _m.space_id)

    @property
    def orgs(self) -> ColumnElement[Any]:
        return param(f"viewer_orgs_{self.place}", _m.space_id)


def caller_shapes(callers: Sequence[Caller]) -> tuple[CallerShape, ...]:
    """The callers without their values."""
    return tuple(CallerShape(place, caller.who.kind) for place, caller in enumerate(callers))


def caller_params(callers: Sequence[Caller]) -> dict[str, Any]:
    """The values of the callers, by the names of the parameters of their shapes."""
    params: dict[str, Any] = {}
    for place, caller in enumerate(callers):
        params[f"viewer_id_{place}"] = caller.who.id
        params[f"viewer_acting_{place}"] = caller.who.id if caller.acts_for_owner else None
        params[f"viewer_spelling_{place}"] = caller.who.spelling
        params[f"viewer_orgs_{place}"] = strict_json.dump(sorted(caller.orgs))
        params[f"viewer_admin_{place}"] = caller.admin
    return params


def is_of_kind(*kinds: SpaceKind) -> ColumnElement[bool]:
    return SPACE_KIND.in_([literal_word(kind) for kind in kinds])


def all_can_read(callers: Sequence[CallerShape], kind: SpaceKind) -> ColumnElement[bool]:
    """May every caller read the space, given that it is of this kind? Only for kinds that are not
    public and that are not read through disclosure. False without callers, as `all_may_read`."""
    return and_(*(_READERS[kind](caller) for caller in callers)) if callers else false()


def all_can_write(callers: Sequence[CallerShape]) -> ColumnElement[bool]:
    """May every caller write the space, whatever its kind? False without callers."""
    if not callers:
        return false()
    return or_(
        *(
            and_(is_of_kind(*kinds), *(writes(caller) for caller in callers))
            for kinds, writes in _WRITERS
        )
    )


def is_not_expired(instant: ColumnElement[Any]) -> ColumnElement[bool]:
    return or_(_m.expires_at.is_(None), _m.expires_at > instant)


def is_present_at(instant: ColumnElement[Any]) -> ColumnElement[bool]:
    """Does the interval of a row of `presences` contain the instant? It is half-open."""
    return and_(_p.joined_at <= instant, or_(_p.left_at.is_(None), _p.left_at > instant))


def _owns_agent(caller: CallerShape, agent_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Does the caller own the agent? Removed agents count: their owner still reads what was
    archived."""
    query = select(_ONE).where(
        _a.id == agent_id, _a.owner_kind == literal_word(caller.kind), _a.owner_id == caller.id
    )
    return exists(query.correlate(memories))


def _owns_space(caller: CallerShape) -> ColumnElement[bool]:
    owner = _owns_agent(caller, _m.space_id)
    return or_(owner, _m.space_id == caller.acting_id) if caller.kind is OwnerKind.AGENT else owner


def _owns_writing_agent(caller: CallerShape) -> ColumnElement[bool]:
    return _owns_agent(caller, _m.agent_id)


def _runs_or_owns_agent(caller: CallerShape) -> ColumnElement[bool]:
    owner = _owns_writing_agent(caller)
    return or_(owner, _m.agent_id == caller.id) if caller.kind is OwnerKind.AGENT else owner


def _can_read_run(caller: CallerShape) -> ColumnElement[bool]:
    if caller.kind is not OwnerKind.AGENT:
        return _runs_or_owns_agent(caller)
    above = select(_ONE).where(
        _u.run_id == _m.space_id, _r.id == _u.ancestor_id, _r.agent_id == caller.id
    )
    below = select(_ONE).where(
        _u.ancestor_id == _m.space_id, _r.id == _u.run_id, _r.agent_id == caller.id
    )
    return or_(
        _runs_or_owns_agent(caller), *(exists(way.correlate(memories)) for way in (above, below))
    )


def _is_in_org(caller: CallerShape) -> ColumnElement[bool]:
    return InTextList(_m.space_id, caller.orgs)


def _can_write_org(caller: CallerShape) -> ColumnElement[bool]:
    return or_(_owns_writing_agent(caller), caller.is_admin == true())


def _is_that_user(caller: CallerShape) -> ColumnElement[bool]:
    return _m.space_id == caller.id if caller.kind is OwnerKind.USER else false()


def _is_participant(caller: CallerShape) -> ColumnElement[bool]:
    """Does the caller take part in the chat now?

    A user who calls is the person judged, so the list of the asker's chats is theirs. An agent may
    ask for somebody else, whose chats that list then holds, so its own participation is looked up.
    The chat itself must exist too: the rows of participation outlive a deleted conversation tree.
    """
    if caller.kind is OwnerKind.USER:
        return InTextList(_m.space_id, ASKER_CHATS)
    named = and_(_p.kind == literal_word(OwnerKind.AGENT), _p.member_id == caller.id)
    member = and_(_p.kind == literal_word(OwnerKind.USER), _p.member_id == caller.spelling)
    query = select(_ONE).where(
        _p.chat_id == _m.space_id,
        _p.left_at.is_(None),
        or_(named, member),
        exists(select(_ONE).where(chats.c.id == _p.chat_id).correlate(presences)),
    )
    return exists(query.correlate(memories))


_READERS = {
    SpaceKind.AGENT_PRIVATE: _owns_space,
    SpaceKind.RUN: _can_read_run,
    SpaceKind.ORG: _is_in_org,
}
_WRITERS = (
    ((SpaceKind.AGENT_PRIVATE, SpaceKind.AGENT_PUBLIC, SpaceKind.AGENT), _owns_space),
    ((SpaceKind.USER,), _is_that_user),
    ((SpaceKind.CHAT,), _is_participant),
    ((SpaceKind.RUN,), _runs_or_owns_agent),
    ((SpaceKind.ORG,), _can_write_org),
)
