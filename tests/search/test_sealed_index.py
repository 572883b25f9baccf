"""`encryption.index = "sealed"`: the index has hashes of whole words, and no word of a text."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from recollect.kernel.errors import InvalidInput
from tests.conftest import Host
from tests.support.encryption import KEY_A, KEY_B
from tests.support.engines import TestDatabase
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.search import ids, vector_flags
from tests.support.searching import PAUSE_SECONDS, settle_memories
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import World

pytestmark = pytest.mark.amendment(15)

NewDatabase = Callable[[], TestDatabase]
TRIES_MAX = 2_000
SEALED: dict[str, Any] = {
    "encryption__keys": [KEY_A],
    "encryption__index": "sealed",
    "jobs__poll_ms": 10,
}
# Each stands in an entry and in a memory, and nowhere else.
WORDS = ("xylophones", "quokka")


def written(world: World) -> Caller:
    """Somebody with an entry and a memory."""
    ann = Callers(world).person("ann")
    ann.user.says(ann.user.starts()["id"], "Two xylophones are played by a quokka.")
    ann.adds("The quokka in Porto likes xylophones.", space={"kind": "user"})
    return ann


def report(database: TestDatabase, form: str) -> dict[str, Any]:
    """What the job that rewrites the index reports, once it is done."""
    for _ in range(TRIES_MAX):
        rows = database.rows("SELECT value FROM server_state WHERE name = 'search_index_form'")
        rotating = database.rows("SELECT id FROM tasks WHERE task_type = 'encryption_rotation'")
        found: dict[str, Any] = json.loads(rows[0][0]) if rows else {"form": "none"}
        if found["form"].startswith(form) and not rotating:
            return found
        time.sleep(PAUSE_SECONDS)
    raise AssertionError(f"the index was not rewritten: {rows}")


def entries_with(caller: Caller, query: str, **members: Any) -> list[str | None]:
    """The highlights of the entries that full text finds."""
    hits = caller.user.finds(query, searchType="fulltext", **members)
    return [hit.get("highlights") for hit in hits]


def check_searches(caller: Caller) -> None:
    """Whole words are found, in entries and in memories; beginnings of words are not."""
    [marked] = entries_with(caller, "quokka xylophones")
    assert "**quokka**" in str(marked)
    assert "**xylophones**" in str(marked)
    assert entries_with(caller, "quok") == []
    assert entries_with(caller, "xylophones zebra") == []
    assert len(caller.user.finds("xylophone")) == 1
    assert len(caller.finds("xylophone", user_id=caller.name)) == 1
    assert len(caller.finds("quokka", user_id=caller.name, mode="fulltext")) == 1
    assert caller.finds("zebra", user_id=caller.name) == []


def check_no_raw_words(database: TestDatabase) -> None:
    """No word of a text is anywhere in the stored rows, nor in the bytes of a file."""
    stored = database.stored_text().lower()
    assert [word for word in WORDS if word in stored] == []


def test_switching_it_on_rewrites_raw_words_by_a_job_that_reports(
    host: Host, new_database: NewDatabase
) -> None:
    database = new_database()
    with host(database) as world:
        ann = written(world)
        assert entries_with(ann, "quok") != []
    with host(database, **SEALED) as world:
        done = report(database, "sealed")
        assert (done["entries"], done["memories"], done["texts"]) == (1, 1, 1)
        assert done["unreadable"] == 0
        check_searches(Caller(world.named(ann.name), world))
    check_no_raw_words(database)
    with host(database, **SEALED, search__exact_max=1) as world:
        caller = Caller(world.named(ann.name), world)
        # More than are ranked as a whole: rows are looked up by the hashes of their words.
        caller.user.says(caller.user.starts()["id"], "Nothing of the kind.")
        caller.adds("A lamp is violet.", space={"kind": "user"})
        check_searches(caller)


def test_a_new_first_key_gets_new_hashes_and_switching_it_off_brings_the_words_back(
    host: Host, new_database: NewDatabase
) -> None:
    database = new_database()
    with host(database, **SEALED) as world:
        ann = written(world)
        check_searches(ann)
    check_no_raw_words(database)
    before = database.rows("SELECT stems FROM memory_index")
    with host(database, **SEALED | {"encryption__keys": [KEY_B, KEY_A]}) as world:
        for _ in range(TRIES_MAX):
            if database.rows("SELECT stems FROM memory_index") != before:
                break
            time.sleep(PAUSE_SECONDS)
        report(database, "sealed")
        check_searches(Caller(world.named(ann.name), world))
    with host(database, **SEALED | {"encryption__keys": [KEY_B]}) as world:
        check_searches(Caller(world.named(ann.name), world))
    flags = SEALED | {"encryption__keys": [KEY_B], "encryption__index": "plain"}
    flags["search__index_raw_text"] = True
    with host(database, **flags) as world:
        report(database, "plain")
        caller = Caller(world.named(ann.name), world)
        assert len(entries_with(caller, "quok")) == 1
        assert len(caller.finds("xylophone", user_id=ann.name)) == 1


def test_search_by_meaning_works_with_it(host: Host, embeddings: EmbeddingServer) -> None:
    with host(**SEALED | vector_flags(embeddings)) as world:
        ann = written(world)
        settle_memories(world)
        hits = ann.finds("a quokka in Porto", user_id=ann.name, mode="semantic")
        assert ids(hits)
        for _ in range(TRIES_MAX):
            found = ann.user.finds("played by a quokka", searchType="semantic")
            if found:
                break
            time.sleep(PAUSE_SECONDS)
        assert found
        check_no_raw_words(world.database)


def test_it_needs_a_key(host: Host) -> None:
    with pytest.raises(InvalidInput, match=r"encryption\.keys"), host(encryption__index="sealed"):
        pass
