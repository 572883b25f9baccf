"""Finds memories: what a sight shows and a filter lets through, ranked for a query."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Protocol, TypeVar
from zoneinfo import ZoneInfo

from recollect.domain import memory_questions, words
from recollect.domain.disclosure import PersonId
from recollect.domain.memories import Memory
from recollect.domain.memory_finding import Part
from recollect.domain.memory_questions import MemoryQuestion
from recollect.domain.search import SearchType
from recollect.errors import EmbeddingFailed, Unavailable
from recollect.policy.sight import Sight
from recollect.ports.database import Database, Tx
from recollect.ports.embedding import Embedder
from recollect.ports.memories import MemoryFilter
from recollect.ports.memory_search import (
    Candidate,
    Looking,
    NamedPerson,
    VectorOf,
    WaitingText,
    WordRow,
)
from recollect.ports.search import Vector
from recollect.ports.stores import Stores
from recollect.services.earlier_versions import Earlier, EarlierVersions
from recollect.services.memory_gathering import MemoryGathering, Wanted
from recollect.services.memory_pages import MemoryPosition
from recollect.services.ranking.memories import Asked, MemoryRanking, RankedMemories, rank
from recollect.services.ranking.memory_rows import MemoryTable, RowCache

T = TypeVar("T")

# More rows than these, or more new ones, are arranged and ranked where nobody else waits for it.
_LIGHT_ROWS = 2_000
_LIGHT_NEW_ROWS = 200
# Vectors of so many earlier versions are made for one search.
_EARLIER_TEXTS_MAX = 200
# Rows may be cleared away by another search between the look and the table; not again and again.
_TRIES_MAX = 3


class Neighbours(Protocol):
    """What the graph knows of people."""

    def __call__(
        self,
        tx: Tx,
        sight: Sight,
        person_ids: Sequence[PersonId],
        *,
        chosen: MemoryFilter,
        earlier: Sequence[Memory],
    ) -> Mapping[str, float]:
        """How close memories are to them by edges that the sight shows at the instants of the
        filter: from 0 to 1, by memory id. `earlier` are memories as they were then, that have
        changed since."""
        ...


@dataclass(frozen=True, slots=True)
class FindingParts:
    """What finding is made of. Without an embedder there is no search by meaning."""

    cache: RowCache
    gathering: MemoryGathering
    earlier: EarlierVersions
    embedder: Embedder | None
    exact_max: int
    ranking: MemoryRanking
    neighbours: Neighbours | None = None


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """What is looked for."""

    text: str
    mode: SearchType = SearchType.AUTO
    min_score: float | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """Among which rows: those that a sight shows and a filter lets through."""

    sight: Sight
    chosen: MemoryFilter


@dataclass(frozen=True, slots=True)
class Found:
    """A ranking, and what it was made from."""

    range: Range
    table: MemoryTable
    ranked: RankedMemories
    question: MemoryQuestion
    people: Sequence[NamedPerson]
    degraded: Sequence[Part]
    at: datetime
    with_meaning: bool

    def position(self, score: float, memory_id: str) -> MemoryPosition:
        """Where a page with this last hit ends."""
        return MemoryPosition(score, memory_id, self.ranked.scale, self.at, self.with_meaning)


@dataclass(frozen=True, slots=True)
class _Read:
    """One look at the database."""

    range: Range
    question: MemoryQuestion
    people: Sequence[NamedPerson]
    rows: Sequence[Candidate]
    words: Sequence[WordRow]
    vectors: Sequence[VectorOf]
    graph: Mapping[str, float] | None
    failed: Sequence[Part]
    bare: Sequence[WaitingText] = ()
    """Texts of earlier versions, whose vectors nobody keeps."""

    @property
    def names(self) -> frozenset[str]:
        """The words of the query that call people."""
        said = memory_questions.names_in(self.question.text)
        return frozenset(word for one in self.people for word in words.query_tokens(said[one.form]))


class Finder:
    """Shared by search and recall."""

    def __init__(self, database: Database, stores: Stores, parts: FindingParts) -> None:
        self._database = database
        self._stores = stores
        self._parts = parts

    @property
    def has_meaning(self) -> bool:
        """Can anything be found by meaning here?"""
        return self._parts.embedder is not None

    async def find(
        self,
        query: MemoryQuery,
        range_of: Callable[[Tx], Range],
        *,
        now: datetime,
        after: MemoryPosition | None = None,
    ) -> Found:
        """All that matches. `after` is a page before this one, by whose measure this one goes."""
        at = after.at if after is not None else now
        vector, failed = await self._embed(query, after)
        read, table = await self._look(lambda tx: self._read(tx, query, range_of(tx), vector, at))
        asked = Asked(
            read.question,
            query.mode,
            vector,
            at,
            names=read.names,
            graph=read.graph,
            scale=after.scale if after is not None else None,
            min_score=query.min_score,
        )
        ranked = await _off_the_loop(
            lambda: rank(table, asked, self._parts.ranking), light=len(table) <= _LIGHT_ROWS
        )
        degraded = [*failed, *read.failed]
        return Found(
            read.range,
            table,
            ranked,
            read.question,
            read.people,
            degraded,
            at,
            with_meaning=vector is not None,
        )

    async def _look(self, work: Callable[[Tx], _Read]) -> tuple[_Read, MemoryTable]:
        cache = self._parts.cache
        for _ in range(_TRIES_MAX):
            read = await self._embed_earlier(await self._database.scan(work))
            light = len(read.words) <= _LIGHT_NEW_ROWS and not cache.busy
            table = await _off_the_loop(
                _tabling(cache, read), light=light and len(read.rows) <= _LIGHT_ROWS
            )
            if table.whole:
                break
        return read, table

    def _read(
        self, tx: Tx, query: MemoryQuery, among: Range, vector: Vector | None, at: datetime
    ) -> _Read:
        parts, store, sight = self._parts, self._stores.memory_search, among.sight
        question = self._question(tx, query.text, sight, at)
        people = self._people(tx, query, sight)
        ids = tuple(dict.fromkeys(one.person_id for one in people))
        model = parts.embedder.model if parts.embedder and vector is not None else ""
        looking = Looking(sight, among.chosen, ids, model)
        rows = store.candidates(tx, looking, limit=parts.exact_max + 1)
        past = parts.earlier.read(tx, looking)
        graph, failed = self._neighbours(tx, among, ids, past.memories)
        read = _Read(among, question, people, rows, (), (), graph, failed)
        if len(rows) > parts.exact_max:
            rows = parts.gathering.gather(tx, looking, Wanted(question, read.names, vector))
        indexed = [*rows, *past.indexed]
        no_words, no_vectors = parts.cache.missing(indexed)
        return replace(
            read,
            rows=[*indexed, *past.others],
            words=[*(store.words(tx, no_words) if no_words else ()), *past.words],
            vectors=store.vectors(tx, no_vectors, model=model) if no_vectors else (),
            bare=self._without_vectors(past) if vector is not None else (),
        )

    def _without_vectors(self, past: Earlier) -> list[WaitingText]:
        wanted = [row._replace(has_vector=True) for row in past.others]
        return [past.texts[doc] for doc in self._parts.cache.missing(wanted)[1]]

    def _question(self, tx: Tx, text: str, sight: Sight, at: datetime) -> MemoryQuestion:
        """Days begin at midnight where the one who asks lives, if a day is asked about."""
        question = memory_questions.read(text, at, UTC)
        zone = self._zone(tx, sight.asker.person_id) if question.spans else UTC
        return question if zone is UTC else memory_questions.read(text, at, zone)

    def _zone(self, tx: Tx, person_id: PersonId | None) -> tzinfo:
        person = self._stores.people.fetch(tx, person_id) if person_id is not None else None
        return ZoneInfo(person.time_zone) if person and person.time_zone else UTC

    def _people(self, tx: Tx, query: MemoryQuery, sight: Sight) -> Sequence[NamedPerson]:
        forms = memory_questions.names_in(query.text)
        if query.mode is not SearchType.AUTO or not forms:
            return ()
        return self._stores.memory_search.named(tx, sight.asker, list(forms))

    def _neighbours(
        self, tx: Tx, among: Range, people: Sequence[PersonId], earlier: Sequence[Memory]
    ) -> tuple[Mapping[str, float] | None, Sequence[Part]]:
        neighbours = self._parts.neighbours
        if neighbours is None or not people:
            return None, ()
        try:
            return neighbours(tx, among.sight, people, chosen=among.chosen, earlier=earlier), ()
        except Unavailable:
            return None, (Part.GRAPH,)

    async def _embed_earlier(self, read: _Read) -> _Read:
        """With vectors of earlier versions, which are then kept as others are. Where there are too
        many of them the rest is found by its words alone, and that is told."""
        embedder, texts = self._parts.embedder, read.bare[:_EARLIER_TEXTS_MAX]
        if embedder is None or not texts:
            return read
        failed = (*read.failed, *([Part.VECTORS] if len(texts) < len(read.bare) else ()))
        try:
            vectors = await embedder.embed([one.text for one in texts])
        except EmbeddingFailed:
            return replace(read, failed=(*read.failed, Part.EMBEDDING))
        made = (
            VectorOf(one.doc, one.revision, vector)
            for one, vector in zip(texts, vectors, strict=True)
        )
        return replace(read, vectors=[*read.vectors, *made], failed=failed)

    async def _embed(
        self, query: MemoryQuery, after: MemoryPosition | None
    ) -> tuple[Vector | None, Sequence[Part]]:
        """A walk goes on as it began: scores with meaning and without can't be compared."""
        embedder = self._parts.embedder
        if embedder is None or query.mode is SearchType.FULLTEXT:
            return None, ()
        if after is not None and not after.with_meaning:
            return None, (Part.EMBEDDING,)
        try:
            return await embedder.embed_query(query.text), ()
        except EmbeddingFailed as error:
            if after is None:
                return None, (Part.EMBEDDING,)
            raise Unavailable(
                "this walk began with search by meaning, which fails now: try again, or start "
                "anew without a cursor",
                retry_after_seconds=error.retry_after_seconds,
            ) from error


def _tabling(cache: RowCache, read: _Read) -> Callable[[], MemoryTable]:
    return lambda: cache.table(read.rows, read.words, read.vectors)


async def _off_the_loop(work: Callable[[], T], *, light: bool) -> T:
    return work() if light else await asyncio.to_thread(work)
