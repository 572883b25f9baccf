"""SQL expressions that the two engines write differently. Everything else is the same text on both.

Each class is a SQLAlchemy element; the `@compiles` functions below give its text per engine. The
function without a dialect is SQLite's.
"""

from typing import Any

from sqlalchemy import ColumnElement, Float, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import LargeBinary, TypeEngine, UserDefinedType


def insert_if_absent(table: Table, *key: str) -> Insert:
    """INSERT … ON CONFLICT (key) DO NOTHING. SQLite accepts PostgreSQL's construct as it is."""
    return postgresql.insert(table).on_conflict_do_nothing(index_elements=list(key) or None)


class VectorBytes(ColumnElement[bytes]):
    """Selects a vector column as the bytes of its big-endian 32-bit floats."""

    inherit_cache = True
    type: TypeEngine[Any] = LargeBinary()

    def __init__(self, column: ColumnElement[Any]) -> None:
        self.column = column


class VectorParam(ColumnElement[Any]):
    """A vector as a statement's parameter."""

    inherit_cache = True

    def __init__(self, value: ColumnElement[Any]) -> None:
        self.value = value


class VectorType(UserDefinedType[Any]):
    """Column type of vectors: takes an array of big-endian floats, returns their bytes."""

    cache_ok = True

    def column_expression(self, colexpr: ColumnElement[Any]) -> ColumnElement[Any]:
        return VectorBytes(colexpr)

    def bind_expression(self, bindvalue: Any) -> ColumnElement[Any]:
        return VectorParam(bindvalue)


class FullTextMatch(ColumnElement[bool]):
    """Full-text match of an indexed row. `index` is the table of the rows.

    The query is in FTS5's grammar, of quoted tokens, `*`, AND and OR alone. The element has no
    type on purpose: SQLAlchemy would compare a boolean with 1 on SQLite, which no index serves.
    """

    inherit_cache = True

    def __init__(self, query: ColumnElement[Any], index: Table) -> None:
        self.query, self.index = query, index.name


class InUuidList(ColumnElement[bool]):
    """`column IN (list of UUIDs)`. The list is one parameter, a JSON array: so the text of the
    statement does not depend on its length, and one prepared statement serves all."""

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], ids: ColumnElement[Any]) -> None:
        self.column, self.ids = column, ids


class InTextList(InUuidList):
    """`column IN (list of texts)`, see `InUuidList`."""

    inherit_cache = True


class JsonTextRows(FunctionElement[Any]):
    """The texts of a JSON array as rows `value`, `place` (from 0).

    With it one statement of constant text writes any number of rows.
    """

    inherit_cache = True


class InNumberList(InTextList):
    """`column IN (list of integers)`, see `InUuidList`."""

    inherit_cache = True


class InSubquery(ColumnElement[bool]):
    """`column IN (subquery)` where the subquery shall run first and returns few rows.

    PostgreSQL would estimate more rows and scan the other table, so there the subquery becomes an
    array.
    """

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], found: ColumnElement[Any]) -> None:
        self.column, self.found = column, found


class AdvisoryLock(ColumnElement[Any]):
    """Selecting it locks a name until the transaction ends, for things that have no row to lock.

    SQLite has one writer, so there it locks nothing.
    """

    inherit_cache = True

    def __init__(self, name: ColumnElement[Any]) -> None:
        self.name = name


class CosineDistance(ColumnElement[float]):
    """Cosine distance to a stored vector of known length, written as the HNSW index needs it."""

    inherit_cache = True
    type: TypeEngine[Any] = Float()

    def __init__(self, column: ColumnElement[Any], value: ColumnElement[Any], length: int) -> None:
        self.column, self.value, self.length = column, value, length


class AuditLogHead(ColumnElement[Any]):
    """The highest audit log position at or below which no event can appear any more.

    Decision 0007 says why positions, not times, are what a follower of the log goes by.
    """

    inherit_cache = True


class AuditEventsBetween(ColumnElement[bool]):
    """Audit events after a cursor (position and id), up to a head. Positions come as texts."""

    inherit_cache = True

    def __init__(
        self, position: ColumnElement[Any], id_: ColumnElement[Any], head: ColumnElement[Any]
    ) -> None:
        self.position, self.id, self.head = position, id_, head


@compiles(VectorBytes)
def _sqlite_vector_bytes(element: VectorBytes, compiler: SQLCompiler, **kw: Any) -> str:
    return str(compiler.process(element.column, **kw))


@compiles(VectorBytes, "postgresql")
def _postgres_vector_bytes(element: VectorBytes, compiler: SQLCompiler, **kw: Any) -> str:
    """`vector_send` puts two 16-bit numbers before the floats: the length, and an unused one."""
    return f"substring(vector_send({compiler.process(element.column, **kw)}) from 5)"


@compiles(VectorParam)
def _sqlite_vector_param(element: VectorParam, compiler: SQLCompiler, **kw: Any) -> str:
    return str(compiler.process(element.value, **_skip_cast(kw)))


@compiles(VectorParam, "postgresql")
def _postgres_vector_param(element: VectorParam, compiler: SQLCompiler, **kw: Any) -> str:
    return f"CAST({compiler.process(element.value, **_skip_cast(kw))} AS vector)"


@compiles(FullTextMatch)
def _sqlite_match(element: FullTextMatch, compiler: SQLCompiler, **kw: Any) -> str:
    query = compiler.process(element.query, **kw)
    words = element.index.replace("_index", "_words")
    rows = f"SELECT rowid FROM {words} WHERE {words} MATCH {query}"  # noqa: S608
    return f"{element.index}.doc IN ({rows})"


@compiles(FullTextMatch, "postgresql")
def _postgres_match(element: FullTextMatch, compiler: SQLCompiler, **kw: Any) -> str:
    """Translate FTS5's grammar to tsquery's inside of SQL.

    Tokens hold neither blanks nor quotes, so the two grammars differ in these four words alone.
    `" *` (prefix) must be replaced before the bare quote.
    """
    query = f"CAST({compiler.process(element.query, **kw)} AS text)"
    for fts5, tsquery in (('" *', "'':*"), ('"', "''"), (" AND ", " & "), (" OR ", " | ")):
        query = f"replace({query}, '{fts5}', '{tsquery}')"
    return f"{element.index}.words @@ CAST({query} AS tsquery)"


@compiles(InUuidList)
def _sqlite_in_uuids(element: InUuidList, compiler: SQLCompiler, **kw: Any) -> str:
    """Without the hint that few rows match, SQLite would scan all rows of the caller's trees."""
    column, ids = compiler.process(element.column, **kw), compiler.process(element.ids, **kw)
    return f"likelihood({column} IN (SELECT value FROM json_each({ids})), 0.000001)"  # noqa: S608


@compiles(InUuidList, "postgresql")
def _postgres_in_uuids(element: InUuidList, compiler: SQLCompiler, **kw: Any) -> str:
    column, ids = compiler.process(element.column, **kw), compiler.process(element.ids, **kw)
    listed = f"json_array_elements_text(CAST({ids} AS json))"
    return f"{column} = ANY (ARRAY(SELECT CAST(value AS uuid) FROM {listed}))"  # noqa: S608


@compiles(InTextList, "postgresql")
def _postgres_in_texts(element: InTextList, compiler: SQLCompiler, **kw: Any) -> str:
    column, ids = compiler.process(element.column, **kw), compiler.process(element.ids, **kw)
    listed = f"json_array_elements_text(CAST({ids} AS json))"
    return f"{column} = ANY (ARRAY(SELECT value FROM {listed}))"  # noqa: S608


@compiles(InTextList)
def _sqlite_in_texts(element: InTextList, compiler: SQLCompiler, **kw: Any) -> str:
    column, ids = compiler.process(element.column, **kw), compiler.process(element.ids, **kw)
    return f"{column} IN (SELECT value FROM json_each({ids}))"  # noqa: S608


@compiles(JsonTextRows)
def _sqlite_json_rows(element: JsonTextRows, compiler: SQLCompiler, **kw: Any) -> str:
    texts = compiler.process(element.clauses, **kw)
    return f"(SELECT value, key AS place FROM json_each({texts}))"  # noqa: S608


@compiles(JsonTextRows, "postgresql")
def _postgres_json_rows(element: JsonTextRows, compiler: SQLCompiler, **kw: Any) -> str:
    texts = compiler.process(element.clauses, **kw)
    listed = f"json_array_elements_text(CAST({texts} AS json)) WITH ORDINALITY"
    return f"(SELECT value, ordinality - 1 AS place FROM {listed})"  # noqa: S608


@compiles(InNumberList, "postgresql")
def _postgres_in_numbers(element: InNumberList, compiler: SQLCompiler, **kw: Any) -> str:
    column, ids = compiler.process(element.column, **kw), compiler.process(element.ids, **kw)
    listed = f"json_array_elements_text(CAST({ids} AS json))"
    return f"{column} = ANY (ARRAY(SELECT CAST(value AS bigint) FROM {listed}))"  # noqa: S608


@compiles(InSubquery)
def _sqlite_in_subquery(element: InSubquery, compiler: SQLCompiler, **kw: Any) -> str:
    column, found = compiler.process(element.column, **kw), compiler.process(element.found, **kw)
    return f"{column} IN {found}"


@compiles(InSubquery, "postgresql")
def _postgres_in_subquery(element: InSubquery, compiler: SQLCompiler, **kw: Any) -> str:
    column, found = compiler.process(element.column, **kw), compiler.process(element.found, **kw)
    return f"{column} = ANY (ARRAY{found})"


@compiles(AdvisoryLock)
def _sqlite_lock(element: AdvisoryLock, compiler: SQLCompiler, **kw: Any) -> str:
    return str(compiler.process(element.name, **kw))


@compiles(AdvisoryLock, "postgresql")
def _postgres_lock(element: AdvisoryLock, compiler: SQLCompiler, **kw: Any) -> str:
    name = compiler.process(element.name, **kw)
    return f"pg_advisory_xact_lock(hashtextextended(CAST({name} AS text), 0))"


@compiles(CosineDistance, "postgresql")
def _postgres_cosine(element: CosineDistance, compiler: SQLCompiler, **kw: Any) -> str:
    column = compiler.process(element.column, **kw)
    value = compiler.process(VectorParam(element.value), **kw)
    cast = f"vector({element.length})"
    return f"(CAST({column} AS {cast}) <=> CAST({value} AS {cast}))"


@compiles(AuditLogHead)
def _sqlite_head(_element: AuditLogHead, _compiler: SQLCompiler, **_: Any) -> str:
    """A position is the rowid. There is one writer, so rows appear in that order."""
    return "(SELECT max(position) FROM audit_events)"


@compiles(AuditLogHead, "postgresql")
def _postgres_head(_element: AuditLogHead, _compiler: SQLCompiler, **_: Any) -> str:
    """A position is the id of the writing transaction. All below the oldest running one ended."""
    return "(CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) - 1)"


@compiles(AuditEventsBetween)
def _sqlite_between(element: AuditEventsBetween, compiler: SQLCompiler, **kw: Any) -> str:
    """Positions are unique on SQLite, so the id adds nothing."""
    position, head = (compiler.process(each, **kw) for each in (element.position, element.head))
    row = "audit_events.position"
    return f"{row} > CAST({position} AS INTEGER) AND {row} <= CAST({head} AS INTEGER)"


@compiles(AuditEventsBetween, "postgresql")
def _postgres_between(element: AuditEventsBetween, compiler: SQLCompiler, **kw: Any) -> str:
    position, id_, head = (
        compiler.process(each, **kw) for each in (element.position, element.id, element.head)
    )
    place = f"(CAST(CAST({position} AS text) AS xid8), CAST({id_} AS uuid))"
    last = f"CAST(CAST({head} AS text) AS xid8)"
    return f"(audit_events.position, audit_events.id) > {place} AND audit_events.position <= {last}"


def _skip_cast(kw: dict[str, Any]) -> dict[str, Any]:
    """Write the parameter without its type's own cast: our CAST stands around it."""
    return {**kw, "skip_bind_expression": True}
