"""With encryption keys and the default settings, the index keeps nothing that was made of raw texts
before: a job drops it, and reports."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Host
from tests.search.test_sealed_index import entries_with, report
from tests.support.encryption import KEY_A, KEY_B
from tests.support.engines import TestDatabase
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.search import vector_flags
from tests.support.searching import settle, settle_memories
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import World

pytestmark = pytest.mark.amendment(15)

NewDatabase = Callable[[], TestDatabase]
ENCRYPTED: dict[str, Any] = {"encryption__keys": [KEY_A], "jobs__poll_ms": 10}
SEALED = ENCRYPTED | {"encryption__index": "sealed"}
FORM = "given_texts"
# Of the raw texts of an entry and of a memory, and of nothing else.
RAW = ("xylophones", "quokka", "marimba")
GIVEN = "someone plays instruments"


def written(world: World) -> Caller:
    """Somebody with a memory and three entries, the second one with a text for the index."""
    ann = Callers(world).person("ann")
    conversation = ann.user.starts()["id"]
    ann.user.says(conversation, "Two xylophones are played by a quokka.")
    ann.user.says(conversation, "The quokka has a marimba.", indexedContent=GIVEN)
    ann.user.says(conversation, "The marimba is out of tune.")
    ann.adds("The quokka in Porto likes xylophones.", space={"kind": "user"})
    return ann


def returned(world: World, name: str) -> Caller:
    return Caller(world.named(name), world)


def check_given_alone_is_found(world: World, name: str) -> None:
    """Entries by the text that was given, memories by all their words; the rest reads as before."""
    ann = returned(world, name)
    assert [entries_with(ann, word) for word in RAW] == [[], [], []]
    assert [ann.user.finds(word) for word in RAW] == [[], [], []]
    [marked] = entries_with(ann, "instr")
    assert "**instruments**" in str(marked)
    assert len(ann.finds("xylophones", user_id=name)) == 1
    texts = world.indexer.call("unindexed").expect(200)["data"]
    assert len(texts) == 2
    assert "xylophones" in str(texts)


def check_no_raw_words(database: TestDatabase) -> None:
    """No raw word is in a stored row, nor in the bytes of a file; what was given is."""
    stored = database.stored_text().lower()
    assert [word for word in RAW if word in stored] == []
    assert GIVEN in stored


def test_what_was_indexed_before_encryption_is_dropped_by_a_job_that_reports(
    host: Host, new_database: NewDatabase, embeddings: EmbeddingServer
) -> None:
    database = new_database()
    flags = vector_flags(embeddings)
    encrypted = flags | ENCRYPTED
    with host(database, **flags) as world:
        ann = written(world)
        settle(world)
        settle_memories(world)
        assert len(entries_with(ann, "xylo")) == 1
        assert database.rows("SELECT count(*) FROM memory_embeddings") == [(1,)]
        before = database.rows("SELECT window_embedding FROM entry_embeddings ORDER BY entry_id")
    assert "xylophones" in database.stored_text()
    with host(database, **encrypted) as world:
        done = report(database, FORM)
        counts = {"texts": 0, "entries": 0, "memories": 1, "memory_vectors": 1}
        assert done == {"form": FORM, **counts, "dropped": 2, "unreadable": 0}
        settle(world)
        check_given_alone_is_found(world, ann.name)
        assert database.rows("SELECT count(*) FROM memory_embeddings") == [(0,)]
        # The vector of what is left was made again, without its neighbours.
        assert database.rows("SELECT window_embedding FROM entry_embeddings") != [before[1]]
        assert database.rows("SELECT count(*) FROM entry_embeddings") == [(1,)]
    check_no_raw_words(database)
    with host(database, **encrypted) as world:
        check_given_alone_is_found(world, ann.name)
    # Raw texts that are indexed by the operator's own choice stay.
    with host(database, **encrypted, search__index_raw_text=True) as world:
        report(database, "plain")
        ann = returned(world, ann.name)
        ann.user.says(ann.user.starts()["id"], "A harp.")
        assert len(entries_with(ann, "harp")) == 1
        assert len(ann.finds("xylophones", user_id=ann.name, mode="fulltext")) == 1
        settle_memories(world)
        assert database.rows("SELECT count(*) FROM memory_embeddings") == [(1,)]


def test_a_sealed_index_that_is_switched_off_shows_no_raw_words(
    host: Host, new_database: NewDatabase
) -> None:
    database = new_database()
    with host(database, **SEALED) as world:
        ann = written(world)
        assert len(entries_with(ann, "xylophones")) == 1
    flags = ENCRYPTED | {"encryption__keys": [KEY_B, KEY_A]}
    with host(database, **flags) as world:
        done = report(database, FORM)
        assert (done["texts"], done["entries"], done["memories"]) == (1, 1, 1)
        assert (done["dropped"], done["unreadable"]) == (2, 0)
        check_given_alone_is_found(world, ann.name)
    check_no_raw_words(database)


def test_a_text_that_cannot_be_judged_stays_as_it_is(host: Host, new_database: NewDatabase) -> None:
    database = new_database()
    with host(database, **SEALED) as world:
        ann = Callers(world).person("ann")
        ann.user.says(ann.user.starts()["id"], "Two xylophones.")
    database.rows("UPDATE entries SET content = substr(content, 1, 60)")
    index = "SELECT e.indexed_content, i.terms, i.stems FROM entries e, entry_index i"
    sealed = database.rows(index)
    with host(database, **ENCRYPTED):
        done = report(database, FORM)
        assert (done["dropped"], done["texts"], done["unreadable"]) == (0, 0, 1)
    assert database.rows(index) == sealed
    assert "xylophones" not in database.stored_text()
