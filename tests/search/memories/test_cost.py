"""A search that names no space costs what its caller may see, however much others have told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from recollect.db.tables.memories import memories
from recollect.db.transaction import Tx
from recollect.identity.model import Caller
from recollect.kernel.ids import ChatId, OrgId, PersonId, UserId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryFilter, StoredMemory
from recollect.people.chat import ChatKind
from recollect.search.memories.rows import SearchContext
from recollect.search.model import index_words
from recollect.visibility.disclosure import (
    AskerView,
    ChatView,
    DisclosureSettings,
)
from recollect.visibility.viewer import Viewer
from tests.support.builders import NOON
from tests.support.memory.builders import a_memory
from tests.support.query_work import Work, measure
from tests.support.storage import Storage

OWN, FOREIGN = 20, 32
ORGS = frozenset({OrgId("default")})
TOLD = ((SpaceKind.CHAT, None), (SpaceKind.USER, None))
# Pages of a B-tree that has grown by a level, a look-up.
MORE_PAGES = 60


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to ask without naming a space."""

    chat: ChatView | None
    chosen: MemoryFilter


WAYS = {
    "all": _Way(None, MemoryFilter()),
    "private chat": _Way(ChatView(ChatId("c"), ChatKind.PRIVATE), MemoryFilter(spaces=TOLD)),
    "past": _Way(None, MemoryFilter(as_of=NOON)),
}


def put(storage: Storage, names: Sequence[str]) -> None:
    """A memory in the space of each of these users, stated by them and about them."""
    stores = storage.stores

    def work(tx: Tx) -> None:
        for name in names:
            memory = a_memory(
                storage,
                space=Space(SpaceKind.USER, name),
                stated_by=f"p-{name}",
                subjects=(f"p-{name}",),
            )
            stored = stores.memories.insert(tx, StoredMemory(memory, Owner.user(name)))
            assert stored is not None
            stores.memory_search.put(tx, stored, index_words(memory.content), pending=False)

    storage.write(work)


def asking(storage: Storage, way: _Way) -> Callable[[Tx], int]:
    ann = UserId("ann")
    viewer = Viewer(
        (Caller(Owner.user(ann), ORGS),),
        AskerView(PersonId("p-ann"), frozenset({ann}), frozenset({ChatId("c")}), ORGS),
        way.chat,
        DisclosureSettings(),
        NOON,
    )
    looking = SearchContext(viewer, way.chosen)
    return lambda tx: len(storage.stores.memory_search.candidates(tx, looking, limit=1_000))


def double(storage: Storage, *, times: int, first: int) -> None:
    """Every foreign memory once more, of another user, so many times over."""
    for number in range(first, first + times):
        for statement in _DOUBLING:
            storage.database.rows(statement.replace("#", f"{number}-"))


def work_of(storage: Storage) -> dict[str, list[Work]]:
    # As the engines do for themselves, sooner or later.
    storage.database.rows("ANALYZE")
    found = {name: storage.read(asking(storage, way)) for name, way in WAYS.items()}
    assert found == dict.fromkeys(WAYS, OWN)
    return {name: measure(storage, asking(storage, way)) for name, way in WAYS.items()}


@pytest.mark.scenario(16)
def test_what_others_have_told_costs_a_search_without_a_space_nothing(storage: Storage) -> None:
    put(storage, ["ann"] * OWN)
    put(storage, [f"u{number}" for number in range(FOREIGN)])
    # So many that no engine would rather look at all rows of a table.
    double(storage, times=6, first=0)
    small = work_of(storage)
    double(storage, times=2, first=6)
    large = work_of(storage)
    for name in WAYS:
        for less, more in zip(small[name], large[name], strict=True):
            assert more.rows <= less.rows * 1.2, name
            assert more.pages <= less.pages + MORE_PAGES, name


def _doubled() -> str:
    new = {name: f"'#' || {name}" for name in ("id", "space_id", "stated_by")}
    names = [column.name for column in memories.columns if column.name != "doc"]
    values = ", ".join(new.get(name, name) for name in names)
    into = f"INSERT INTO memories ({', '.join(names)})"
    return f"{into} SELECT {values} FROM memories WHERE space_id <> 'ann'"


_DOUBLING = (
    _doubled(),
    """
    INSERT INTO memory_subjects (memory_id, person_id, place)
    SELECT '#' || memory_id, '#' || person_id, place FROM memory_subjects
    WHERE person_id <> 'p-ann'
    """,
    """
    INSERT INTO memory_index (doc, memory_id, revision, head, terms, stems, pending)
    SELECT doc, id, 1, 0, 'tea', '', false FROM memories
    WHERE doc NOT IN (SELECT doc FROM memory_index)
    """,
)
