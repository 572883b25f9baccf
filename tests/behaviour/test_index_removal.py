"""What is deleted is found no more at once; what is evicted or replaced leaves nothing behind."""

from typing import Any

import pytest

from tests.support.engines import TestDatabase
from tests.support.searching import TYPES, settle, walk
from tests.support.world import User, World

pytestmark = pytest.mark.rest_only("what jobs do in the background, whoever asked")

BODY = {"retentionPeriod": "P1D", "resourceTypes": ["conversations"]}
TABLES = ("entry_index", "entry_embeddings", "entries", "conversations")


@pytest.fixture(scope="module")
def world(vector_world: World) -> World:
    """A server with every kind of search."""
    return vector_world


def found(user: User, query: str) -> dict[str, int]:
    return {kind: len(user.finds(query, searchType=kind)) for kind in TYPES}


def rows_of(database: TestDatabase, tree: str) -> dict[str, int]:
    query = "SELECT count(*) FROM {} WHERE conversation_group_id = :tree"
    return {table: database.rows(query.format(table), tree=tree)[0][0] for table in TABLES}


def holders(database: TestDatabase, word: str) -> int:
    """How many rows the engine's own index of words gives for a word or a stem."""
    if database.engine == "sqlite":
        query = "SELECT count(*) FROM entry_words WHERE entry_words MATCH :query"
        return int(database.rows(query, query=f'"{word}" OR "={word}"')[0][0])
    query = "SELECT count(*) FROM entry_index WHERE words @@ CAST(:query AS tsquery)"
    return int(database.rows(query, query=f"'{word}' | '={word}'")[0][0])


def test_a_deleted_tree_is_found_no_more_until_it_is_restored(world: World) -> None:
    ann = world.user("ann")
    tree = ann.starts()
    ann.says(tree, "hornbeam hedges")
    settle(world)
    everywhere, nowhere = dict.fromkeys(TYPES, 1), dict.fromkeys(TYPES, 0)
    for _ in range(2):
        assert found(ann, "hornbeam hedges") == everywhere
        ann.deletes(tree)
        assert found(ann, "hornbeam hedges") == nowhere
        world.admin.call("admin_restore_conversation", tree).expect(200)
    assert found(ann, "hornbeam hedges") == everywhere


def test_a_tree_that_was_deleted_before_its_vectors_came_gets_them(
    world: World, embeddings: Any
) -> None:
    ann = world.user("ann")
    tree = ann.starts()
    embeddings.mode, embeddings.times = "nan", 1
    ann.says(tree, "hornbeam leaves")
    ann.deletes(tree)
    world.clock.advance(minutes=2)
    settle(world)
    world.admin.call("admin_restore_conversation", tree).expect(200)
    assert found(ann, "hornbeam leaves") == dict.fromkeys(TYPES, 1)


def test_nothing_of_an_evicted_tree_stays(world: World) -> None:
    ann, database = world.user("ann"), world.database
    kept, tree = ann.starts(), ann.starts()
    ann.says(kept, "spindle and mistletoes")
    for text in ("mistletoes in the poplars", "more mistletoes"):
        ann.says(tree, text)
    settle(world)
    assert (holders(database, "mistletoes"), holders(database, "mistleto")) == (3, 3)
    assert rows_of(database, tree["id"])["entry_embeddings"] == 2
    ann.deletes(tree)
    world.clock.advance(days=2)
    world.admin.call("evict", body=BODY).expect(204)
    settle(world)
    assert rows_of(database, tree["id"]) == dict.fromkeys(TABLES, 0)
    assert (holders(database, "mistletoes"), holders(database, "mistleto")) == (1, 1)
    assert holders(database, "poplars") == holders(database, "poplar") == 0
    assert found(ann, "mistletoes") == dict.fromkeys(TYPES, 1)


def test_nothing_of_a_replaced_text_stays(world: World) -> None:
    ann, database = world.user("ann"), world.database
    entry = ann.says(ann.starts()["id"], "bullaces in vinegar")
    settle(world)
    assert (holders(database, "bullaces"), holders(database, "vinegar")) == (1, 1)
    item = {
        "conversationId": entry["conversationId"],
        "entryId": entry["id"],
        "indexedContent": "withheld by an indexer",
    }
    world.indexer.call("index", body=[item]).expect(200)
    assert (holders(database, "bullaces"), holders(database, "bullac")) == (0, 0)
    assert holders(database, "vinegar") == 0
    assert found(ann, "bullaces")["fulltext"] == 0
    settle(world)
    assert found(ann, "withheld by an indexer") == dict.fromkeys(TYPES, 1)


@pytest.mark.amendment(17)
def test_a_deleted_entry_is_found_no_more_and_its_neighbours_are(world: World) -> None:
    ann, database = world.user("ann"), world.database
    tree = ann.starts()["id"]
    entries = [ann.says(tree, text) for text in ("samphire", "bladderwrack", "dulse", "laver")]
    settle(world)
    for query in ("bladderwrack", "dulse"):
        assert found(ann, query) == dict.fromkeys(TYPES, 1)
    windows = "SELECT entry_id, window_embedding FROM entry_embeddings"
    before = {str(id_): window for id_, window in database.rows(windows)}
    ann.call("delete_entry", tree, entries[1]).expect(204)
    assert found(ann, "bladderwrack") == dict.fromkeys(TYPES, 0)
    assert holders(database, "bladderwrack") == 0
    after = {str(id_): window for id_, window in database.rows(windows)}
    samphire, bladderwrack, dulse, laver = (entry["id"] for entry in entries)
    assert bladderwrack not in after
    assert after[laver] == before[laver]
    assert before[samphire] not in after.values()
    assert before[dulse] not in after.values()
    settle(world)
    again = {str(id_): window for id_, window in database.rows(windows)}
    assert None not in [again[id_] for id_ in (samphire, dulse, laver)]
    assert found(ann, "dulse") == dict.fromkeys(TYPES, 1)
    ann.says(tree, "carrageen")
    settle(world)
    assert found(ann, "carrageen") == dict.fromkeys(TYPES, 1)
    assert found(ann, "bladderwrack") == dict.fromkeys(TYPES, 0)
    assert len(walk(ann, query="samphire")) == 1
