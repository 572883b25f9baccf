"""The stages of a memory search, as plain functions that search, recall and the embedded store call
one after the other.

    embed    the query's vector, before any transaction, because a model or endpoint is awaited
    gather   one snapshot: the caller, what they may see, the candidate rows (`gather.py`)
    fresh    vectors of what the caller has just written, within a fixed time (`fresh_vectors.py`)
    rank     numpy over the words and vectors of exactly these rows (`rank.py`)
    page     the hits behind a position, read once more, each with its reasons (`pages.py`)
    record   which memories were returned, in the audit log and for eviction

The order is fixed by what may run where. A transaction is a plain function and can't await a model.
Ranking needs no database, so no transaction is open while a thread computes. The alternative,
two classes that call each other back for the scope and the table, hid in which transaction a
permission is read.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from recollect.db.transaction import Tx
from recollect.embedding.port import Embedder, Vector
from recollect.identity.requester import Requester
from recollect.kernel.errors import EmbeddingFailed, Unavailable
from recollect.memories.model import StoredMemory
from recollect.memories.read.audit import context_word
from recollect.observability.tracing import span
from recollect.search.memories.cursor import MemoryPosition
from recollect.search.memories.explain_hit import MemorySearchComponent
from recollect.search.memories.fresh_vectors import ON_THE_SPOT_SECONDS
from recollect.search.memories.gather import (
    GatheredRows,
    MemorySearchDeps,
    MemorySearchScope,
    RequestedScope,
    embed_fresh_texts,
    embed_past_versions,
    gather_rows,
    resolve_scope,
)
from recollect.search.memories.query import MemoryQuery, MemoryQuestion
from recollect.search.memories.rank import RankedMemories, RankingQuery, rank_memories
from recollect.search.memories.row_cache import MemoryRowCache, MemoryTable
from recollect.search.memories.rows import NamedPerson
from recollect.search.model import SearchType
from recollect.visibility.viewer import Viewer

T = TypeVar("T")

# Above these sizes a table is built and ranked on a worker thread, off the event loop.
_LIGHT_ROWS = 2_000
_LIGHT_NEW_ROWS = 200
# How often the read is repeated when another search evicted cached rows between read and table.
_TRIES_MAX = 3


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranked rows of one search, and all that a page and its cursor need to know of it. `at` is
    the instant that ages are measured from; `with_meaning` tells whether a query vector took part
    in the scores."""

    scope: MemorySearchScope
    table: MemoryTable
    ranked: RankedMemories
    question: MemoryQuestion
    people: Sequence[NamedPerson]
    degraded: Sequence[MemorySearchComponent]
    at: datetime
    with_meaning: bool


async def rank_scope(
    deps: MemorySearchDeps,
    scope: RequestedScope | MemorySearchScope,
    query: MemoryQuery,
    *,
    now: datetime,
    after: MemoryPosition | None = None,
) -> Ranking:
    """Embed the query, gather the rows of the scope and rank all matches.

    `after` is the position behind the previous page. Its instant and its scale are used again: ages
    and normalised word scores then equal those of the first page, and a hit can be compared with
    the position's score. Raises what `resolve_scope` raises, and Unavailable if the first page used
    the query's vector and the embedder fails now.
    """
    at = after.at if after is not None else now
    with span("search.embed"):
        vector, failed = await _embed_query(deps.embedder, query, after)

    def read(tx: Tx) -> GatheredRows:
        return gather_rows(tx, deps, resolve_scope(tx, deps, scope), query, vector, at)

    # The cache is asked inside the transaction which rows it lacks, and the table is built behind
    # it. In between, another search may evict rows that this one counted on. The cache is not
    # locked across the transaction, since every other search would wait for the database with us.
    # Instead the table says whether it is complete, and an incomplete one is read again. The last
    # attempt is used as it is: the few rows it lacks are missing from the answer, which beats an
    # error.
    seconds = ON_THE_SPOT_SECONDS
    for _ in range(_TRIES_MAX):
        with span("search.gather"):
            gathered = await embed_past_versions(deps.embedder, await deps.database.scan(read))
        with span("search.fresh"):
            gathered = await embed_fresh_texts(deps.fresh, gathered, seconds=seconds)
        # Further attempts take the vectors that were made in the first.
        seconds = 0
        table = await _build_table(deps.cache, gathered)
        if table.whole:
            break
    ranking_query = RankingQuery(
        gathered.question,
        query.mode,
        vector,
        at,
        names=gathered.name_words,
        graph=gathered.graph,
        scale=after.scale if after is not None else None,
        min_score=query.min_score,
    )
    with span("search.rank"):
        ranked = await _run_off_loop(
            lambda: rank_memories(table, ranking_query, deps.ranking),
            light=len(table) <= _LIGHT_ROWS,
        )
    return Ranking(
        gathered.scope,
        table,
        ranked,
        gathered.question,
        gathered.people,
        [*failed, *gathered.failed],
        at,
        with_meaning=vector is not None,
    )


async def record_read(
    deps: MemorySearchDeps,
    requester: Requester,
    operation: str,
    returned: Sequence[StoredMemory],
    viewer: Viewer,
) -> None:
    """Record in the audit log which memories were returned, and count their use."""
    with span("search.record"):
        deps.usage.record_shown(returned)
        await deps.reads.record_reads(
            requester, operation, [stored.memory for stored in returned], rule=context_word(viewer)
        )


async def _embed_query(
    embedder: Embedder | None, query: MemoryQuery, after: MemoryPosition | None
) -> tuple[Vector | None, Sequence[MemorySearchComponent]]:
    """The query's vector, or what failed.

    Scores with and without a vector can't be compared, so all pages of one search must agree. If
    the first page had no vector, later pages use none, even if the embedder works again. If it had
    one, a later page fails when the embedder does.
    """
    if embedder is None or query.mode is SearchType.FULLTEXT:
        return None, ()
    if after is not None and not after.with_meaning:
        return None, (MemorySearchComponent.EMBEDDING,)
    try:
        return await embedder.embed_query(query.text), ()
    except EmbeddingFailed as error:
        if after is None:
            return None, (MemorySearchComponent.EMBEDDING,)
        raise Unavailable(
            "the first page used semantic search, which is unavailable now: try again, or "
            "start over without a cursor",
            retry_after_seconds=error.retry_after_seconds,
        ) from error


async def _build_table(cache: MemoryRowCache, gathered: GatheredRows) -> MemoryTable:
    # The cache has a thread lock. If another thread holds it, wait for it on a thread, too: waiting
    # here would stop the event loop.
    few = len(gathered.words) <= _LIGHT_NEW_ROWS and len(gathered.rows) <= _LIGHT_ROWS
    return await _run_off_loop(
        lambda: cache.build_table(gathered.rows, gathered.words, gathered.vectors),
        light=few and not cache.is_busy,
    )


async def _run_off_loop(work: Callable[[], T], *, light: bool) -> T:
    return work() if light else await asyncio.to_thread(work)
