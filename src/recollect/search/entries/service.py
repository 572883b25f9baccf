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
from recollect.search import query
from recollect.search.entries.candidates import NO_SPEAKERS, EntryCandidateFinder
from recollect.search.entries.corpus import Corpus
from recollect.search.entries.corpus_cache import CorpusCache
from recollect.search.entries.pages import (
    EntryMatch,
    EntryPosition,
    matches_after,
    to_hits,
)
from recollect.search.entries.rank import RankingOptions, rank_auto
from recollect.search.model import (
    EntryHit,
    EntryHitPage,
    EntrySearchComponent,
    SearchRequest,
    SearchType,
)
from recollect.search.ports import SearchScope
from recollect.search.query import Question
from recollect.search.ranking.cosine import rank_semantic
from recollect.search.ranking.order import RankedRows
from recollect.search.ranking.prefix_match import rank_fulltext
from recollect.search.store.bundle import SearchStores

# A larger corpus is ranked on a worker thread, off the event loop.
_LIGHT_ROWS = 2_000
_LIGHT_TOKENS = 100_000


@dataclass(frozen=True, slots=True)
class EntrySearchDeps:
    """What the service works with. Without an embedder there is no semantic search."""

    corpora: CorpusCache
    gathering: EntryCandidateFinder
    embedder: Embedder | None
    fulltext: bool
    ranking: RankingOptions


@dataclass(frozen=True, slots=True)
class _ScopedSearch:
    """A search request with its caller and scope. A cursor belongs to exactly one of these."""

    caller: str
    scope: SearchScope
    request: SearchRequest

    @property
    def fingerprint(self) -> bytes:
        """Identifies the search in its cursors: the same query of another caller or scope differs.
        The page size may change from page to page, so it is not part of it."""
        scope, request = self.scope, self.request
        parts = (
            request.query,
            request.type.value,
            str(request.group_by_conversation),
            self.caller,
            scope.scope.reach.value,
            repr(scope.owner_user_id),
            str(scope.include_deleted),
        )
        text = "\0".join(parts).encode(errors="surrogatepass")
        return hashlib.blake2b(text, digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class _RankedCorpus:
    """A ranked corpus, and the components that failed while it was made."""

    corpus: Corpus
    ranked: RankedRows
    failed: Sequence[EntrySearchComponent]
    with_meaning: bool

    def position(self, last: EntryMatch) -> EntryPosition:
        """The position behind a match, for the cursor of the next page."""
        return EntryPosition(last.score, last.entry_id, self.ranked.scale, self.with_meaning)


class EntrySearchService:
    """Full-text search, semantic search, or both combined."""

    def __init__(self, context: ServiceContext[SearchStores], parts: EntrySearchDeps) -> None:
        self._database = context.database
        self._stores = context.stores
        self._parts = parts
        self._auditor = EventRecorder(context.stores, context.runtime)

    async def search(self, principal: Principal, request: SearchRequest) -> EntryHitPage:
        """Search the conversation trees that the caller may read."""
        scope = SearchScope(scope_for(principal, Action.READ))
        return await self._search(_ScopedSearch(principal.user_id, scope, request))

    async def search_all(
        self,
        principal: Principal,
        request: SearchRequest,
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
        return await self._search(_ScopedSearch(principal.user_id, scope, request))

    async def _search(self, asked: _ScopedSearch) -> EntryHitPage:
        """One page. Type and cursor are checked before the query, so that a blank query with a bad
        cursor is refused as any other."""
        request = asked.request
        self._require_type(request.type)
        fingerprint = asked.fingerprint
        after = EntryPosition.from_cursor(request.after, fingerprint) if request.after else None
        text = drop_unstorable(request.query)
        if _is_blank(text):
            return EntryHitPage([])
        answer = await self._rank_corpus(asked, text, after)
        # One match more than the page holds, which only tells that there is a next page.
        found = matches_after(answer.corpus, answer.ranked, after, request)
        shown = found[: request.limit]
        cursor = None
        if len(found) > request.limit:
            cursor = answer.position(shown[-1]).to_cursor(fingerprint)
        return EntryHitPage(await self._load_hits(asked, shown, text), cursor, answer.failed)

    def _require_type(self, type_: SearchType) -> None:
        available = [SearchType.FULLTEXT] if self._parts.fulltext else []
        if self._parts.embedder is not None:
            available.append(SearchType.SEMANTIC)
        if not available:
            raise VectorStoreDisabled("no search type is switched on here")
        if type_ is not SearchType.AUTO and type_ not in available:
            raise SearchTypeUnavailable(
                f"searchType {type_.value} is switched off here", [one.value for one in available]
            )

    async def _rank_corpus(
        self, asked: _ScopedSearch, text: str, after: EntryPosition | None
    ) -> _RankedCorpus:
        """Get a corpus and rank it.

        A scope of at most `search.exact_max` entries has a corpus of everything in it, and the
        ranking is exact. For a larger scope the cache returns None, and a small corpus is gathered
        from what the indexes propose.

        To read a question one must know the speakers, since names are not searched for ("Ann's
        dog" looks for what Ann said, not for the word "Ann"). The corpus knows its speakers. In a
        large scope they are read beforehand, for `auto` only: the other types don't use them.
        The query is embedded after that, because `auto` embeds the question in the first person.
        Without full text the question has no words, so `auto` ranks by vectors alone.
        """
        type_, parts = asked.request.type, self._parts
        corpus = await parts.corpora.get(asked.scope)
        speakers = NO_SPEAKERS
        if corpus is None and type_ is SearchType.AUTO:
            speakers = await parts.gathering.find_speakers(asked.scope, text)
        question = query.parse_question(text, speakers.ids if corpus is None else corpus.speakers)
        if not parts.fulltext:
            question = replace(question, words=())
        vector, failed = await self._embed_question(type_, question, after)
        if corpus is None:
            gathered = await parts.gathering.gather(asked.scope, type_, question, vector, speakers)
            corpus, failed = gathered.corpus, [*failed, *gathered.failed]
        # Word scores are relative to the best one. Entries may have been added since the first
        # page, so its scale is used again: else scores would shift, and matches be skipped or
        # repeated.
        scale = after.scale if after is not None else None
        ranked = await _run_off_loop(
            corpus, lambda: self._rank_rows(asked, corpus, question, vector, scale)
        )
        return _RankedCorpus(corpus, ranked, failed, with_meaning=vector is not None)

    async def _embed_question(
        self, type_: SearchType, question: Question, after: EntryPosition | None
    ) -> tuple[Vector | None, Sequence[EntrySearchComponent]]:
        """The query's vector, or what failed. Scores with and without a vector can't be compared,
        so later pages do as the first page did: they fail if the vector is missing now, and do
        without one that has become available."""
        embedder = self._parts.embedder
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

    def _rank_rows(
        self,
        asked: _ScopedSearch,
        corpus: Corpus,
        question: Question,
        vector: Vector | None,
        scale: float | None,
    ) -> RankedRows:
        options = self._parts.ranking
        if asked.request.type is SearchType.FULLTEXT:
            return rank_fulltext(corpus, question.text)
        if asked.request.type is SearchType.AUTO:
            return rank_auto(corpus, question, vector, asked.caller, options, scale)
        # The embedder failed: the page is empty, and `degraded` says why.
        if vector is None:
            return _NO_ROWS
        return rank_semantic(corpus, vector, min_score=options.min_score)

    async def _load_hits(
        self, asked: _ScopedSearch, places: Sequence[EntryMatch], text: str
    ) -> list[EntryHit]:
        """Read the matches' entries under the scope again: the ranking may be a moment old, and an
        entry that was deleted or became invisible meanwhile must not be shown. A page may then be
        shorter than its limit."""
        if not places:
            return []
        ids = [place.entry_id for place in places]
        found = await self._database.read(
            lambda tx: self._stores.search.fetch_permitted(tx, asked.scope, ids)
        )
        return await to_hits(places, found, asked.request, text)


_NO_ROWS = RankedRows(np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.bool_))


async def _run_off_loop(corpus: Corpus, work: Callable[[], RankedRows]) -> RankedRows:
    light = corpus.size <= _LIGHT_ROWS and len(corpus.tokens.words) <= _LIGHT_TOKENS
    return work() if light else await asyncio.to_thread(work)


def _is_blank(text: str) -> bool:
    """Whether the text has no printable character but spaces."""
    return not any(char.isprintable() and not char.isspace() for char in text)
