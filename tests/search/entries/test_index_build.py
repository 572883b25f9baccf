"""The job that gives PostgreSQL an index of vectors, once there are so many that it pays."""

from collections.abc import Iterator
from typing import Any

import pytest

from recollect.jobs.model import Job
from recollect.search.entries.index_jobs import PREPARE_NEAREST
from recollect.search.store import nearest_postgres
from tests.search.entries.search_setup import FEW, MANY, Finder, SearchSetup
from tests.support.embedding import WordEmbedder
from tests.support.engines import a_postgres_database
from tests.support.storage import Storage, a_storage

TEXTS = 40


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Storage]:
    with a_postgres_database(postgres_url) as database, a_storage(database) as running:
        yield running


def callers(storage: Storage, *, dimensions: int = 64) -> SearchSetup:
    setup = SearchSetup(storage, embedder=WordEmbedder(dimensions=dimensions))
    for owner in ("ann", "eve"):
        tree = setup.tree(owner)
        for number in range(TEXTS):
            setup.say(tree, f"a lighthouse, {owner} counts number {number}")
    setup.index()
    return setup


def run_job(setup: SearchSetup, *, exact_max: int) -> None:
    job = Job(setup.storage.new_id(), PREPARE_NEAREST, {}, attempt=1)
    successor = setup.storage.run(setup.jobs(exact_max=exact_max).prepare_nearest(job))
    assert successor is not None
    assert (successor.type, successor.name) == (PREPARE_NEAREST, PREPARE_NEAREST)
    assert successor.due_at > setup.storage.runtime.clock.now()


def indexes(storage: Storage) -> list[tuple[Any, ...]]:
    return storage.database.rows("SELECT oid, relname FROM pg_class WHERE relname ~ 'hnsw'")


def results(finder: Finder) -> list[tuple[str, float]]:
    page = finder.page("ann", "lighthouse number 7", limit=100, group_by_conversation=False)
    assert not page.degraded
    return [(hit.entry_id, hit.score) for hit in page.items]


def test_it_builds_once_above_the_threshold_and_search_goes_on(
    postgres: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest_postgres, "INDEX_COST", 0)
    setup = callers(postgres)
    before = results(setup.finder(exact_max=FEW))
    assert len(before) == TEXTS
    run_job(setup, exact_max=2 * TEXTS + 1)
    assert indexes(postgres) == []
    run_job(setup, exact_max=2 * TEXTS)
    [built] = indexes(postgres)
    assert built[1] == "entry_embeddings_hnsw_64"
    run_job(setup, exact_max=2 * TEXTS)
    assert indexes(postgres) == [built]
    assert results(setup.finder(exact_max=FEW)) == before
    assert results(setup.finder(exact_max=MANY)) == before


def test_vectors_that_are_too_long_have_no_index_and_are_found(postgres: Storage) -> None:
    setup = callers(postgres, dimensions=2_001)
    run_job(setup, exact_max=1)
    assert indexes(postgres) == []
    assert len(results(setup.finder(exact_max=FEW))) == TEXTS
