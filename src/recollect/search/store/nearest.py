"""Nearest vectors by reading every permitted one: exact, and the same on every engine."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from recollect.db.statements import Params, Row
from recollect.db.transaction import Tx
from recollect.embedding.port import Vector
from recollect.kernel.ids import EntryId
from recollect.search.ports import SearchScope
from recollect.search.store.entries_sql import (
    own_vectors_after,
    own_vectors_of_trees,
    scope_shape,
    scope_values,
    tree_states,
)

_BATCH_ROWS = 4_000
_NO_LIMIT = 2**62
_LEAST_ID = "00000000-0000-0000-0000-000000000000"


class NearestSearch(Protocol):
    """How an engine finds near vectors in scopes that are too large to rank in memory."""

    def find_entries(
        self, tx: Tx, scope: SearchScope, vector: Vector, *, model: str, limit: int
    ) -> list[EntryId]:
        """The `limit` nearest of the permitted entries, in no particular order."""
        ...

    def index_statements(self, tx: Tx, *, dimensions: int, from_entries: int) -> Sequence[Any]:
        """Statements that build a missing index, once it pays; empty otherwise.

        They must run outside of a transaction: see `Database.run_outside_transaction`.
        """
        ...


class ScanNearestSearch:
    """Reads all permitted vectors in batches and keeps the nearest."""

    def find_entries(
        self, tx: Tx, scope: SearchScope, vector: Vector, *, model: str, limit: int
    ) -> list[EntryId]:
        wanted = np.asarray(vector, dtype=np.float32)
        ids: list[str] = []
        scores: Vector = np.empty(0, dtype=np.float32)
        for rows in _vector_batches(tx, scope, model):
            block = np.frombuffer(b"".join(row[1] for row in rows), dtype=">f4")
            found = block.reshape(len(rows), -1).astype(np.float32) @ wanted
            ids, scores = _keep_best(ids + [row[0] for row in rows], scores, found, limit)
        return [EntryId(id_) for id_ in ids]

    def index_statements(self, tx: Tx, *, dimensions: int, from_entries: int) -> Sequence[Any]:
        """None: a scan needs no index."""
        return ()


def _vector_batches(tx: Tx, scope: SearchScope, model: str) -> Iterator[Sequence[Row]]:
    """Read by tree, which an index serves: no batch has to sort, or to skip rows of others.

    Small trees share a batch; a tree of more than a batch is paged.
    """
    params = {**scope_values(scope), "model": model}
    trees = tx.fetch(tree_states(scope_shape(scope)), params | {"limit": _NO_LIMIT})
    for group in _group_trees(row for row in trees if row[1] < _BATCH_ROWS):
        rows = tx.fetch(
            own_vectors_of_trees(scope_shape(scope)), params | {"ids": json.dumps(group)}
        )
        if rows:
            yield rows
    for tree_id, *_ in (row for row in trees if row[1] >= _BATCH_ROWS):
        yield from _tree_batches(tx, scope_shape(scope), params | {"tree_id": tree_id})


def _tree_batches(tx: Tx, scope: SearchScope, params: Params) -> Iterator[Sequence[Row]]:
    after: tuple[str, int] | None = (_LEAST_ID, -1)
    while after is not None:
        place = {"after": after[0], "revision": after[1], "limit": _BATCH_ROWS}
        rows = tx.fetch(own_vectors_after(scope), {**params, **place})
        after = (rows[-1][0], rows[-1][2]) if len(rows) == _BATCH_ROWS else None
        if rows:
            yield rows


def _group_trees(trees: Iterable[Row]) -> Iterator[list[str]]:
    """Group the ids of small trees until they fill a batch."""
    group: list[str] = []
    entries = 0
    for tree_id, count, *_ in trees:
        group.append(tree_id)
        entries += count
        if entries >= _BATCH_ROWS:
            yield group
            group, entries = [], 0
    if group:
        yield group


def _keep_best(
    ids: list[str], scores: Vector, found: Vector, limit: int
) -> tuple[list[str], Vector]:
    """Keep the `limit` best. Ties go to the greater id, whatever the order of reading.

    So every page of one search has the same candidates.
    """
    together = np.concatenate([scores, found])
    order = np.lexsort((np.array(ids, "S36"), together))[::-1][:limit]
    return [ids[i] for i in order], together[order]
