"""Nearest vectors on PostgreSQL: an exact scan of the permitted rows, or in very large scopes
pgvector's HNSW index."""

from collections.abc import Sequence
from functools import cache

from sqlalchemy import literal_column, text

from recollect.db.engines.expressions import CosineDistance
from recollect.db.statements import Query, param
from recollect.db.tables.conversations import embeddings
from recollect.db.transaction import Tx
from recollect.embedding.port import Vector
from recollect.kernel.ids import EntryId
from recollect.search.ports import SearchScope
from recollect.search.store.entries_sql import (
    count_entries,
    scope_shape,
    scope_values,
    select_vectors,
)

# pgvector's HNSW index takes no vectors longer than this.
DIMENSIONS_MAX = 2_000
EF_SEARCH_MAX = 1_000
# Cost of a vector visited through the index, relative to one read by a scan. Measured with 60,000
# permitted of 100,000 vectors of 384 dimensions.
INDEX_COST = 16

_v = embeddings.c
# Without these settings pgvector looks at a few dozen vectors and filters them afterwards: most
# belong to others, so a filtered query would find next to nothing.
_SCAN_SETTINGS = [
    Query(text(f"SET LOCAL {name} = {value}"))
    for name, value in (
        ("hnsw.iterative_scan", "'relaxed_order'"),
        ("hnsw.max_scan_tuples", "1000000"),
        ("hnsw.scan_mem_multiplier", "8"),
    )
]
_SET_EF_SEARCH = Query(text("SELECT set_config('hnsw.ef_search', CAST(:ef AS text), true)"))
_INDEX_IS_VALID = Query(
    text(
        "SELECT indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
        "WHERE relname = :name AND relnamespace = to_regnamespace(current_schema())"
    )
)
# The planner's estimate is good enough: it only feeds the comparison of costs.
_ESTIMATED_TOTAL = Query(
    text("SELECT reltuples FROM pg_class WHERE oid = to_regclass('entry_embeddings')")
)
# Parallel workers build in shared memory, and containers have little of it: the build would fail.
_NO_PARALLEL_BUILD = Query(text("SET max_parallel_maintenance_workers = 0"))
_RAISE_BUILD_MEMORY = Query(
    text(
        "SELECT set_config('maintenance_work_mem', '512MB', false) FROM pg_settings "
        "WHERE name = 'maintenance_work_mem' AND CAST(setting AS bigint) < 524288"
    )
)


class HnswNearestSearch:
    """Scans exactly; uses the index only where that is cheaper."""

    def find_entries(
        self, tx: Tx, scope: SearchScope, vector: Vector, *, model: str, limit: int
    ) -> list[EntryId]:
        exact = _is_scan_cheaper(tx, scope, limit)
        if not exact:
            _set_index_options(tx, limit)
        params = scope_values(scope) | {"model": model, "vector": vector, "limit": limit}
        rows = tx.fetch(_nearest_query(scope_shape(scope), len(vector), exact=exact), params)
        return [EntryId(row[0]) for row in rows]

    def index_statements(self, tx: Tx, *, dimensions: int, from_entries: int) -> Sequence[Query]:
        """The statements that build the index, once there are `from_entries` vectors; else none.

        A build that was interrupted leaves an invalid index behind, so it is dropped first.
        """
        if dimensions > DIMENSIONS_MAX:
            return ()
        name = f"entry_embeddings_hnsw_{dimensions:d}"
        valid = tx.fetch_first(_INDEX_IS_VALID, {"name": name})
        if valid == (True,) or _first_number(tx, _count_query(dimensions)) < from_entries:
            return ()
        return (
            _NO_PARALLEL_BUILD,
            _RAISE_BUILD_MEMORY,
            _drop_index(name),
            _create_index(name, dimensions),
        )


def _is_scan_cheaper(tx: Tx, scope: SearchScope, limit: int) -> bool:
    # A scan reads `permitted` vectors. The index visits vectors in order of distance and keeps one
    # in every total/permitted, so it visits limit * total / permitted at INDEX_COST each. Both
    # sides are multiplied by `permitted`, which may be 0.
    row = tx.fetch_first(count_entries(scope_shape(scope)), scope_values(scope))
    permitted = float(row[0] or 0) if row else 0.0
    total = max(permitted, _first_number(tx, _ESTIMATED_TOTAL))
    return permitted * permitted <= INDEX_COST * limit * total


def _set_index_options(tx: Tx, limit: int) -> None:
    for setting in _SCAN_SETTINGS:
        tx.run(setting, {})
    tx.run(_SET_EF_SEARCH, {"ef": str(min(limit, EF_SEARCH_MAX))})


def _first_number(tx: Tx, statement: Query) -> float:
    row = tx.fetch_first(statement, {})
    return float(row[0]) if row else 0.0


@cache
def _nearest_query(scope: SearchScope, length: int, *, exact: bool) -> Query:
    query = select_vectors(scope, _v.entry_id)
    query = query.where(_v.dimensions == literal_column(str(length)))
    distance = CosineDistance(_v.embedding, param("vector", _v.embedding), length)
    # Adding 0 keeps the planner from using the index: an index serves the bare distance only.
    order = (distance + literal_column("0"), _v.entry_id.desc()) if exact else (distance,)
    return Query(query.order_by(*order).limit(param("limit", _v.revision)))


@cache
def _count_query(dimensions: int) -> Query:
    return Query(
        text(f"SELECT count(*) FROM entry_embeddings WHERE dimensions = {dimensions:d}")  # noqa: S608
    )


@cache
def _drop_index(name: str) -> Query:
    return Query(text(f"DROP INDEX CONCURRENTLY IF EXISTS {name}"))


@cache
def _create_index(name: str, dimensions: int) -> Query:
    """CONCURRENTLY, so that writes go on during the build.

    A plain CREATE INDEX would block the index jobs, and those hold locks of trees that appends
    wait for.
    """
    return Query(
        text(
            f"CREATE INDEX CONCURRENTLY {name} ON entry_embeddings "
            f"USING hnsw (CAST(embedding AS vector({dimensions:d})) vector_cosine_ops) "
            f"WHERE dimensions = {dimensions:d}"
        )
    )
