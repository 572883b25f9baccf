"""A vector database beside ours proposes what is near; what is shown is ours to say."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from qdrant_client import AsyncQdrantClient

from recollect.conversations.entries.entry import Entry
from recollect.conversations.eviction import VECTOR_DELETE
from recollect.jobs.model import Job
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import TreeId
from recollect.retention.maintenance_jobs import MaintenanceJobs
from recollect.search.entries.index_jobs import REINDEX, VECTOR_INDEX_RETRY
from recollect.search.model import EntryHit
from recollect.search.ports import NewVectors
from recollect.search.qdrant import QdrantIndex, QdrantServer
from tests.search.entries.search_setup import FEW, MANY, SearchSetup
from tests.support.builders import plant
from tests.support.embedding import WordEmbedder
from tests.support.servers.embedding import bag_of_words
from tests.support.storage import Storage

# The local mode scans, and says that it has no index.
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")

EMBEDDER = WordEmbedder()
NOWHERE = QdrantServer(url="http://127.0.0.1:9", collection="test")


@pytest.fixture
def beside(storage: Storage) -> Iterator[QdrantIndex]:
    index = an_index(AsyncQdrantClient(":memory:"))
    yield index
    storage.run(index.close())


@pytest.fixture
def broken(storage: Storage) -> Iterator[QdrantIndex]:
    """Nobody is there."""
    index = an_index()
    yield index
    storage.run(index.close())


def an_index(client: AsyncQdrantClient | None = None) -> QdrantIndex:
    return QdrantIndex(NOWHERE, model=EMBEDDER.model, dimensions=EMBEDDER.dimensions, client=client)


def a_stage(storage: Storage, beside: QdrantIndex | None) -> SearchSetup:
    return SearchSetup(storage, embedder=EMBEDDER, beside=beside)


def talk(setup: SearchSetup, owner: str, count: int = 10) -> list[Entry]:
    tree = setup.tree(owner)
    return [setup.say(tree, f"the tide at the pier, number {n}", by=owner) for n in range(count)]


def held(storage: Storage, beside: QdrantIndex, *trees: TreeId) -> set[str]:
    """The entries of these trees that the vector database holds."""
    vector = bag_of_words("tide", EMBEDDER.dimensions)
    return set(storage.run(beside.nearest_entries(trees, vector, limit=1_000)))


def ids(found: Any) -> set[str]:
    return {one.entry_id if isinstance(one, EntryHit) else one.id for one in found}


@pytest.mark.parametrize("kind", ["auto", "semantic"])
def test_results_and_scores_are_those_without_it(
    storage: Storage, beside: QdrantIndex, kind: str
) -> None:
    setup = a_stage(storage, beside)
    user = f"ann-{kind}"
    talk(setup, user)
    setup.say(setup.tree(user), "nothing of that kind")
    talk(setup, "eve", 60)
    setup.index()
    asked = {"group_by_conversation": False}
    found = setup.finder(exact_max=FEW, candidates=20).page(user, "tide number 7", kind, **asked)
    wanted = setup.finder(exact_max=MANY, candidates=20).page(user, "tide number 7", kind, **asked)
    assert [(hit.entry_id, hit.score) for hit in found.items] == [
        (hit.entry_id, hit.score) for hit in wanted.items
    ]
    assert len(found.items) >= 10


def test_it_is_asked_and_not_our_own_index(storage: Storage, beside: QdrantIndex) -> None:
    setup = a_stage(storage, beside)
    [first, *others] = talk(setup, "una")
    setup.index()
    storage.run(beside.delete_tree(first.tree_id, keep=[first.id]))
    page = setup.finder(exact_max=FEW).page("una", "tide", "semantic", group_by_conversation=False)
    assert ids(page.items) == {first.id}
    assert others


def test_an_administrator_asks_it_about_everything(storage: Storage, beside: QdrantIndex) -> None:
    setup = a_stage(storage, beside)
    live, gone = talk(setup, "ivy"), talk(setup, "ivo")
    setup.index()
    deleted_at = storage.runtime.clock.now()
    storage.do(storage.stores.conversations.update_deleted, gone[0].tree_id, deleted_at)
    finder = setup.finder(exact_max=FEW)

    def found(**asked: Any) -> set[str]:
        asked |= {"limit": 1_000, "group_by_conversation": False}
        return ids(finder.admin_page("tide", "semantic", **asked).items)

    assert found(include_deleted=True) >= ids(live) | ids(gone)
    assert found() >= ids(live)
    assert found().isdisjoint(ids(gone))
    assert found(user_id="ivy") == ids(live)


def test_what_it_should_not_hold_is_not_shown(storage: Storage, beside: QdrantIndex) -> None:
    """Entries of others, said to be in the caller's tree, and some that never were or are gone."""
    setup = a_stage(storage, beside)
    own = talk(setup, "mia")
    foreign = talk(setup, "eve")
    setup.index()
    unknown = [storage.new_id() for _ in range(10)]
    vector = bag_of_words("tide", EMBEDDER.dimensions)
    lies: list[Any] = [*(entry.id for entry in foreign), *unknown]
    points = [NewVectors(id_, own[0].conversation_id, vector, window=vector) for id_ in lies]
    storage.run(beside.put(own[0].tree_id, points))
    assert held(storage, beside, own[0].tree_id) >= set(lies)
    for kind in ("auto", "semantic"):
        page = setup.finder(exact_max=FEW).page("mia", "tide", kind, group_by_conversation=False)
        assert ids(page.items) == ids(own)


@pytest.mark.parametrize("kind", ["auto", "semantic"])
def test_when_it_fails_words_answer_and_the_page_says_so(
    storage: Storage, broken: QdrantIndex, kind: str
) -> None:
    setup = a_stage(storage, None)
    user = f"sue-{kind}"
    own = talk(setup, user)
    setup.index()
    setup.beside = broken
    page = setup.finder(exact_max=FEW).page(user, "tide", kind, group_by_conversation=False)
    assert ids(page.items) == (ids(own) if kind == "auto" else set())
    assert page.degraded == ["vectors"]
    text = setup.finder(exact_max=FEW).page(user, "tide", "fulltext", group_by_conversation=False)
    assert (ids(text.items), list(text.degraded)) == (ids(own), [])


def test_a_small_scope_does_not_need_it(storage: Storage, broken: QdrantIndex) -> None:
    setup = a_stage(storage, None)
    own = talk(setup, "sid")
    setup.index()
    setup.beside = broken
    page = setup.finder(exact_max=MANY).page("sid", "tide", group_by_conversation=False)
    assert (ids(page.items), list(page.degraded)) == (ids(own), [])


def test_vectors_that_it_did_not_take_are_made_again(
    storage: Storage, broken: QdrantIndex, beside: QdrantIndex
) -> None:
    setup = a_stage(storage, broken)
    own = talk(setup, "rob")
    tree_id = own[0].tree_id
    storage.write(lambda tx: setup.indexer.queue_job(tx, tree_id))
    find = "SELECT id, task_type FROM tasks WHERE task_name LIKE :name"
    [(job_id, kind)] = storage.database.rows(find, name=f"%{tree_id}")
    job = Job(str(job_id), kind, {"conversationGroupId": tree_id}, attempt=1)
    with pytest.raises(Unavailable):
        storage.run(setup.jobs().index_tree(job))
    assert storage.database.rows(find, name=f"%{tree_id}") == [(job_id, VECTOR_INDEX_RETRY)]
    setup.beside = beside
    storage.run(setup.jobs().index_tree(job))
    assert held(storage, beside, tree_id) == ids(own)


def delete_vectors(setup: SearchSetup, tree_id: TreeId) -> None:
    storage = setup.storage
    jobs = MaintenanceJobs(
        storage.context,
        audit_retention=timedelta(days=1),
        transfer_lifetime=timedelta(days=1),
        external_index=setup.beside,
    )
    job = Job(storage.new_id(), VECTOR_DELETE, {"conversationGroupId": tree_id}, attempt=1)
    storage.run(jobs.delete_vectors(job))


def test_what_was_evicted_is_forgotten_there_too(storage: Storage, beside: QdrantIndex) -> None:
    setup = a_stage(storage, beside)
    gone, stays = talk(setup, "kim"), talk(setup, "kim")
    setup.index()
    storage.do(storage.stores.conversations.delete_trees, [gone[0].tree_id])
    delete_vectors(setup, gone[0].tree_id)
    assert held(storage, beside, gone[0].tree_id, stays[0].tree_id) == ids(stays)


def test_a_tree_that_took_the_id_of_an_evicted_one_stays(
    storage: Storage, beside: QdrantIndex
) -> None:
    setup = a_stage(storage, beside)
    gone = talk(setup, "lea")
    setup.index()
    storage.do(storage.stores.conversations.delete_trees, [gone[0].tree_id])
    again = plant(storage, id=gone[0].tree_id)
    new = [setup.say(again, "the tide again") for _ in range(3)]
    setup.index()
    delete_vectors(setup, again.tree_id)
    assert held(storage, beside, again.tree_id) == ids(new)


def test_a_new_one_is_filled_with_what_there_is(storage: Storage, beside: QdrantIndex) -> None:
    setup = a_stage(storage, None)
    own = talk(setup, "joe")
    setup.index()
    queued = "SELECT count(*) FROM tasks WHERE task_type = :type AND task_name LIKE :name"

    def schedule(index: QdrantIndex | None) -> int:
        storage.database.rows("DELETE FROM tasks")
        setup.beside = index
        storage.run(setup.jobs().schedule())
        return int(storage.database.rows(queued, type=REINDEX, name="%:every")[0][0])

    assert schedule(None) == 0
    assert schedule(beside) == 1
    job = Job(storage.new_id(), REINDEX, {"model": EMBEDDER.model, "every": True}, attempt=1)
    storage.run(setup.jobs().reindex(job))
    setup.wait_for(own[0].tree_id)
    setup.index()
    assert held(storage, beside, own[0].tree_id) == ids(own)
    assert schedule(beside) == 0
    assert schedule(None) == 0
    assert schedule(beside) == 1
