"""The index of memories: what is written, what is found in it, and what waits for vectors."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from recollect.db.transaction import Tx
from recollect.jobs.model import NewJob
from recollect.kernel.ids import MemoryId, PersonId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import (
    Memory,
    MemoryFilter,
    MemoryKind,
    MemoryStatus,
    StoredMemory,
    VersionChange,
)
from recollect.search.memories.indexing import MemoryIndexer
from recollect.search.memories.rows import BUCKETS, MemoryCandidate, MemoryVector, SearchContext
from recollect.search.ports import prefix_query, stem_query
from recollect.visibility.viewer import Viewer
from tests.support.builders import NOON
from tests.support.storage import Storage

MODEL = "a model"


class SearchIndex:
    """Memories of one space, indexed."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.space = Space(SpaceKind.USER, f"user-{storage.new_id()}")
        self.indexer = MemoryIndexer(storage.stores, storage.runtime, vectors=True)

    def add(self, content: str, **members: Any) -> StoredMemory:
        """A statement."""
        memory = Memory(
            id=MemoryId(self.storage.new_id()),
            kind=MemoryKind.STATEMENT,
            content=content,
            space=self.space,
            created_at=NOON,
            updated_at=NOON,
            observed_at=NOON,
            **members,
        )

        def work(tx: Tx) -> StoredMemory:
            stored = self.storage.stores.memories.insert(
                tx, StoredMemory(memory, Owner.user("ann"))
            )
            assert stored is not None
            self.indexer.write(tx, stored)
            return stored

        return self.storage.write(work)

    def edit(self, stored: StoredMemory, content: str) -> StoredMemory:
        """The next version."""
        later = Memory(
            **{name: getattr(stored.memory, name) for name in stored.memory.__slots__}
            | {"content": content, "version": stored.memory.version + 1}
        )

        def work(tx: Tx) -> StoredMemory:
            changed = self.storage.stores.memories.update(
                tx, stored, later, change=VersionChange.UPDATED, by=Owner.user("ann"), at=NOON
            )
            self.indexer.write(tx, changed)
            return changed

        return self.storage.write(work)

    def look(self, **members: Any) -> SearchContext:
        """At everything in the space."""
        chosen = MemoryFilter(spaces=((self.space.kind, self.space.id),))
        return SearchContext(
            Viewer.for_system("a test", NOON), chosen, **({"model": MODEL} | members)
        )

    def candidates(self, **members: Any) -> dict[str, MemoryCandidate]:
        """By id."""
        found = self.storage.ask(
            self.storage.stores.memory_search.candidates, self.look(**members), limit=100
        )
        return {one.memory_id: one for one in found}

    def matches(self, query: str) -> set[str]:
        """Ids that the engine's word index gives."""
        found = self.storage.ask(
            self.storage.stores.memory_search.page_word_matches,
            self.look(),
            query,
            after_doc=0,
            limit=100,
        )
        return {one.memory_id for one in found}

    def vectorize(self, texts: Sequence[StoredMemory], revision: int | None = None) -> int:
        """Give them vectors, as a job would."""
        found = self.candidates()
        made = [
            MemoryVector(
                one.doc,
                found[one.memory.id].revision if revision is None else revision,
                np.full(3, 0.5, np.float32),
            )
            for one in texts
        ]
        put = self.storage.stores.memory_search.put_vectors
        return len(self.storage.do(put, made, model=MODEL))


@pytest.fixture
def index(storage: Storage) -> SearchIndex:
    return SearchIndex(storage)


def test_words_are_found_by_beginning_and_by_stem(index: SearchIndex) -> None:
    moved = index.add("Ann moved to Lisbon")
    index.add("Bo stays at home")
    assert index.matches(prefix_query(["lis"])) == {moved.memory.id}
    assert index.matches(stem_query(["move"])) == {moved.memory.id}


def test_a_changed_text_is_found_by_its_new_words_alone(index: SearchIndex) -> None:
    first = index.add("Ann lives in Porto")
    index.vectorize([first])
    before = index.candidates()[first.memory.id]
    index.edit(first, "Ann lives in Lisbon")
    after = index.candidates()[first.memory.id]
    assert index.matches(prefix_query(["porto"])) == set()
    assert index.matches(prefix_query(["lisbon"])) == {first.memory.id}
    assert before.has_vector
    assert not after.has_vector
    assert after.revision > before.revision
    assert after.doc == before.doc


def test_a_change_that_leaves_the_words_leaves_the_vector(index: SearchIndex) -> None:
    first = index.add("Ann lives in Porto")
    index.vectorize([first])
    before = index.candidates()[first.memory.id]
    index.edit(first, "Ann lives in PORTO!")
    assert index.candidates()[first.memory.id] == before


def test_a_vector_of_an_older_text_is_not_kept(index: SearchIndex) -> None:
    first = index.add("Ann lives in Porto")
    old = index.candidates()[first.memory.id].revision
    index.edit(first, "Ann lives in Lisbon")
    assert index.vectorize([first], revision=old) == 0
    assert not index.candidates()[first.memory.id].has_vector
    assert index.vectorize([first]) == 1
    assert index.candidates()[first.memory.id].has_vector


def test_a_vector_of_another_model_does_not_count(index: SearchIndex) -> None:
    first = index.add("Ann lives in Porto")
    index.vectorize([first])
    assert index.candidates()[first.memory.id].has_vector
    assert not index.candidates(model="another")[first.memory.id].has_vector
    assert not index.candidates(model="")[first.memory.id].has_vector


def test_vectors_come_back_as_they_were_given(index: SearchIndex) -> None:
    first = index.add("Ann lives in Porto")
    index.vectorize([first])
    search = index.storage.stores.memory_search
    (found,) = index.storage.ask(search.vectors, [first.doc], model=MODEL)
    assert found.doc == first.doc
    assert found.vector.tolist() == [0.5, 0.5, 0.5]


def test_dropped_rows_leave_neither_words_nor_vectors(index: SearchIndex) -> None:
    first = index.add("Ann lives in Porto")
    index.vectorize([first])
    index.storage.write(lambda tx: index.indexer.drop(tx, first.memory.id))
    search = index.storage.stores.memory_search
    assert index.candidates() == {}
    assert index.matches(prefix_query(["porto"])) == set()
    assert index.storage.ask(search.vectors, [first.doc], model=MODEL) == []


def test_rows_that_are_not_asked_for_are_no_candidates(index: SearchIndex) -> None:
    first = index.add("Ann lives in Porto")
    index.add("Ann lived in Faro", status=MemoryStatus.SUPERSEDED)
    assert set(index.candidates()) == {first.memory.id}


def test_rows_about_the_people_asked_for_say_so(index: SearchIndex) -> None:
    about = index.add("She lives in Porto", subjects=("ann", "bo"))
    other = index.add("He lives in Faro", subjects=("cy",))
    found = index.candidates(people=(PersonId("ann"), PersonId("dee")))
    assert found[about.memory.id].about
    assert not found[other.memory.id].about
    assert not index.candidates()[about.memory.id].about


def test_what_other_memories_were_made_from_is_known_with_them(index: SearchIndex) -> None:
    raw = index.add("user: I live in Porto")
    fact = index.add("Ann lives in Porto", source_memories=(raw.memory.id,))
    search = index.storage.stores.memory_search
    assert index.storage.ask(search.derived_memory_ids, [raw.memory.id, fact.memory.id]) == {
        raw.memory.id: [fact.memory.id]
    }


def test_texts_wait_until_they_have_vectors_and_a_bucket_has_its_own_first(
    index: SearchIndex,
) -> None:
    texts = [index.add(f"text {number}") for number in range(2 * BUCKETS)]
    docs = {one.doc for one in texts}
    search = index.storage.stores.memory_search

    def waiting(limit: int = 1_000) -> set[int]:
        found = index.storage.ask(search.pending_texts, 3, limit=limit)
        assert len(found) <= limit
        return {one.doc for one in found} & docs

    assert waiting() == docs
    assert {doc % BUCKETS for doc in waiting(limit=2)} <= {3}
    index.vectorize(texts)
    assert waiting() == set()
    lacking = index.storage.do(
        search.mark_pending, after_doc=min(docs) - 1, limit=1_000, lacking="a newer model"
    )
    assert docs <= set(lacking)
    assert waiting() == docs


def test_a_job_is_not_taken_while_a_write_relies_on_it(storage: Storage) -> None:
    """Or a text that was written meanwhile would wait for ever."""
    jobs = storage.stores.jobs
    job = NewJob("memory_vectors", {}, NOON, f"held-{storage.new_id()}")
    storage.do(jobs.insert_and_lock, job)
    (taken,) = [
        one
        for one in storage.do(
            jobs.claim,
            types=("memory_vectors",),
            claim_id=storage.new_id(),
            lease_seconds=60,
            limit=1_000,
        )
        if one.body == {}
    ]
    held, go_on = threading.Event(), threading.Event()

    def writing(tx: Tx) -> None:
        jobs.insert_and_lock(tx, job)
        held.set()
        storage.stay(tx, go_on)

    writer = storage.begin(storage.engine.write(writing))
    assert held.wait(30)
    taker = storage.begin(storage.engine.write(lambda tx: jobs.clear_name(tx, taken.id)))
    with pytest.raises(TimeoutError):
        taker.result(0.2)
    go_on.set()
    writer.result(30)
    taker.result(30)
