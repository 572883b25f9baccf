"""A database from before there was a search index: what it holds is found after the upgrade."""

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from recollect.db import migrations
from tests.conftest import Host
from tests.support.builders import NOON
from tests.support.bulk import insert
from tests.support.engines import TestDatabase
from tests.support.searching import DIMENSIONS, TYPES, embedding_flags, settle
from tests.support.servers.embedding import EmbeddingServer
from tests.support.storage import an_engine
from tests.support.world import World

NewDatabase = Callable[[], TestDatabase]

OWNER = "ann"
# More than one transaction of the job takes.
ENTRIES = 450
HERON = "a heron on the old pier"
BACKFILL = "SELECT count(*) FROM tasks WHERE task_type = 'search_backfill'"


@dataclass(frozen=True, slots=True)
class Old:
    """A database of the first schema, and what is in it."""

    database: TestDatabase
    kept: str
    deleted: str


@pytest.fixture
def old(new_database: NewDatabase, monkeypatch: pytest.MonkeyPatch) -> Old:
    """A tree with many texts, some entries without, and a deleted tree."""
    database, known = new_database(), migrations._migration_files
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "_migration_files", lambda name: iter(list(known(name))[:1]))
        report = migrations.migrate(an_engine(database))
    assert report.to_version == 1
    kept, deleted = plant(database), plant(database, deleted_at=NOON)
    pictures = [f"picture {number} of the harbour" for number in range(ENTRIES)]
    put(database, kept, [*pictures, HERON])
    put(database, kept, [None], role="AI", first=ENTRIES + 1)
    put(database, deleted, ["a lighthouse in the fog"])
    return Old(database, kept, deleted)


def plant(database: TestDatabase, **fields: Any) -> str:
    """A tree of one conversation, written as the first schema has it."""
    id_ = str(uuid.uuid4())
    rows: dict[str, dict[str, Any]] = {
        "conversation_groups": {"id": id_, "created_at": NOON, "last_seq": 0, "last_at": NOON}
        | fields,
        "conversations": {
            "id": id_,
            "conversation_group_id": id_,
            "owner_user_id": OWNER,
            "created_at": NOON,
            "updated_at": NOON,
        }
        | fields,
        "conversation_memberships": {
            "conversation_group_id": id_,
            "user_id": OWNER,
            "access_level": "owner",
            "created_at": NOON,
        },
    }
    if "deleted_at" in fields:
        del rows["conversation_memberships"]
    for table, row in rows.items():
        insert(database, table, list(row), [list(row.values())])
    return id_


def put(
    database: TestDatabase,
    tree: str,
    texts: list[Any],
    *,
    role: str = "USER",
    first: int = 0,
) -> None:
    """History entries with these indexed texts."""
    columns = (
        "id",
        "conversation_id",
        "conversation_group_id",
        "seq",
        "user_id",
        "channel",
        "content_type",
        "content",
        "indexed_content",
        "created_at",
    )
    rows = [
        (
            str(uuid.uuid4()),
            tree,
            tree,
            first + place + 1,
            OWNER,
            "history",
            "history",
            json.dumps([{"role": role, "text": text or "not to be found"}]),
            text,
            NOON,
        )
        for place, text in enumerate(texts)
    ]
    insert(database, "entries", columns, rows)
    database.rows(
        "UPDATE conversation_groups SET last_seq = :seq WHERE id = :id",
        seq=first + len(texts),
        id=tree,
    )


@pytest.fixture
def embeddings() -> Iterator[EmbeddingServer]:
    """An endpoint that makes vectors."""
    with EmbeddingServer(dimensions=DIMENSIONS) as server:
        yield server


def upgraded(host: Host, old: Old, server: EmbeddingServer, **more: Any) -> Any:
    flags = {name.replace(".", "__"): value for name, value in embedding_flags(server).items()}
    return host(old.database, **flags | more)


def test_old_entries_are_found_by_words_and_by_meaning(
    host: Host, old: Old, embeddings: EmbeddingServer
) -> None:
    with upgraded(host, old, embeddings) as world:
        settle(world)
        ann = world.named(OWNER)
        for kind in TYPES:
            found = ann.finds("heron on an old pier" if kind == "auto" else HERON, searchType=kind)
            assert found[0]["entry"]["content"][0]["text"] == HERON
        assert ann.finds("not to be found", searchType="fulltext") == []
        assert ann.finds("lighthouse", searchType="fulltext") == []
        assert_whole(world, ENTRIES + 2)
        world.admin.call("admin_restore_conversation", old.deleted).expect(200)
        for kind in TYPES:
            found = ann.finds("a lighthouse in the fog", searchType=kind)
            assert found[0]["conversationId"] == old.deleted


def test_without_vectors_old_entries_are_found_by_words(host: Host, old: Old) -> None:
    with host(old.database, jobs__poll_ms=10) as world:
        settle(world)
        found = world.named(OWNER).finds(
            "harbour", searchType="fulltext", groupByConversation=False, limit=1000
        )
        assert len(found) == ENTRIES
        assert_whole(world, ENTRIES + 2)


def test_what_is_said_or_indexed_before_the_upgrade_ends_counts(
    host: Host, old: Old, embeddings: EmbeddingServer
) -> None:
    """Nobody has to wait for the job, and the job undoes nothing."""
    with upgraded(host, old, embeddings, jobs__embedded_worker=False) as world:
        ann = world.named(OWNER)
        assert ann.finds("harbour", searchType="fulltext") == []
        ann.says(old.kept, "a new picture of the quay")
        assert len(ann.finds("quay", searchType="fulltext")) == 1
        [first, *_] = ann.call("list_entries", old.kept, limit=1).expect(200)["data"]
        item = {"conversationId": old.kept, "entryId": first["id"], "indexedContent": "withheld"}
        assert world.indexer.call("index", body=[item]).expect(200) == {"indexed": 1}
    with upgraded(host, old, embeddings) as world:
        settle(world)
        ann = world.named(OWNER)
        [hit] = ann.finds("withheld", searchType="fulltext")
        assert hit["entryId"] == first["id"]
        found = ann.finds("harbour", groupByConversation=False, searchType="fulltext", limit=1000)
        assert len(found) == ENTRIES - 1
        assert_whole(world, ENTRIES + 3)


def test_the_job_is_queued_only_where_there_is_something_to_do(
    new_database: NewDatabase, old: Old
) -> None:
    fresh = new_database()
    for database, jobs in ((fresh, 0), (old.database, 1)):
        migrations.migrate(an_engine(database))
        assert database.rows(BACKFILL) == [(jobs,)]


def assert_whole(world: World, texts: int) -> None:
    """Every text is in the index once, and known to be there."""
    database = world.database
    assert database.rows(BACKFILL) == [(0,)]
    assert database.rows("SELECT count(*) FROM entry_index") == [(texts,)]
    held = "SELECT count(*) FROM entries WHERE indexed_at IS NOT NULL"
    assert database.rows(held) == [(texts,)]
    counted = "SELECT sum(index_entries) FROM conversation_groups"
    assert int(database.rows(counted)[0][0]) == texts
