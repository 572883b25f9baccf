"""Expressions that the engines spell differently, or that only they have.

Everything else is the same text on both."""

from typing import Any

from sqlalchemy import ColumnElement, Float, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import LargeBinary, TypeEngine, UserDefinedType


def insert_if_absent(table: Table, *key: str) -> Insert:
    """INSERT … ON CONFLICT (key) DO NOTHING: both engines render this construct alike."""
    return postgresql.insert(table).on_conflict_do_nothing(index_elements=list(key) or None)


class VectorBytes(ColumnElement[bytes]):
    """A stored vector as the bytes of its big-endian floats."""

    inherit_cache = True
    type: TypeEngine[Any] = LargeBinary()

    def __init__(self, column: ColumnElement[Any]) -> None:
        self.column = column


class VectorValue(ColumnElement[Any]):
    """A parameter that is a vector."""

    inherit_cache = True

    def __init__(self, value: ColumnElement[Any]) -> None:
        self.value = value


class VectorType(UserDefinedType[Any]):
    """A vector: an array of big-endian floats goes in, their bytes come out on every engine."""

    cache_ok = True

    def column_expression(self, colexpr: ColumnElement[Any]) -> ColumnElement[Any]:
        """How a column is selected."""
        return VectorBytes(colexpr)

    def bind_expression(self, bindvalue: Any) -> ColumnElement[Any]:
        """How a parameter is written."""
        return VectorValue(bindvalue)


class WordsMatch(ColumnElement[bool]):
    """Does an indexed row hold these words? The query is in the grammar of FTS5, made of quoted
    tokens, `*`, AND and OR alone. It has no type: a truth value would be compared with 1 where the
    engine has none, and no index serves that. `index` is the table of the rows."""

    inherit_cache = True

    def __init__(self, query: ColumnElement[Any], index: Table) -> None:
        self.query, self.index = query, index.name


class AmongIds(ColumnElement[bool]):
    """Is an id one of a list? The list is one parameter: JSON text, so that its length is no part
    of the statement."""

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], ids: ColumnElement[Any]) -> None:
        self.column, self.ids = column, ids


class AmongTexts(AmongIds):
    """The same for ids that are texts."""

    inherit_cache = True


class ListedTexts(FunctionElement[Any]):
    """The texts of a JSON list as rows `value`, `place`, so that many rows are written by one
    statement whose text does not depend on their number."""

    inherit_cache = True


class AmongNumbers(AmongTexts):
    """The same for whole numbers."""

    inherit_cache = True


class AmongFound(ColumnElement[bool]):
    """Is a number one that a query finds? The query comes first and has few rows; an engine that
    estimates how many they are would rather look at all rows of what it is joined with."""

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], found: ColumnElement[Any]) -> None:
        self.column, self.found = column, found


class HeldName(ColumnElement[Any]):
    """Whoever selects it holds a name until the transaction ends: for what has no row to lock.
    An engine with one writer has nothing to hold."""

    inherit_cache = True

    def __init__(self, name: ColumnElement[Any]) -> None:
        self.name = name


class Distance(ColumnElement[float]):
    """Cosine distance of a stored vector of known length, in the form that an index serves."""

    inherit_cache = True
    type: TypeEngine[Any] = Float()

    def __init__(self, column: ColumnElement[Any], value: ColumnElement[Any], length: int) -> None:
        self.column, self.value, self.length = column, value, length


class EventHead(ColumnElement[Any]):
    """The last position in the audit log at which no event can appear any more."""

    inherit_cache = True


class EventsBetween(ColumnElement[bool]):
    """Events behind a place (position and id), up to a head. Positions are texts here."""

    inherit_cache = True

    def __init__(
        self, position: ColumnElement[Any], id_: ColumnElement[Any], head: ColumnElement[Any]
    ) -> None:
        self.position, self.id, self.head = position, id_, head


@compiles(VectorBytes)
def _plain_bytes(element: VectorBytes, compiler: SQLCompiler, **kw: Any) -> str:
    return str(compiler.process(element.column, **kw))


@compiles(VectorBytes, "postgresql")
def _sent_bytes(element: VectorBytes, compiler: SQLCompiler, **kw: Any) -> str:
    """Behind two numbers of two bytes, its length and an unused one."""
    return f"substring(vector_send({compiler.process(element.column, **kw)}) from 5)"


@compiles(VectorValue)
def _plain_value(element: VectorValue, compiler: SQLCompiler, **kw: Any) -> str:
    return str(compiler.process(element.value, **_without_cast(kw)))


@compiles(VectorValue, "postgresql")
def _cast_value(element: VectorValue, compiler: SQLCompiler, **kw: Any) -> str:
    return f"CAST({compiler.process(element.value, **_without_cast(kw))} AS vector)"


@compiles(WordsMatch)
def _fts5(element: WordsMatch, compiler: SQLCompiler, **kw: Any) -> str:
    query = compiler.process(element.query, **kw)
    words = element.index.replace("_index", "_words")
    rows = f"SELECT rowid FROM {words} WHERE {words} MATCH {query}"  # noqa: S608
    return f"{element.index}.doc IN ({rows})"


@compiles(WordsMatch, "postgresql")
def _tsquery(element: WordsMatch, compiler: SQLCompiler, **kw: Any) -> str:
    """Tokens hold neither blanks nor quotes, so the two grammars differ by these words alone."""
    query = f"CAST({compiler.process(element.query, **kw)} AS text)"
    for ours, theirs in (('" *', "'':*"), ('"', "''"), (" AND ", " & "), (" OR ", " | ")):
        query = f"replace({query}, '{ours}', '{theirs}')"
    return f"{element.index}.words @@ CAST({query} AS tsquery)"


@compiles(AmongIds)
def _in_json(element: AmongIds, compiler: SQLCompiler, **kw: Any) -> str:
    """Unless it is told how few they are, SQLite rather looks at all rows of a caller's trees."""
    column, ids = compiler.process(element.column, **kw), compiler.process(element.ids, **kw)
    return f"likelihood({column} IN (SELECT value FROM json_each({ids})), 0.000001)"  # noqa: S608


@compiles(AmongIds, "postgresql")
def _in_array(element: AmongIds, compiler: SQLCompiler, **kw: Any) -> str:
    column, ids = compiler.process(element.column, **kw), compiler.process(element.ids, **kw)
    listed = f"json_array_elements_text(CAST({ids} AS json))"
    return f"{column} = ANY (ARRAY(SELECT CAST(value AS uuid) FROM {listed}))"  # noqa: S608


@compiles(AmongTexts, "postgresql")
def _in_text_array(element: AmongTexts, compiler: SQLCompiler, **kw: Any) -> str:
    column, ids = compiler.process(element.column, **kw), compiler.process(element.ids, **kw)
    listed = f"json_array_elements_text(CAST({ids} AS json))"
    return f"{column} = ANY (ARRAY(SELECT value FROM {listed}))"  # noqa: S608


@compiles(AmongTexts)
def _in_text_json(element: AmongTexts, compiler: SQLCompiler, **kw: Any) -> str:
    column, ids = compiler.process(element.column, **kw), compiler.process(element.ids, **kw)
    return f"{column} IN (SELECT value FROM json_each({ids}))"  # noqa: S608


@compiles(ListedTexts)
def _json_rows(element: ListedTexts, compiler: SQLCompiler, **kw: Any) -> str:
    texts = compiler.process(element.clauses, **kw)
    return f"(SELECT value, key AS place FROM json_each({texts}))"  # noqa: S608


@compiles(ListedTexts, "postgresql")
def _json_array_rows(element: ListedTexts, compiler: SQLCompiler, **kw: Any) -> str:
    texts = compiler.process(element.clauses, **kw)
    listed = f"json_array_elements_text(CAST({texts} AS json)) WITH ORDINALITY"
    return f"(SELECT value, ordinality - 1 AS place FROM {listed})"  # noqa: S608


@compiles(AmongNumbers, "postgresql")
def _in_number_array(element: AmongNumbers, compiler: SQLCompiler, **kw: Any) -> str:
    column, ids = compiler.process(element.column, **kw), compiler.process(element.ids, **kw)
    listed = f"json_array_elements_text(CAST({ids} AS json))"
    return f"{column} = ANY (ARRAY(SELECT CAST(value AS bigint) FROM {listed}))"  # noqa: S608


@compiles(AmongFound)
def _in_query(element: AmongFound, compiler: SQLCompiler, **kw: Any) -> str:
    column, found = compiler.process(element.column, **kw), compiler.process(element.found, **kw)
    return f"{column} IN {found}"


@compiles(AmongFound, "postgresql")
def _in_found_array(element: AmongFound, compiler: SQLCompiler, **kw: Any) -> str:
    column, found = compiler.process(element.column, **kw), compiler.process(element.found, **kw)
    return f"{column} = ANY (ARRAY{found})"


@compiles(HeldName)
def _free_name(element: HeldName, compiler: SQLCompiler, **kw: Any) -> str:
    return str(compiler.process(element.name, **kw))


@compiles(HeldName, "postgresql")
def _locked_name(element: HeldName, compiler: SQLCompiler, **kw: Any) -> str:
    name = compiler.process(element.name, **kw)
    return f"pg_advisory_xact_lock(hashtextextended(CAST({name} AS text), 0))"


@compiles(Distance, "postgresql")
def _cosine(element: Distance, compiler: SQLCompiler, **kw: Any) -> str:
    column = compiler.process(element.column, **kw)
    value = compiler.process(VectorValue(element.value), **kw)
    cast = f"vector({element.length})"
    return f"(CAST({column} AS {cast}) <=> CAST({value} AS {cast}))"


@compiles(EventHead)
def _last_row(_element: EventHead, _compiler: SQLCompiler, **_: Any) -> str:
    """There is one writer, so rows appear in the order of their positions."""
    return "(SELECT max(position) FROM audit_events)"


@compiles(EventHead, "postgresql")
def _settled_transactions(_element: EventHead, _compiler: SQLCompiler, **_: Any) -> str:
    """A position is the number of a transaction; all below the oldest that runs have ended."""
    return "(CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) - 1)"


@compiles(EventsBetween)
def _rows_between(element: EventsBetween, compiler: SQLCompiler, **kw: Any) -> str:
    """Positions are unique here, so the id adds nothing."""
    position, head = (compiler.process(each, **kw) for each in (element.position, element.head))
    row = "audit_events.position"
    return f"{row} > CAST({position} AS INTEGER) AND {row} <= CAST({head} AS INTEGER)"


@compiles(EventsBetween, "postgresql")
def _transactions_between(element: EventsBetween, compiler: SQLCompiler, **kw: Any) -> str:
    position, id_, head = (
        compiler.process(each, **kw) for each in (element.position, element.id, element.head)
    )
    place = f"(CAST(CAST({position} AS text) AS xid8), CAST({id_} AS uuid))"
    last = f"CAST(CAST({head} AS text) AS xid8)"
    return f"(audit_events.position, audit_events.id) > {place} AND audit_events.position <= {last}"


def _without_cast(kw: dict[str, Any]) -> dict[str, Any]:
    """Inside our own cast the parameter is written as it is."""
    return {**kw, "skip_bind_expression": True}
