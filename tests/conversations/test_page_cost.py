"""A page costs what it shows, however large the rest of the tree is."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from recollect.conversations.entries.entry import Channel, EntryOrder
from recollect.conversations.entries.service import (
    EntryQuery,
    list_entries,
    view_for,
)
from recollect.conversations.forks.service import build_fork, find_fork_point
from recollect.conversations.model import Branch, Conversation
from recollect.db.transaction import Tx
from recollect.identity.model import Principal
from recollect.kernel.ids import ClientId, EntryId, UserId
from tests.conftest import SoakSize
from tests.support.builders import NOON
from tests.support.bulk import BulkTree
from tests.support.query_work import Work, measure
from tests.support.storage import Storage

ANN = Principal(UserId("ann"), client_id=ClientId("k1"))
LIMIT = 50
DEPTH = 3
# A B-tree grows by a level now and then, and a page may be split: this many pages a statement.
PAGES_A_STATEMENT = 2


@dataclass(frozen=True, slots=True)
class Deep:
    """A fork of depth three, and the entry that ends its first page."""

    branch: Conversation
    cursor: EntryId


@pytest.fixture(scope="module")
def trees(storage: Storage, soak_size: SoakSize) -> tuple[Deep, Deep]:
    """Two trees that differ in the number of their forks alone."""
    own = soak_size(20, 100)
    return (
        a_tree(storage, forks=10, own=own),
        a_tree(storage, forks=soak_size(1_000, 10_000), own=own),
    )


def a_tree(storage: Storage, *, forks: int, own: int) -> Deep:
    """A chain of three forks among many; each branch has history and memory of two clients."""
    tree = BulkTree(storage)
    branch, chain = tree.root, 0
    tree.append(branch, own)
    for number in range(forks):
        deeper = chain < DEPTH and number % (forks // DEPTH) == 0
        fork = tree.fork(branch if deeper else tree.root, tree.seq if deeper else own // 2)
        entries = tree.append(fork, own)
        tree.append(fork, 2, client="k1")
        tree.append(fork, 2, client="k2")
        if deeper:
            branch, chain, cursor = fork, chain + 1, entries[0]
            tree.append(fork, 1)
    tree.write()
    return Deep(branch, cursor)


def listing(storage: Storage, conversation: Conversation, **asked: object) -> Callable[[Tx], int]:
    """The read that a list call runs; how many entries it shows."""
    order = EntryOrder(str(asked.get("order", "asc")))
    query = EntryQuery(channel=asked.get("channel"), order=order)  # type: ignore[arg-type]
    client = asked.get("client", "k1")
    after = asked.get("after")

    def work(tx: Tx) -> int:
        page = list_entries(
            tx,
            storage.stores,
            located(tx, storage, conversation),
            query,
            view_for(ClientId(str(client)) if client else None, query),
            after=str(after) if after else None,
            limit=LIMIT,
        )
        return len(page.items)

    return work


def located(tx: Tx, storage: Storage, conversation: Conversation) -> Branch:
    branch = storage.stores.conversations.locate(tx, conversation.id, ANN.user_id)
    assert branch is not None
    return branch


def assert_no_more(small: list[Work], large: list[Work]) -> None:
    for less, more in zip(small, large, strict=True):
        assert more.statements == less.statements
        assert more.rows <= less.rows
        assert more.pages <= less.pages + PAGES_A_STATEMENT * more.statements


@pytest.mark.scenario(13)
@pytest.mark.parametrize("client", [None, "k1"])
@pytest.mark.parametrize("second_page", [False, True])
def test_a_page_of_a_deep_fork_costs_the_same_in_a_tree_of_many_forks(
    storage: Storage, trees: tuple[Deep, Deep], client: str | None, second_page: bool
) -> None:
    reads = [
        listing(storage, deep.branch, client=client, after=deep.cursor if second_page else None)
        for deep in trees
    ]
    assert [storage.read(read) for read in reads] != [0, 0]
    small, large = (measure(storage, read) for read in reads)
    assert_no_more(small, large)


@pytest.mark.parametrize("client", [None, "k1"])
def test_the_newest_entries_of_a_deep_fork_cost_the_same_in_a_tree_of_many_forks(
    storage: Storage, trees: tuple[Deep, Deep], client: str | None
) -> None:
    reads = [listing(storage, deep.branch, client=client, order="desc") for deep in trees]
    small, large = (measure(storage, read) for read in reads)
    for less, more in zip(small, large, strict=True):
        assert more.statements == less.statements
        assert more.rows <= less.rows + less.statements


@pytest.mark.scenario(13)
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_page_reads_no_more_rows_than_depth_and_page(
    storage: Storage, trees: tuple[Deep, Deep], order: str
) -> None:
    """Chain, branch, epoch of each segment, two merged ranges of a page and one row more."""
    if storage.engine.name == "sqlite":
        steps_a_row = 60
        bound = steps_a_row * (10 * DEPTH + 3 * LIMIT)
    else:
        bound = 10 * DEPTH + 3 * LIMIT
    for work in measure(storage, listing(storage, trees[1].branch, order=order)):
        assert work.rows <= bound


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_page_of_a_long_conversation_costs_what_a_short_one_does(
    storage: Storage, soak_size: SoakSize, order: str
) -> None:
    works = []
    for length in (LIMIT + 10, soak_size(5_000, 50_000)):
        tree = BulkTree(storage)
        tree.append(tree.root, length)
        tree.write()
        works.append(measure(storage, listing(storage, tree.root, client=None, order=order)))
    assert_no_more(*works)


def test_the_latest_epoch_costs_the_same_beside_many_others(
    storage: Storage, soak_size: SoakSize
) -> None:
    works = []
    for epochs in (1, soak_size(200, 2_000)):
        tree = BulkTree(storage)
        for epoch in range(1, epochs + 1):
            tree.append(tree.root, 10, client="k1", epoch=epoch)
            tree.append(tree.root, 10, client="k2", epoch=epoch)
            tree.append(tree.root, 10, client="k0", epoch=epoch)
        tree.write()
        read = listing(storage, tree.root, channel=Channel.MEMORY)
        assert storage.read(read) == 10
        works.append(measure(storage, read))
    assert_no_more(*works)


def test_a_fork_costs_the_same_however_long_its_parent_is(
    storage: Storage, soak_size: SoakSize
) -> None:
    works = []
    for length in (10, soak_size(10_000, 100_000)):
        tree = BulkTree(storage)
        last = tree.append(tree.root, length)[-1]
        tree.write()
        works.append(measure(storage, forking(storage, tree.root, last)))
    assert_no_more(*works)


def forking(
    storage: Storage, parent: Conversation, entry_id: EntryId
) -> Callable[[Tx], Conversation]:
    """Everything that a fork call reads; it then inserts one row."""

    def work(tx: Tx) -> Conversation:
        point = find_fork_point(tx, storage.stores, ANN, located(tx, storage, parent), entry_id)
        assert point is not None
        fork_id = parent.id
        return build_fork(tx, storage.stores, parent, point, fork_id=fork_id, title=None, at=NOON)

    return work
