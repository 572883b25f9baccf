"""Resolves the sent filters of lists, searches, recall and export to a `MemoryFilter`."""

from collections.abc import Sequence

from recollect.agents.run import Run
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import NotFound, ValidationFailed
from recollect.kernel.ids import AgentId, ChatId, PersonId, RunId
from recollect.kernel.space import (
    AGENT_KINDS,
    SpaceKind,
    SpaceName,
    agent_spaces,
)
from recollect.memories.fields import FILTERED_FIELDS
from recollect.memories.filters import ALL_SPACES, LOCATION_FIELDS, MemoryFilters
from recollect.memories.model import MemoryFilter
from recollect.memories.store.bundle import MemoryStores
from recollect.people.name_candidates import visible_people

SpaceSelectors = tuple[tuple[SpaceKind, str | None], ...]

_EQUAL_FIELDS = [f.name for f in FILTERED_FIELDS if f.name in MemoryFilters.model_fields]


def require_location(filters: MemoryFilters) -> None:
    """Raise ValidationFailed if no field limits where to read: everything must be asked for."""
    if not filters.has_location:
        names = ", ".join(LOCATION_FIELDS)
        message = f'say where to look: one of {names}; `spaces: "all"` is everything'
        raise ValidationFailed.for_field("spaces", message)


def resolve_filter(
    tx: Tx, stores: MemoryStores, filters: MemoryFilters, *, known_to: Requester | None
) -> MemoryFilter:
    """The filter for the store, with canonical person ids.

    Raises NotFound for an unknown agent, and for a run or person that `known_to` may not know of.
    `known_to` None is for admins, who may know of everything.
    """
    _check_agent_and_run(tx, stores, filters, known_to)
    subjects = filters.subjects or []
    staters = [] if filters.stated_by is None else [filters.stated_by]
    people = _resolve_people(tx, stores, [*subjects, *staters], known_to)
    by_agent = bool(filters.spaces) or filters.run_id is not None or filters.scope is not None
    equal = {name: getattr(filters, name) for name in _EQUAL_FIELDS}
    # `agent_id` selects rows by their agent if other fields select the spaces.
    equal |= {"agent_id": filters.agent_id if by_agent else None}
    return MemoryFilter(
        **equal | {"stated_by": people.get(filters.stated_by or "")},
        spaces=_select_spaces(tx, stores, filters),
        visibility=filters.visibility,
        scope=filters.scope,
        tags=tuple(filters.tags or ()),
        types=tuple(filters.types or ()),
        subjects=tuple(dict.fromkeys(people[subject] for subject in subjects)),
        statuses=(filters.status,),
        include_expired=filters.include_expired,
        created_after=filters.created_after,
        created_before=filters.created_before,
        valid_at=filters.valid_at,
        as_of=filters.as_of,
    )


def _check_agent_and_run(
    tx: Tx, stores: MemoryStores, filters: MemoryFilters, known_to: Requester | None
) -> None:
    if filters.agent_id is not None and stores.agents.fetch(tx, filters.agent_id) is None:
        raise NotFound("agent", filters.agent_id)
    if filters.run_id is not None and _fetch_run(tx, stores, filters.run_id, known_to) is None:
        raise NotFound("run", filters.run_id)


def _fetch_run(
    tx: Tx, stores: MemoryStores, run_id: RunId, known_to: Requester | None
) -> Run | None:
    if known_to is None:
        return stores.runs.fetch(tx, run_id)
    return stores.runs.fetch_visible(tx, known_to.identity, run_id)


def _resolve_people(
    tx: Tx, stores: MemoryStores, ids: Sequence[str], known_to: Requester | None
) -> dict[str, PersonId]:
    """The canonical id of each person: a merged person finds the memories of the one it became."""
    if not ids:
        return {}
    given = [PersonId(id_) for id_ in ids]
    if known_to is None:
        known = stores.people.fetch_many(tx, given)
    else:
        known = visible_people(tx, stores, known_to, given)
    for id_ in ids:
        if id_ not in known:
            raise NotFound("person", id_)
    return {str(id_): person.id for id_, person in known.items()}


def _select_spaces(tx: Tx, stores: MemoryStores, filters: MemoryFilters) -> SpaceSelectors | None:
    """The spaces to read; None is all. `run_id` and `scope` narrow the rows by themselves, in all
    spaces."""
    spaces = filters.space_names
    if spaces == ALL_SPACES:
        return None
    if spaces:
        return tuple(_space_selector(tx, stores, name, filters.agent_id) for name in spaces)
    if filters.run_id is not None or filters.scope is not None:
        return None
    # With a chat alone, all chat and user spaces are read: what may be disclosed in that chat is
    # decided by visibility, not by the filter.
    named = _agent_and_user_spaces(filters)
    if not named and filters.chat_id is not None:
        return ((SpaceKind.CHAT, None), (SpaceKind.USER, None))
    return named or None


def _space_selector(
    tx: Tx, stores: MemoryStores, name: SpaceName, agent_id: AgentId | None
) -> tuple[SpaceKind, str | None]:
    """Kind and id of a space. Without an id it is every space of the kind, or the agent's if
    `agent_id` was sent."""
    if name.kind is SpaceKind.CHAT and name.id is not None:
        return name.kind, stores.chats.canonical_id(tx, ChatId(name.id))
    if name.id is None and name.kind in AGENT_KINDS:
        return name.kind, agent_id
    return name.kind, name.id


def _agent_and_user_spaces(filters: MemoryFilters) -> SpaceSelectors:
    """The spaces of the agent and of the user. If both are named, both are read."""
    agent_id, user_id = filters.agent_id, filters.user_id
    of_agent = agent_spaces(agent_id) if agent_id is not None else ()
    of_user: SpaceSelectors = ((SpaceKind.USER, user_id),) if user_id is not None else ()
    return (*((space.kind, space.id) for space in of_agent), *of_user)
