"""The read side of memory search: load the rows a viewer may see, then rank them for a query.

`MemoryFinder` embeds the query, reads all candidates in one transaction, completes them from the
row cache and calls `rank_memories`. `MemorySearchService` and `RecallService` both use it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Protocol, TypeVar
from zoneinfo import ZoneInfo

from recollect.db.transaction import Database, Tx
from recollect.embedding.port import Embedder, Vector
from recollect.kernel.errors import EmbeddingFailed, Unavailable
from recollect.kernel.ids import PersonId
from recollect.memories.model import Memory, MemoryFilter
from recollect.search.memories import query as memory_questions
from recollect.search.memories.candidates import (
    CandidateCriteria,
    MemoryCandidateFinder,
)
from recollect.search.memories.cursor import MemoryPosition
from recollect.search.memories.explain_hit import MemorySearchComponent
from recollect.search.memories.past_versions import (
    PastVersionReader,
    PastVersions,
)
from recollect.search.memories.query import MemoryQuestion
from recollect.search.memories.rank import (
    MemoryRankingOptions,
    RankedMemories,
    RankingQuery,
    rank_memories,
)
from recollect.search.memories.row_cache import MemoryRowCache, MemoryTable
from recollect.search.memories.rows import (
    MemoryCandidate,
    MemoryVector,
    NamedPerson,
    PendingMemoryText,
    SearchContext,
    WordRow,
)
from recollect.search.model import SearchType
from recollect.search.store.bundle import SearchStores
from recollect.text import tokens as words
from recollect.visibility.viewer import Viewer

T = TypeVar("T")

# Above these sizes a table is built and ranked on a worker thread, off the event loop.
_LIGHT_ROWS = 2_000
_LIGHT_NEW_ROWS = 200
# At most this many past versions are embedded during one search.
_EARLIER_TEXTS_MAX = 200
# How often the read is repeated when another search evicted cached rows between read and table.
_TRIES_MAX = 3


class GraphCloseness(Protocol):
    """Scores memories by their distance to people in the graph."""

    def __call__(
        self,
        tx: Tx,
        sight: Viewer,
        person_ids: Sequence[PersonId],
        *,
        chosen: MemoryFilter,
        earlier: Sequence[Memory],
    ) -> Mapping[str, float]:
        """Returns closeness from 0 to 1 by memory id. Only edges that the viewer may see at the
        filter's instants count. `earlier` holds the past versions, as of the filter's `as_of`, of
        memories that changed since. Raises Unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class FinderDeps:
    """What the finder works with. Without an embedder nothing is found by vector. Scopes of more
    than `exact_max` rows are reduced to candidates before they are ranked."""

    cache: MemoryRowCache
    gathering: MemoryCandidateFinder
    earlier: PastVersionReader
    embedder: Embedder | None
    exact_max: int
    ranking: MemoryRankingOptions
    neighbours: GraphCloseness | None = None


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """The query text and how to match it. `min_score` drops weaker matches."""

    text: str
    mode: SearchType = SearchType.AUTO
    min_score: float | None = None


@dataclass(frozen=True, slots=True)
class MemorySearchScope:
    """Which rows are searched: those that the viewer may see and that pass the filter."""

    sight: Viewer
    chosen: MemoryFilter


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranked rows of one search, and all that a page and its cursor need to know of it.
    `at` is the instant that ages are measured from; `with_meaning` tells whether a query vector
    took part in the scores."""

    range: MemorySearchScope
    table: MemoryTable
    ranked: RankedMemories
    question: MemoryQuestion
    people: Sequence[NamedPerson]
    degraded: Sequence[MemorySearchComponent]
    at: datetime
    with_meaning: bool

    def position(self, score: float, memory_id: str) -> MemoryPosition:
        """The position behind a hit, for the cursor of the next page."""
        return MemoryPosition(score, memory_id, self.ranked.scale, self.at, self.with_meaning)


@dataclass(frozen=True, slots=True)
class _FinderRead:
    """What one read transaction returned. `words` and `vectors` are only those that the row cache
    did not hold."""

    range: MemorySearchScope
    question: MemoryQuestion
    people: Sequence[NamedPerson]
    rows: Sequence[MemoryCandidate]
    words: Sequence[WordRow]
    vectors: Sequence[MemoryVector]
    graph: Mapping[str, float] | None
    failed: Sequence[MemorySearchComponent]
    bare: Sequence[PendingMemoryText] = ()
    """Texts of past versions that have no vector: only present versions are embedded by jobs."""

    @property
    def name_words(self) -> frozenset[str]:
        """The words of the query that name people."""
        said = memory_questions.possible_names(self.question.text)
        return frozenset(word for one in self.people for word in words.query_tokens(said[one.form]))


class MemoryFinder:
    """Finds and ranks memories. Each search ranks one database snapshot.

    The order is fixed by what may run where. Embedding the query awaits a model or an endpoint,
    so it happens before the transaction opens; a transaction is a plain function and can't await.
    Everything that depends on permissions is read in one snapshot: the scope, the people whom the
    query names, the candidate rows, the graph. Building the table and ranking it need no database
    and move to a worker thread when there are many rows.
    """

    def __init__(self, database: Database, stores: SearchStores, parts: FinderDeps) -> None:
        self._database = database
        self._stores = stores
        self._parts = parts

    @property
    def has_embedder(self) -> bool:
        """Whether anything can be found by vector."""
        return self._parts.embedder is not None

    async def score_memory(self, memory: Memory, query: str, viewer: Viewer) -> float | None:
        """The score that a search in the memory's space gives the memory, None if the search does
        not find it."""
        space = memory.space
        scope = MemorySearchScope(viewer, MemoryFilter(spaces=((space.kind, space.id),)))
        found = await self.find(
            MemoryQuery(query, SearchType.AUTO, None), lambda _: scope, now=viewer.now
        )
        ids = (found.table.rows[row].memory_id for row in found.ranked.rows)
        return dict(zip(ids, found.ranked.scores, strict=True)).get(memory.id)

    async def find(
        self,
        query: MemoryQuery,
        range_of: Callable[[Tx], MemorySearchScope],
        *,
        now: datetime,
        after: MemoryPosition | None = None,
    ) -> Ranking:
        """Rank all matches. `range_of` builds the scope inside the read transaction, so that
        permissions and rows come from the same snapshot.

        `after` is the position behind the previous page. Its instant and its scale are used again:
        ages and normalised word scores then equal those of the first page, and a hit can be
        compared with the position's score. Raises Unavailable if the first page used the query's
        vector and the embedder fails now.
        """
        at = after.at if after is not None else now
        # Before the transaction, in which nothing can be awaited.
        vector, failed = await self._embed_query(query, after)
        read, table = await self._read_table(
            lambda tx: self._read_rows(tx, query, range_of(tx), vector, at)
        )
        asked = RankingQuery(
            read.question,
            query.mode,
            vector,
            at,
            names=read.name_words,
            graph=read.graph,
            scale=after.scale if after is not None else None,
            min_score=query.min_score,
        )
        ranked = await _run_off_loop(
            lambda: rank_memories(table, asked, self._parts.ranking),
            light=len(table) <= _LIGHT_ROWS,
        )
        degraded = [*failed, *read.failed]
        return Ranking(
            read.range,
            table,
            ranked,
            read.question,
            read.people,
            degraded,
            at,
            with_meaning=vector is not None,
        )

    async def _read_table(
        self, work: Callable[[Tx], _FinderRead]
    ) -> tuple[_FinderRead, MemoryTable]:
        """Read, then build the table of the rows that were read.

        The transaction asks the cache which rows it lacks and reads just those. The table is built
        later, after the transaction, and in between another search may have pushed the cache over
        its limit and evicted rows that this read counted on. The cache is not locked across the
        transaction, since every other search would wait for the database with us. Instead the table
        says whether it is complete, and an incomplete one is read again. The last attempt is used
        as it is: the few rows it lacks are missing from the answer, which beats an error.
        """
        cache = self._parts.cache
        for _ in range(_TRIES_MAX):
            read = await self._embed_past_versions(await self._database.scan(work))
            # The cache has a thread lock. If another thread holds it, wait for it on a thread, too:
            # waiting here would stop the event loop.
            light = len(read.words) <= _LIGHT_NEW_ROWS and not cache.is_busy
            table = await _run_off_loop(
                _table_builder(cache, read), light=light and len(read.rows) <= _LIGHT_ROWS
            )
            if table.whole:
                break
        return read, table

    def _read_rows(
        self,
        tx: Tx,
        query: MemoryQuery,
        among: MemorySearchScope,
        vector: Vector | None,
        at: datetime,
    ) -> _FinderRead:
        """The transaction of a search: everything that is ranked, and nothing the viewer may not
        see.

        1. Parse the question. Named people come first, because the candidate rows carry a flag
           that says whether one of these people is a subject.
        2. Read at most `exact_max + 1` candidates. The one row more tells a scope that is ranked
           exactly from one that is too large.
        3. Read past versions if the filter has an `as_of`. The candidates hold only memories that
           have not changed since then, so no memory occurs twice.
        4. Too many rows: replace them by the best by words and the nearest by vector, batch by
           batch under the same viewer and filter.
        5. Read words and vectors, but only those that the row cache lacks. A cache key is row
           number and revision, so a cached text can't be out of date. Permissions are never cached:
           step 2 asks for them in every search.

        The model is empty when there is no query vector. Then no row claims to have a vector, and
        none is read.
        """
        parts, store, sight = self._parts, self._stores.memory_search, among.sight
        question = self._parse_question(tx, query.text, sight, at)
        people = self._named_people(tx, query, sight)
        ids = tuple(dict.fromkeys(one.person_id for one in people))
        model = parts.embedder.model if parts.embedder and vector is not None else ""
        looking = SearchContext(sight, among.chosen, ids, model)
        # Short rows without words: the price of asking for permissions in every search.
        rows = store.candidates(tx, looking, limit=parts.exact_max + 1)
        past = parts.earlier.read(tx, looking)
        graph, failed = self._graph_closeness(tx, among, ids, past.memories)
        read = _FinderRead(among, question, people, rows, (), (), graph, failed)
        if len(rows) > parts.exact_max:
            rows = parts.gathering.gather(
                tx, looking, CandidateCriteria(question, read.name_words, vector)
            )
        # `past.indexed` has the words that the index holds today, so the cache and the store know
        # them. The words of `past.others` were computed from the old text and come along with it.
        indexed = [*rows, *past.indexed]
        no_words, no_vectors = parts.cache.find_missing(indexed)
        return replace(
            read,
            rows=[*indexed, *past.others],
            words=[*(store.words(tx, no_words) if no_words else ()), *past.words],
            vectors=store.vectors(tx, no_vectors, model=model) if no_vectors else (),
            bare=self._texts_without_vectors(past) if vector is not None else (),
        )

    def _texts_without_vectors(self, past: PastVersions) -> list[PendingMemoryText]:
        # Their vectors may be cached from an earlier search: ask as if each row had one.
        wanted = [row._replace(has_vector=True) for row in past.others]
        return [past.texts[doc] for doc in self._parts.cache.find_missing(wanted)[1]]

    def _parse_question(self, tx: Tx, text: str, sight: Viewer, at: datetime) -> MemoryQuestion:
        """Parse the query. If it names a day, days begin at midnight in the asker's time zone;
        the zone is read from the database only then."""
        # First in UTC: most queries name no time, and then the asker's zone need not be read.
        question = memory_questions.parse_question(text, at, UTC)
        zone = self._time_zone(tx, sight.asker.person_id) if question.spans else UTC
        return question if zone is UTC else memory_questions.parse_question(text, at, zone)

    def _time_zone(self, tx: Tx, person_id: PersonId | None) -> tzinfo:
        person = self._stores.people.fetch(tx, person_id) if person_id is not None else None
        return ZoneInfo(person.time_zone) if person and person.time_zone else UTC

    def _named_people(self, tx: Tx, query: MemoryQuery, sight: Viewer) -> Sequence[NamedPerson]:
        forms = memory_questions.possible_names(query.text)
        # Only `auto` ranks by people; for the other modes a name is a word like any other.
        if query.mode is not SearchType.AUTO or not forms:
            return ()
        return self._stores.memory_search.people_by_name(tx, sight.asker, list(forms))

    def _graph_closeness(
        self,
        tx: Tx,
        among: MemorySearchScope,
        people: Sequence[PersonId],
        earlier: Sequence[Memory],
    ) -> tuple[Mapping[str, float] | None, Sequence[MemorySearchComponent]]:
        """Closeness by the graph, and what failed. A failing graph degrades the search, nothing
        more."""
        neighbours = self._parts.neighbours
        if neighbours is None or not people:
            return None, ()
        try:
            return neighbours(tx, among.sight, people, chosen=among.chosen, earlier=earlier), ()
        except Unavailable:
            return None, (MemorySearchComponent.GRAPH,)

    async def _embed_past_versions(self, read: _FinderRead) -> _FinderRead:
        """Embed past versions that have no vector. The row cache keeps the vectors, so the next
        search finds them there. Beyond the limit the remaining texts are found by words alone, and
        the answer reports degraded vectors."""
        embedder, texts = self._parts.embedder, read.bare[:_EARLIER_TEXTS_MAX]
        if embedder is None or not texts:
            return read
        failed = (
            *read.failed,
            *([MemorySearchComponent.VECTORS] if len(texts) < len(read.bare) else ()),
        )
        try:
            vectors = await embedder.embed([one.text for one in texts])
        except EmbeddingFailed:
            return replace(read, failed=(*read.failed, MemorySearchComponent.EMBEDDING))
        made = (
            MemoryVector(one.doc, one.revision, vector)
            for one, vector in zip(texts, vectors, strict=True)
        )
        return replace(read, vectors=[*read.vectors, *made], failed=failed)

    async def _embed_query(
        self, query: MemoryQuery, after: MemoryPosition | None
    ) -> tuple[Vector | None, Sequence[MemorySearchComponent]]:
        """The query's vector, or what failed.

        Scores with and without a vector can't be compared, so all pages of one search must agree.
        If the first page had no vector, later pages use none, even if the embedder works again. If
        it had one, a later page fails when the embedder does.
        """
        embedder = self._parts.embedder
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


def _table_builder(cache: MemoryRowCache, read: _FinderRead) -> Callable[[], MemoryTable]:
    return lambda: cache.build_table(read.rows, read.words, read.vectors)


async def _run_off_loop(work: Callable[[], T], *, light: bool) -> T:
    return work() if light else await asyncio.to_thread(work)
