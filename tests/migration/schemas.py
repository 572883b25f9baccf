"""What a database looks like, as plain values that can be compared."""

import re
from dataclasses import dataclass
from typing import Any

from tests.support.engines import TestDatabase

_POSTGRES_COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable = 'YES', column_default, collation_name
FROM information_schema.columns JOIN information_schema.tables
  USING (table_catalog, table_schema, table_name)
WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
ORDER BY table_name, ordinal_position
"""
# Of an expression's index only this engine can tell how it is written.
_POSTGRES_INDEXES = """
SELECT tablename, indexname, indexdef FROM pg_indexes
WHERE schemaname = 'public' AND position('::text) COLLATE' IN indexdef) = 0
"""
_POSTGRES_CHECKS = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = 'public'::regnamespace
"""
_SQLITE_COLUMNS = """
SELECT t.name, c.name, c.type, NOT c."notnull", c.dflt_value, NULL
FROM pragma_table_list t, pragma_table_xinfo(t.name) c
WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
ORDER BY t.name, c.cid
"""


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its words in the database."""

    type: str
    nullable: bool
    default: str | None
    collation: str | None


Columns = dict[str, dict[str, Column]]


def columns(database: TestDatabase) -> Columns:
    """Every table with its columns in order."""
    query = _SQLITE_COLUMNS if database.engine == "sqlite" else _POSTGRES_COLUMNS
    tables: Columns = {}
    for table, name, type_, nullable, default, collation in database.rows(query):
        column = Column(type_.lower(), bool(nullable), default, collation)
        tables.setdefault(table, {})[name] = column
    return tables


def indexes(database: TestDatabase) -> dict[str, tuple[str, tuple[str, ...], bool, str]]:
    """Every index that has a name of ours: table, columns, uniqueness and condition."""
    if database.engine == "sqlite":
        rows = database.rows("SELECT tbl_name, name, sql FROM sqlite_schema WHERE type = 'index'")
    else:
        rows = database.rows(_POSTGRES_INDEXES)
    return {name: _index(table, sql) for table, name, sql in rows if _is_named(name, sql)}


def definition(database: TestDatabase) -> list[Any]:
    """Everything at once, for comparing two databases of one engine."""
    if database.engine == "sqlite":
        return sorted(
            (name, re.sub(r"\s+", " ", sql or ""))
            for name, sql in database.rows("SELECT name, sql FROM sqlite_schema")
        )
    parts = [*database.rows(_POSTGRES_INDEXES), *database.rows(_POSTGRES_CHECKS)]
    return [columns(database), sorted(parts)]


def versions(database: TestDatabase) -> tuple[int, int]:
    """`schema_version` and `compat_version`."""
    rows = database.rows("SELECT schema_version, compat_version FROM schema_versions")
    schema, compat = rows[0]
    return schema, compat


def _is_named(name: str, sql: str | None) -> bool:
    return sql is not None and not re.search(r"_(pkey|key)$", name)


def _index(table: str, sql: str) -> tuple[str, tuple[str, ...], bool, str]:
    """Both engines spell an index alike, apart from casts, parentheses and truth values in its
    condition."""
    flat = re.sub(r"\s+", " ", sql)
    found = re.search(r"\(([^)]*)\)(?: WHERE (.*))?$", flat)
    assert found is not None, sql
    condition = re.sub(r"::text|[()]| = 1$", "", found[2] or "")
    listed = tuple(part.strip(' "') for part in found[1].split(","))
    return table, listed, " UNIQUE " in flat, condition
