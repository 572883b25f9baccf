"""What SQL lists for a viewer and a filter is what the pure rules show, in generated worlds, on
every engine. A failing world is grown again by its seed."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from random import Random

import pytest
from sqlalchemy import select

from recollect.app.stores import Stores
from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, param
from recollect.db.tables.memories import memories
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.identity.space_policy import may_write
from recollect.kernel import strict_json
from recollect.kernel.errors import RecollectError
from recollect.kernel.ids import ChatId, MemoryId
from recollect.memories.model import MemoryFilter, MemoryStatus, ReadContext
from recollect.memories.store.filters_sql import (
    FilterShape,
    filter_clause,
    filter_params,
)
from recollect.memories.store.prefilter_sql import prefilter_clause
from recollect.visibility.disclosure import DisclosureSettings
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.sql import ViewerShape, viewer_params, visible_clause
from recollect.visibility.viewer import Viewer, can_view
from recollect.visibility.viewers import ViewerFactory
from tests.conftest import SoakSize
from tests.support.engines import TestDatabase
from tests.support.storage import Storage, a_storage
from tests.visibility.worlds.asking import REFUSED, UNKNOWN, answer, askings
from tests.visibility.worlds.generate import grow
from tests.visibility.worlds.handles import check_handles
from tests.visibility.worlds.questions import ViewerGenerator, requesters
from tests.visibility.worlds.rows import store
from tests.visibility.worlds.rules import is_due, is_shown, memory_view, space_view
from tests.visibility.worlds.world import NOW, GeneratedWorld

pytestmark = pytest.mark.long

VIEWERS = 4
ASKERS = 6
BATCH = 50
FAR = 1_000_000
_ANY_STATUS = MemoryFilter(statuses=tuple(MemoryStatus), include_expired=True)


@pytest.fixture(scope="module")
def storage(engine: TestDatabase) -> Iterator[Storage]:
    with a_storage(engine) as running:
        yield running


@pytest.mark.amendment(1)
@pytest.mark.amendment(3)
@pytest.mark.amendment(4)
def test_sql_lists_what_the_rules_show(storage: Storage, soak_size: SoakSize) -> None:
    worlds = soak_size(1_000, 10_000)
    shown = given = refused = named = 0
    for first in range(0, worlds, BATCH):
        batch = [grow(seed) for seed in range(first, first + BATCH)]
        storage.write(partial(store, worlds=batch))
        for world in batch:
            shown += storage.read(partial(check, world=world))
            answered = storage.read(partial(check_askers, storage=storage, world=world))
            given, refused = given + answered[0], refused + answered[1]
            named += storage.read(partial(check_handles, storage=storage, world=world))
    print(f"{worlds} worlds: {shown} rows shown, {given} askers, {refused} refused, {named} named")
    assert shown > worlds
    assert min(given, refused) > worlds // 4
    assert named > worlds // 2


def test_single_rows_are_judged_as_lists_are(storage: Storage, soak_size: SoakSize) -> None:
    views = VisibilityFacts(storage.stores)
    # Seeds that the other test does not use: both fill one database.
    for seed in range(FAR, FAR + soak_size(100, 1_000)):
        world = grow(seed)
        storage.write(partial(store, worlds=[world]))
        storage.read(partial(check_rows, views=views, stores=storage.stores, world=world))


def check_rows(tx: Tx, views: VisibilityFacts, stores: Stores, world: GeneratedWorld) -> None:
    """The rule that is named, too: an explanation tells it."""
    viewer = ViewerGenerator(world).viewer()
    for fact in world.facts:
        stored = stores.memories.fetch(tx, MemoryId(fact.id))
        assert stored is not None
        active = fact.status is MemoryStatus.ACTIVE and not is_due(fact)
        space, memory = space_view(world, fact), replace(memory_view(world, fact), active=active)
        judged = views.can_view(tx, viewer, stored)
        assert judged == can_view(viewer, memory, space), f"world {world.seed}: {viewer} {fact}"
        remains = replace(memory, active=fact.status is not MemoryStatus.QUARANTINED)
        by_id = views.can_view_by_id(tx, viewer, stored)
        if not (viewer.system or fact.status is MemoryStatus.QUARANTINED):
            assert by_id == can_view(viewer, remains, space), f"world {world.seed}: {viewer} {fact}"
        found = stores.memories.fetch_visible_by_id(tx, viewer, stored.memory.id, _ANY_STATUS)
        gone = stored.erasure_id or (stored.compacted_at and not viewer.system)
        shown = by_id.allowed and not gone
        assert (found is not None) == shown, f"world {world.seed}: {viewer} {fact}"
        for requester in requesters(world):
            decided = views.may_change(tx, requester, stored)
            assert decided == may_write(requester.space_caller, space), (
                f"{world.seed}: {requester} {fact}"
            )


def check(tx: Tx, world: GeneratedWorld) -> int:
    """Compare, and count what was shown: a world where nobody sees anything proves nothing."""
    asking = ViewerGenerator(world)
    shown = 0
    for _ in range(VIEWERS):
        viewer, chosen = asking.viewer(), asking.filter()
        listed = rows(tx, world, viewer, chosen)
        expected = {f.id for f in world.facts if is_shown(world, f, viewer, chosen)}
        assert listed == expected, f"world {world.seed}: {viewer} {chosen}\n{world}"
        shown += len(listed)
    return shown


def check_askers(tx: Tx, storage: Storage, world: GeneratedWorld) -> tuple[int, int]:
    """Agents that ask for others get the viewer that the plain facts allow, or the refusal. Counts
    both."""
    some, settings = Random(world.seed), DisclosureSettings()
    viewers = ViewerFactory(storage.stores, storage.runtime, settings)
    every = list(askings(world))
    # Most agents take no part in most chats.
    inside = [one for one in every if answer(world, one, settings) != UNKNOWN]
    given = refused = 0
    for asking in (*some.sample(inside, min(ASKERS, len(inside))), some.choice(every)):
        context = ReadContext(ChatId(asking.named_as), asking.asker_id)
        meant = answer(world, asking, settings)
        got = viewer_or_code(viewers, tx, asking.requester, context)
        assert got == meant, f"world {world.seed}: {asking}\n{world}"
        refused += got == REFUSED
        if isinstance(got, Viewer) and len(got.callers) > 1:
            given += 1
            chosen = MemoryFilter(statuses=tuple(MemoryStatus), include_expired=True)
            expected = {f.id for f in world.facts if is_shown(world, f, got, chosen)}
            assert rows(tx, world, got, chosen) == expected, f"{world.seed}: {asking}"
    return given, refused


def viewer_or_code(
    viewers: ViewerFactory, tx: Tx, requester: Requester, context: ReadContext
) -> Viewer | str:
    try:
        return replace(viewers.viewer_for(tx, requester, context), now=NOW)
    except RecollectError as refusal:
        return refusal.code


def rows(tx: Tx, world: GeneratedWorld, viewer: Viewer, chosen: MemoryFilter) -> set[str]:
    params = viewer_params(viewer) | filter_params(chosen, viewer.now)
    params["ids"] = strict_json.dump([fact.id for fact in world.facts])
    shapes = ViewerShape.from_viewer(viewer), FilterShape.from_filter(chosen)
    listed = {row[0] for row in tx.fetch(_listing(*shapes, near=False), params)}
    # A search looks only where a row can be that the viewer may see, and misses none.
    assert {row[0] for row in tx.fetch(_listing(*shapes, near=True), params)} == listed
    return listed


@cache
def _listing(viewer: ViewerShape, chosen: FilterShape, *, near: bool) -> Query:
    among = InTextList(memories.c.id, param("ids", memories.c.id))
    query = select(memories.c.id).where(among, visible_clause(viewer), filter_clause(chosen))
    reach = prefilter_clause(viewer, chosen) if near else None
    return Query(query if reach is None else query.where(reach))
