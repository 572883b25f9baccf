"""Search over conversation entries: gather what the caller may read, rank it, show one page.

`EntrySearchService` gets a corpus of the scope from the cache, or of candidates if the scope is too
large, and ranks it by the same rules on every database engine.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recollect.audit.event_recorder import AuditName, EventRecorder
from recollect.audit.model import EventKind
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.embedding.port import Embedder, Vector
from recollect.identity.actions import Action
from recollect.identity.decide import scope_for
from recollect.identity.model import Principal
from recollect.kernel.errors import (
    EmbeddingFailed,
    SearchTypeUnavailable,
    Unavailable,
    VectorStoreDisabled,
)
from recollect.kernel.strict_json import drop_unstorable
from recollect.observability.tracing import span
from recollect.search import query
from recollect.search.commands import SearchEntries
from recollect.search.entries.candidates import (
    NO_SPEAKERS,
    EntryCandidateCriteria,
    find_candidates,
    find_fulltext_matches,
    find_nearest_in_index,
    find_speakers,
)
from recollect.search.entries.corpus import Corpus
from recollect.search.entries.corpus_cache import CorpusCache
from recollect.search.entries.pages import (
    EntryPosition,
    matches_after,
    to_hits,
)
from recollect.search.entries.rank import RankingOptions, rank_auto
from recollect.search.model import EntryHitPage, EntrySearchComponent, SearchType
from recollect.search.ports import SearchScope, VectorIndex
from recollect.search.query import Question, is_blank
from recollect.search.ranking.cosine import rank_semantic
from recollect.search.ranking.order import RankedRows
from recollect.search.ranking.prefix_match import rank_fulltext
from recollect.search.store.bundle import SearchStores

# A larger corpus is ranked on a worker thread, off the event loop.
_LIGHT_ROWS = 2_000
_LIGHT_TOKENS = 100_000


@dataclass(frozen=True, slots=True)
class _ScopedSearch:
    """A search request with its caller and scope. A cursor belongs to exactly one of these."""

    caller: str
    scope: SearchScope
    command: SearchEntries

    @property
    def fingerprint(self) -> bytes:
        """Identifies the search in its cursors: the same query of another caller or scope differs.
        The page size may change from page to page, so it is not part of it."""
        scope, command = self.scope, self.command
        bound = (
            command.query,
            command.type.value,
            str(command.group_by_conversation),
            self.caller,
            scope.scope.reach.value,
            repr(scope.owner_user_id),
            str(scope.include_deleted),
        )
        text = "\0".join(bound).encode(errors="surrogatepass")
        return hashlib.blake2b(text, digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class _GatheredCorpus:
    """What is ranked, and the components that failed while it was gathered."""

    corpus: Corpus
    question: Question
    vector: Vector | None
    failed: Sequence[EntrySearchComponent]


class EntrySearchService:
    """Full-text search, semantic search, or both combined. Without an embedder there is no semantic
    search."""

    def __init__(
        self,
        context: ServiceContext[SearchStores],
        corpora: CorpusCache,
        *,
        embedder: Embedder | None,
        vector_index: VectorIndex | None,
        fulltext: bool,
        whole_words: bool = False,
        ranking: RankingOptions,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._corpora = corpora
        self._embedder = embedder
        self._vector_index = vector_index
        self._fulltext = fulltext
        self._whole_words = whole_words
        self._ranking = ranking
        self._auditor = EventRecorder(context.stores, context.runtime)

    async def search(self, principal: Principal, command: SearchEntries) -> EntryHitPage:
        """Search the conversation trees that the caller may read."""
        scope = SearchScope(scope_for(principal, Action.READ))
        return await self._search(_ScopedSearch(principal.user_id, scope, command))

    async def search_all(
        self,
        principal: Principal,
        command: SearchEntries,
        *,
        user_id: str | None,
        include_deleted: bool,
        justification: str | None,
    ) -> EntryHitPage:
        """Search all trees, or those of one owner. The audit event is committed before anything is
        read, and does not contain the query."""
        name = AuditName(EventKind.ADMIN_READ, "searchConversations")
        params = {"includeDeleted": True} if include_deleted else {}

        def record(tx: Tx) -> None:
            self._auditor.record_admin(
                tx,
                principal,
                name,
                justification=justification,
                target_user_id=user_id,
                params=params,
            )

        await self._database.write(record)
        scope = SearchScope(scope_for(principal, Action.ADMIN_READ), user_id, include_deleted)
        return await self._search(_ScopedSearch(principal.user_id, scope, command))

    async def _search(self, search: _ScopedSearch) -> EntryHitPage:
        """One page: gather a corpus, rank it, cut the page, read its entries.

        Type and cursor are checked before the query, so that a blank query with a bad cursor is
        refused as any other.
        """
        command = search.command
        self._require_type(command.type)
        fingerprint = search.fingerprint
        after = EntryPosition.from_cursor(command.after, fingerprint) if command.after else None
        text = drop_unstorable(command.query)
        if is_blank(text):
            return EntryHitPage([])
        with span("search.gather"):
            gathered = await self._gather(search, text, after)
        # Word scores are relative to the best one. Entries may have been added since the first
        # page, so its scale is used again: else scores would shift, and matches be skipped or
        # repeated.
        scale = after.scale if after is not None else None
        with span("search.rank"):
            ranked = await _run_off_loop(
                gathered.corpus, lambda: self._rank(gathered, search, scale)
            )
        # One match more than the page holds, which only tells that there is a next page.
        matches = matches_after(gathered.corpus, ranked, after, command)
        page = matches[: command.limit]
        # Entries are read under the scope again: the ranking may be a moment old, and an entry that
        # was deleted or became invisible meanwhile must not be shown. A page may then be shorter
        # than its limit.
        ids = [match.entry_id for match in page]
        hits, cursor = [], None
        if ids:
            found = await self._database.read(
                lambda tx: self._stores.search.fetch_permitted(tx, search.scope, ids)
            )
            hits = await to_hits(page, found, command, text, whole_words=self._whole_words)
        if len(matches) > len(page):
            last, with_meaning = page[-1], gathered.vector is not None
            position = EntryPosition(last.score, last.entry_id, ranked.scale, with_meaning)
            cursor = position.to_cursor(fingerprint)
        return EntryHitPage(hits, cursor, gathered.failed)

    def _require_type(self, type_: SearchType) -> None:
        available = [SearchType.FULLTEXT] if self._fulltext else []
        if self._embedder is not None:
            available.append(SearchType.SEMANTIC)
        if not available:
            raise VectorStoreDisabled("no search type is switched on here")
        if type_ is not SearchType.AUTO and type_ not in available:
            raise SearchTypeUnavailable(
                f"searchType {type_.value} is switched off here", [one.value for one in available]
            )

    async def _gather(
        self, search: _ScopedSearch, text: str, after: EntryPosition | None
    ) -> _GatheredCorpus:
        """The corpus to rank, with the question as it was parsed for it.

        A scope of at most `search.exact_max` entries has a corpus of everything in it, and the
        ranking is exact. For a larger scope the cache returns None, and a small corpus is gathered
        from what the indexes propose.

        To read a question one must know the speakers, since names are not searched for ("Ann's
        dog" looks for what Ann said, not for the word "Ann"). The corpus knows its speakers. In a
        large scope they are read beforehand, for `auto` only: the other types don't use them.
        The query is embedded after that, because `auto` embeds the question in the first person.
        Without full text the question has no words, so `auto` ranks by vectors alone.
        """
        type_, scope, index = search.command.type, search.scope, self._vector_index
        store, scan = self._stores.search, self._database.scan
        corpus = await self._corpora.get(scope)
        speakers = NO_SPEAKERS
        if corpus is None and type_ is SearchType.AUTO:
            speakers = await scan(lambda tx: find_speakers(tx, store, scope, text))
        question = query.parse_question(text, speakers.ids if corpus is None else corpus.speakers)
        if not self._fulltext:
            question = replace(question, words=())
        with span("search.embed"):
            vector, failed = await self._embed_question(type_, question, after)
        if corpus is not None:
            return _GatheredCorpus(corpus, question, vector, failed)
        model, dimensions = self._corpora.model, self._corpora.dimensions
        if type_ is SearchType.FULLTEXT:
            corpus = await scan(
                lambda tx: find_fulltext_matches(
                    tx,
                    store,
                    scope,
                    question.text,
                    dimensions=dimensions,
                    whole_words=self._whole_words,
                )
            )
            return _GatheredCorpus(corpus, question, vector, failed)
        near, limit = None, self._ranking.candidates
        if vector is not None and index is not None:
            near, index_failed = await find_nearest_in_index(
                self._database, store, index, scope, vector, limit=limit
            )
            failed = [*failed, *index_failed]
        stems = question.words if type_ is SearchType.AUTO else ()
        criteria = EntryCandidateCriteria(
            scope, stems, vector, near, speakers, model, dimensions, limit
        )
        corpus = await scan(lambda tx: find_candidates(tx, store, criteria))
        return _GatheredCorpus(corpus, question, vector, failed)

    async def _embed_question(
        self, type_: SearchType, question: Question, after: EntryPosition | None
    ) -> tuple[Vector | None, Sequence[EntrySearchComponent]]:
        """The query's vector, or what failed. Scores with and without a vector can't be compared,
        so later pages do as the first page did: they fail if the vector is missing now, and do
        without one that has become available."""
        embedder = self._embedder
        if embedder is None or type_ is SearchType.FULLTEXT:
            return None, []
        if after is not None and not after.with_meaning:
            return None, [EntrySearchComponent.EMBEDDING]
        text = question.dense if type_ is SearchType.AUTO else question.text
        try:
            return await embedder.embed_query(text), []
        except EmbeddingFailed as error:
            if after is None:
                return None, [EntrySearchComponent.EMBEDDING]
            raise Unavailable(
                "the first page used semantic search, which is unavailable now: try again, or "
                "start over without a cursor",
                retry_after_seconds=error.retry_after_seconds,
            ) from error

    def _rank(
        self, gathered: _GatheredCorpus, search: _ScopedSearch, scale: float | None
    ) -> RankedRows:
        corpus, question, vector = gathered.corpus, gathered.question, gathered.vector
        if search.command.type is SearchType.FULLTEXT:
            return rank_fulltext(corpus, question.text, whole_words=self._whole_words)
        if search.command.type is SearchType.AUTO:
            return rank_auto(corpus, question, vector, search.caller, self._ranking, scale)
        # The embedder failed: the page is empty, and `degraded` says why.
        if vector is None:
            return _NO_ROWS
        return rank_semantic(corpus, vector, min_score=self._ranking.min_score)


_NO_ROWS = RankedRows(np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.bool_))


async def _run_off_loop(corpus: Corpus, work: Callable[[], RankedRows]) -> RankedRows:
    light = corpus.size <= _LIGHT_ROWS and len(corpus.tokens.words) <= _LIGHT_TOKENS
    return work() if light else await asyncio.to_thread(work)
