"""What is shown in a world: by the pure rules, and by a filter in plain Python."""

from collections.abc import Iterable
from datetime import datetime

from recollect.identity.space_policy import SpaceView, may_write
from recollect.kernel.ids import AgentId, ChatId, OrgId, PersonId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryFilter, MemoryKind, MemoryStatus
from recollect.visibility.disclosure import MemoryView
from recollect.visibility.viewer import Viewer, can_view
from tests.visibility.worlds.world import NOW, Fact, GeneratedWorld, VersionFact


def is_shown(world: GeneratedWorld, fact: Fact, viewer: Viewer, chosen: MemoryFilter) -> bool:
    if fact.erased or not is_asked_for(fact, chosen):
        return False
    if viewer.system:
        return True
    if fact.compacted or fact.status is MemoryStatus.QUARANTINED:
        return False
    space = space_view(world, fact)
    writes = all(may_write(caller, space).allowed for caller in viewer.callers)
    return (writes or not is_due(fact)) and can_view(
        viewer, memory_view(world, fact), space
    ).allowed


def space_view(world: GeneratedWorld, fact: Fact) -> SpaceView:
    kind = fact.space_kind
    lineage = world.lineage(fact.space_id) if kind is SpaceKind.RUN else frozenset()
    here = world.owners_in(fact.space_id) if kind is SpaceKind.CHAT else frozenset()
    return SpaceView(
        Space(kind, fact.space_id),
        AgentId(fact.agent_id) if fact.agent_id else None,
        world.agents[fact.agent_id][0] if fact.agent_id else None,
        participants=here,
        lineage=frozenset(AgentId(agent) for agent in lineage),
    )


def memory_view(world: GeneratedWorld, fact: Fact) -> MemoryView:
    """`active`: whether a row that is not so is asked for was decided before."""
    orgs: frozenset[str] = frozenset()
    if fact.space_kind is SpaceKind.USER:
        orgs = world.user_orgs[fact.space_id]
    elif fact.space_kind is SpaceKind.CHAT:
        orgs = world.creator_orgs(fact.space_id)
    return MemoryView(
        space=Space(fact.space_kind, fact.space_id),
        sensitivity=fact.sensitivity,
        portable=fact.portable,
        origin=fact.origin,
        learned_in=ChatId(fact.learned_in) if fact.learned_in else None,
        stated_by=PersonId(fact.stated_by) if fact.stated_by else None,
        subjects=people(fact.subjects),
        bare_names=fact.bare_names,
        witnesses=people(world.people_at(fact.learned_in, fact.observed_at)),
        orgs=frozenset(OrgId(org) for org in orgs),
    )


def people(ids: Iterable[str]) -> frozenset[PersonId]:
    return frozenset(PersonId(id_) for id_ in ids)


def is_due(fact: Fact) -> bool:
    return fact.expires_at is not None and fact.expires_at <= NOW


def is_asked_for(fact: Fact, chosen: MemoryFilter) -> bool:
    return is_in_spaces(fact, chosen) and is_of_its_time(fact, chosen) and is_alike(fact, chosen)


def is_in_spaces(fact: Fact, chosen: MemoryFilter) -> bool:
    if chosen.spaces is None:
        return True
    return any(
        kind is fact.space_kind and id_ in (None, fact.space_id) for kind, id_ in chosen.spaces
    )


def is_of_its_time(fact: Fact, chosen: MemoryFilter) -> bool:
    """Statuses, expiry and the two kinds of past."""
    if chosen.as_of is not None:
        return not is_due(fact) and was_recorded(fact, chosen)
    if is_due(fact) and MemoryStatus.EXPIRED in chosen.statuses:
        return True
    if is_due(fact) and not chosen.include_expired:
        return False
    if chosen.valid_at is None:
        return fact.status in chosen.statuses
    return (
        fact.retracted_at is None
        and fact.status in of_any_time(chosen)
        and is_valid(fact, chosen.valid_at)
    )


def was_recorded(fact: Fact, chosen: MemoryFilter) -> bool:
    at = chosen.as_of
    assert at is not None
    if fact.retracted_at is not None and fact.retracted_at <= at:
        return False
    version = next(
        (v for v in fact.versions if v.at <= at and (v.until is None or at < v.until)), None
    )
    if version is None:
        return False
    if chosen.valid_at is None:
        return version.status in chosen.statuses
    return version.status in of_any_time(chosen) and is_valid(version, chosen.valid_at)


def of_any_time(chosen: MemoryFilter) -> set[MemoryStatus]:
    wanted = set(chosen.statuses)
    return wanted | {MemoryStatus.SUPERSEDED} if MemoryStatus.ACTIVE in wanted else wanted


def is_valid(what: Fact | VersionFact, at: datetime) -> bool:
    began = what.valid_from is None or what.valid_from <= at
    return began and (what.valid_until is None or at < what.valid_until)


def is_alike(fact: Fact, chosen: MemoryFilter) -> bool:
    space = Space(fact.space_kind, fact.space_id)
    equal = {
        "agent_id": fact.agent_id,
        "visibility": space.visibility,
        "scope": space.scope,
        "run_id": fact.run_id,
        "kind": MemoryKind.RECORD if fact.key else MemoryKind.STATEMENT,
        "key": fact.key,
        "stated_by": fact.stated_by,
        "sensitivity": fact.sensitivity,
    }
    return (
        all(getattr(chosen, name) in (None, value) for name, value in equal.items())
        and set(chosen.tags) <= set(fact.tags)
        and (not chosen.types or fact.type in chosen.types)
        and (not chosen.subjects or bool(set(chosen.subjects) & set(fact.subjects)))
        and (chosen.created_after is None or fact.created_at > chosen.created_after)
        and (chosen.created_before is None or fact.created_at < chosen.created_before)
    )
