"""A read costs what its caller may read, however much others have told: nothing is scanned."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from recollect.audit.model import EventFilter
from recollect.audit.policy import EventReader
from recollect.db.transaction import Tx
from recollect.identity.model import Caller
from recollect.kernel.ids import OrgId, PersonId, UserId
from recollect.kernel.owner import Owner
from recollect.kernel.space import SpaceKind
from recollect.memories.model import MemoryFilter, MemoryStatus
from recollect.people.chat import ChatKind
from recollect.portability.export_scope import ExportScope
from recollect.portability.lines import LineType
from recollect.portability.store.sql import SORT_KEYS
from recollect.search.memories.rows import SearchContext
from recollect.visibility.disclosure import AskerView, ChatView, DisclosureSettings
from recollect.visibility.model import Closeness
from recollect.visibility.viewer import Viewer
from tests.support.engines import TestDatabase
from tests.support.memory.builders import at
from tests.support.memory.crowd import ANN, BOB, GROUP, OWN, PRIVATE_CHAT, double, gather_crowd
from tests.support.query_plans import full_scans
from tests.support.query_work import measure
from tests.support.storage import Storage, a_storage

pytestmark = pytest.mark.long

Read = Callable[[Storage, Tx], int]
TOLD = ((SpaceKind.CHAT, None), (SpaceKind.USER, None))
ORGS = frozenset({OrgId("default")})
LATER = at(2_000)
# Everybody's tables: each has a row of the crowd where Ann has a few.
CROWDED = (
    "memories",
    "memory_subjects",
    "memory_versions",
    "memory_index",
    "audit_events",
    "named_chats",
    "chat_participations",
    "agents",
    "user_orgs",
)
# What everybody may read, each row for itself.
OPEN_INDEXES = ("memories_open", "memories_open_imports")
# A look-up goes through more pages when the tree of an index has grown by a level.
MORE_WORK = 1.5


@pytest.fixture(scope="module")
def storage(engine: TestDatabase) -> Iterator[Storage]:
    with a_storage(engine) as running:
        gather_crowd(running)
        yield running


def viewer(chat: ChatView | None = None) -> Viewer:
    user = UserId(ANN)
    chats = frozenset({PRIVATE_CHAT, GROUP})
    asker = AskerView(PersonId(f"p-{ANN}"), frozenset({user}), chats, ORGS)
    return Viewer((Caller(Owner.user(user), ORGS),), asker, chat, DisclosureSettings(), LATER)


IN_PRIVATE = ChatView(PRIVATE_CHAT, ChatKind.PRIVATE)
IN_GROUP = ChatView(
    GROUP,
    ChatKind.GROUP,
    people=frozenset({PersonId(f"p-{ANN}"), PersonId(f"p-{BOB}")}),
    users=frozenset({UserId(ANN), UserId(BOB)}),
)


def listing(filters: MemoryFilter, chat: ChatView | None = None) -> Read:
    """A page as long as what a recall without a query takes."""

    def read(storage: Storage, tx: Tx) -> int:
        page = storage.stores.memories.page(tx, viewer(chat), filters, after=None, limit=200)
        return len(page)

    return read


def recalling(chat: ChatView | None) -> Read:
    """Page by page, the closest memories first."""

    def read(storage: Storage, tx: Tx) -> int:
        pages = (
            storage.stores.memories.page(
                tx, viewer(chat), MemoryFilter(), after=None, limit=200, closeness=closeness
            )
            for closeness in Closeness
        )
        return sum(map(len, pages))

    return read


def second_page(storage: Storage, tx: Tx) -> int:
    store, first = storage.stores.memories, OWN // 2
    page = store.page(tx, viewer(), MemoryFilter(), after=None, limit=first)
    last = page[-1].memory
    rest = store.page(tx, viewer(), MemoryFilter(), after=(last.created_at, last.id), limit=OWN)
    return len(page) + len(rest)


def searching(filters: MemoryFilter, chat: ChatView | None = None) -> Read:
    def read(storage: Storage, tx: Tx) -> int:
        store, context = storage.stores.memory_search, SearchContext(viewer(chat), filters)
        changed = [] if filters.as_of is None else store.ids_changed_since(tx, context)
        return len(store.candidates(tx, context, limit=1_000)) + len(changed)

    return read


def events(filters: EventFilter) -> Read:
    def read(storage: Storage, tx: Tx) -> int:
        store, reader = storage.stores.event_reads, EventReader(Owner.user(ANN))
        return len(store.page(tx, reader, filters, after=None, limit=200))

    return read


def export(storage: Storage, tx: Tx) -> int:
    scope = ExportScope(viewer(), MemoryFilter(statuses=(MemoryStatus.ACTIVE,)))
    store = storage.stores.portable
    for type_ in SORT_KEYS:
        if type_ is not LineType.MERGE:
            store.page(tx, type_, scope, after=None, limit=200)
    return len(store.memory_page(tx, scope, after=None, limit=200))


READS: dict[str, Read] = {
    "all spaces": listing(MemoryFilter()),
    "recall without a query": recalling(None),
    "recall without a query in a group": recalling(IN_GROUP),
    "the second page of all spaces": second_page,
    "all spaces of some kinds": listing(MemoryFilter(spaces=(*TOLD, (SpaceKind.RUN, "r")))),
    "list by private chat": listing(MemoryFilter(spaces=TOLD), IN_PRIVATE),
    "list of the past": listing(MemoryFilter(as_of=LATER)),
    "search": searching(MemoryFilter()),
    "search in a private chat": searching(MemoryFilter(spaces=TOLD), IN_PRIVATE),
    "search in a group": searching(MemoryFilter(spaces=TOLD), IN_GROUP),
    "list by group": listing(MemoryFilter(spaces=TOLD), IN_GROUP),
    "search of the past": searching(MemoryFilter(as_of=LATER)),
    "events": events(EventFilter()),
    "events of a type": events(EventFilter(kind="memory", action="write")),
    "events of a time": events(EventFilter(since=at(-1), until=at(2_000))),
    "export": export,
}


@pytest.mark.amendment(22)
@pytest.mark.parametrize("analysed", [False, True])
def test_no_read_scans_what_others_have_told(storage: Storage, analysed: bool) -> None:
    # PostgreSQL does so for itself, SQLite only if somebody asks.
    if analysed or storage.engine.name == "postgres":
        storage.database.rows("ANALYZE")
    scanned = {
        name: full_scans(storage, partial(read, storage), CROWDED, but_for=OPEN_INDEXES)
        for name, read in READS.items()
    }
    assert scanned == {name: [] for name in READS}


@pytest.mark.scenario(16)
@pytest.mark.amendment(22)
def test_a_read_costs_the_same_beside_four_times_as_much(storage: Storage) -> None:
    works = []
    for more in (0, 2):
        double(storage, times=more, first=7)
        storage.database.rows("ANALYZE")
        found = {name: storage.read(partial(read, storage)) for name, read in READS.items()}
        heard = {name: 2 * OWN for name in READS if "group" in name}
        assert found == dict.fromkeys(READS, OWN) | heard
        works.append(
            {name: measure(storage, partial(read, storage)) for name, read in READS.items()}
        )
    small, large = works
    for name in READS:
        for before, after in zip(small[name], large[name], strict=True):
            assert after.rows <= before.rows * MORE_WORK, name
            assert after.pages <= before.pages * MORE_WORK, name
