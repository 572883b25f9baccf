"""The tables of the code and of both engines are the same, but for what is documented."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.db import columns as declared
from recollect.db import migrations
from recollect.db.tables import conversations, memories, people
from tests.migration.schemas import columns, indexes
from tests.support.engines import TestDatabase, a_postgres_database, a_sqlite_database
from tests.support.storage import an_engine

# Not in the code's tables: what the engine makes of indexed words, and the order of commits.
NOT_IN_CODE = {
    "sqlite": {("audit_events", "position")},
    "postgres": {
        ("audit_events", "position"),
        ("entries", "indexed_content_tsv"),
        ("entry_index", "words"),
        ("memory_index", "words"),
    },
}
TYPES = {
    "Uuid": {"sqlite": "text", "postgres": "uuid"},
    "Text": {"sqlite": "text", "postgres": "text"},
    "BigInteger": {"sqlite": "integer", "postgres": "bigint"},
    "Boolean": {"sqlite": "integer", "postgres": "boolean"},
    "DateTime": {"sqlite": "text", "postgres": "timestamp with time zone"},
    "Double": {"sqlite": "real", "postgres": "double precision"},
    "VectorType": {"sqlite": "blob", "postgres": "user-defined"},
}
BOOKKEEPING = "schema_versions"
# Every module of tables declares into one collection, once it is imported.
MODULES = (conversations, people, memories)
DECLARED = declared.metadata.tables.values()


@pytest.fixture
def migrated(engine: TestDatabase) -> TestDatabase:
    migrations.migrate(an_engine(engine))
    return engine


@pytest.fixture
def both(tmp_path: Path, postgres_url: str) -> Iterator[tuple[TestDatabase, TestDatabase]]:
    with a_postgres_database(postgres_url) as postgres:
        sqlite = a_sqlite_database(tmp_path)
        for database in (sqlite, postgres):
            migrations.migrate(an_engine(database))
        yield sqlite, postgres


def test_the_code_knows_the_columns_that_are_there(migrated: TestDatabase) -> None:
    stored = {
        (table, name)
        for table, listed in columns(migrated).items()
        for name in listed
        if table != BOOKKEEPING
    }
    known = {(t.name, c.name) for t in DECLARED for c in t.columns}
    assert stored - known == NOT_IN_CODE[migrated.engine]
    assert known <= stored


def test_the_code_knows_the_types_that_are_there(migrated: TestDatabase) -> None:
    stored = columns(migrated)
    for table in DECLARED:
        for column in table.columns:
            wanted = TYPES[type(column.type).__name__][migrated.engine]
            assert stored[table.name][column.name].type == wanted, (table.name, column.name)


def test_both_engines_have_the_same_columns(both: tuple[TestDatabase, TestDatabase]) -> None:
    sqlite, postgres = (columns(database) for database in both)
    assert postgres["entries"].pop("indexed_content_tsv").nullable
    # Where words are found by: a column here, a table of its own there.
    for table in ("entry_index", "memory_index"):
        assert postgres[table].pop("words").type == "tsvector"
    # An integer primary key of SQLite takes NULL for the next number.
    numbered = ("entry_index", "memories", "memory_index", "memory_embeddings")
    for table, name in (("audit_events", "position"), *((table, "doc") for table in numbered)):
        assert sqlite[table].pop(name).type == "integer"
        assert not postgres[table].pop(name).nullable
    shapes = [
        {
            table: {name: column.nullable for name, column in sorted(listed.items())}
            for table, listed in tables_of.items()
        }
        for tables_of in (sqlite, postgres)
    ]
    assert shapes[0] == shapes[1]


def test_both_engines_have_the_same_indexes(both: tuple[TestDatabase, TestDatabase]) -> None:
    sqlite, postgres = (indexes(database) for database in both)
    # On SQLite the rowid is the position.
    assert postgres.pop("audit_events_position")[1] == ("position", "id")
    # On SQLite words are found through a virtual table.
    for name in ("entry_index_words", "memory_index_words"):
        assert postgres.pop(name)[1] == ("words",)
    # On SQLite the row itself is mapped into memory: an index beside it gains nothing.
    assert postgres.pop("memory_index_state")[1] == ("revision", "vector_model")
    assert sqlite == postgres


def test_every_key_of_a_users_or_clients_name_is_ordered_by_bytes(
    both: tuple[TestDatabase, TestDatabase],
) -> None:
    named = [
        (table, name, column.collation)
        for table, listed in columns(both[1]).items()
        for name, column in listed.items()
        if name.endswith(("user_id", "client_id"))
    ]
    assert len(named) >= 10
    assert {collation for _, _, collation in named} == {"C"}
