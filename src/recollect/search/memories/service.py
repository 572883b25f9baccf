"""Search over memories: scope, cursor, hits and audit of one page. `MemoryFinder` ranks."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from recollect.db.transaction import Database, Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import MemoryId
from recollect.kernel.runtime import Runtime
from recollect.kernel.strict_json import drop_unstorable
from recollect.memories.model import Sensitivity, StoredMemory
from recollect.memories.read.audit import ReadAudit, context_word
from recollect.memories.read.filters import (
    FilterRequest,
    require_location,
    resolve_filter,
)
from recollect.memories.read.history import VersionHistory
from recollect.memories.read.listing import MemoryLister
from recollect.memories.usage import UsageTracker
from recollect.people.chat import ChatKind
from recollect.search.memories.cursor import MemoryPosition
from recollect.search.memories.explain_hit import (
    LIMIT_DEFAULT,
    FindingStage,
    HitReasons,
    MemorySearchComponent,
    explain_hit,
)
from recollect.search.memories.finder import (
    MemoryFinder,
    MemoryQuery,
    MemorySearchScope,
    Ranking,
)
from recollect.search.memories.query import is_lone_letter
from recollect.search.model import SearchType
from recollect.search.store.bundle import SearchStores
from recollect.text.tokens import stem
from recollect.visibility.disclosure import is_withheld
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewer import Viewer
from recollect.visibility.viewers import ViewerFactory

# Withheld matches are counted up to this number: that there are some is what matters.
_WITHHELD_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySearchRequest:
    """A search request."""

    query: str
    filters: FilterRequest
    mode: SearchType = SearchType.AUTO
    limit: int = LIMIT_DEFAULT
    min_score: float | None = None
    after: str | None = None
    explain: bool = False

    def fingerprint(self, requester: Requester) -> bytes:
        """Binds a cursor to this search and this caller. The page size may change between pages."""
        asked = (self.query, self.mode, self.min_score, self.filters, requester.identity.spelling)
        text = repr(asked).encode(errors="surrogatepass")
        return hashlib.blake2b(text, digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """One result. `score` is comparable within one answer only."""

    stored: StoredMemory
    score: float
    stages: Sequence[FindingStage]
    why: str


@dataclass(frozen=True, slots=True)
class MemoryHits:
    """A page of hits in order. With `explain`, `withheld` counts matches about the caller that are
    not shown because the search is made in a group chat; else it is None."""

    items: Sequence[MemoryHit]
    now: datetime
    next_cursor: str | None = None
    degraded: Sequence[MemorySearchComponent] = ()
    withheld: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryHitPage:
    """Some hits of a ranking, the position behind the last if more follow, and the number of
    matches in all."""

    hits: Sequence[MemoryHit]
    end: MemoryPosition | None
    total: int


class MemorySearchService:
    """Full-text, semantic and combined search over memories."""

    def __init__(
        self,
        database: Database,
        stores: SearchStores,
        runtime: Runtime,
        *,
        sights: ViewerFactory,
        reads: ReadAudit,
        use: UsageTracker,
        finder: MemoryFinder,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._sights = sights
        self._reads = reads
        self._use = use
        self._views = VisibilityFacts(stores)
        self._lists = MemoryLister(stores, VersionHistory(stores, self._views))
        self._finder = finder

    async def search(self, requester: Requester, request: MemorySearchRequest) -> MemoryHits:
        """Return one page of hits and record the read in the audit log. A blank query finds
        nothing.

        Raises NotFound for an agent, chat, run or person that does not exist, and ValidationFailed
        if no filter says where to search. A blank query raises the same errors: it loads the
        scope before it returns an empty page.
        """
        require_location(request.filters)
        self._require_mode(request.mode)
        fingerprint = request.fingerprint(requester)
        after = MemoryPosition.from_cursor(request.after, fingerprint) if request.after else None
        range_of = self.scope_loader(requester, request.filters)
        query = MemoryQuery(drop_unstorable(request.query), request.mode, request.min_score)
        now = self._runtime.clock.now()
        if is_blank(query.text):
            await self._database.read(range_of)
            return MemoryHits([], now, withheld=0 if request.explain else None)
        found = await self._finder.find(query, range_of, now=now, after=after)
        shown = await self.load_page(found, after=after, limit=request.limit)
        cursor = shown.end.to_cursor(fingerprint) if shown.end is not None else None
        withheld = await self._withheld_count(found, query) if request.explain else None
        await self.record_read(requester, "searchMemories", shown.hits, found.range.sight)
        return MemoryHits(shown.hits, now, cursor, found.degraded, withheld)

    async def best_hits(
        self, query: str, range_of: Callable[[Tx], MemorySearchScope], *, limit: int
    ) -> Sequence[MemoryHit]:
        """The best hits of a scope that the caller builds, without pages and without an entry in
        the audit log."""
        text = drop_unstorable(query)
        if is_blank(text):
            return ()
        found = await self._finder.find(MemoryQuery(text), range_of, now=self._runtime.clock.now())
        return (await self.load_page(found, after=None, limit=limit)).hits

    async def record_read(
        self, requester: Requester, operation: str, hits: Sequence[MemoryHit], sight: Viewer
    ) -> None:
        """Record in the audit log which memories were returned, and count their use."""
        self._use.record_shown(hit.stored for hit in hits)
        shown = [hit.stored.memory for hit in hits]
        await self._reads.record_reads(requester, operation, shown, rule=context_word(sight))

    def scope_loader(
        self, requester: Requester, filters: FilterRequest
    ) -> Callable[[Tx], MemorySearchScope]:
        """A function that resolves viewer and filter inside the transaction of the search."""

        def work(tx: Tx) -> MemorySearchScope:
            sight = self._sights.viewer_for(tx, requester, filters.context)
            chosen = resolve_filter(tx, self._stores, filters, known_to=requester)
            return MemorySearchScope(sight, chosen)

        return work

    async def load_page(
        self, found: Ranking, *, after: MemoryPosition | None, limit: int
    ) -> MemoryHitPage:
        """The hits behind a position. Each memory is read again under the viewer: the ranking may
        be a moment old, and what was hidden or erased meanwhile must not be returned."""
        return await self._database.read(lambda tx: self._load_page(tx, found, after, limit))

    def _load_page(
        self, tx: Tx, found: Ranking, after: MemoryPosition | None, limit: int
    ) -> MemoryHitPage:
        # `limit + 1` hits: the last one only tells that there is a next page.
        folded = self._redundant_sources(tx, found)
        places = (
            place for place in _places_after(found, after) if _memory_id(found, place) not in folded
        )
        hits = self._load_hits(tx, found, places, wanted=limit + 1)
        page = hits[:limit]
        more = len(hits) > limit
        end = found.position(page[-1].score, page[-1].stored.memory.id) if more else None
        return MemoryHitPage(page, end, len(found.ranked.rows) - len(folded))

    def _load_hits(
        self, tx: Tx, found: Ranking, places: Iterator[int], *, wanted: int
    ) -> list[MemoryHit]:
        """The first `wanted` places whose memories are still visible. Places that turn out to be
        hidden are made up for by later ones, so a page is short only if nothing is left."""
        hits: list[MemoryHit] = []
        while page := list(islice(places, wanted - len(hits))):
            rows = self._load_visible(tx, found.range, [_memory_id(found, place) for place in page])
            hits += (
                _to_hit(found, place, rows[_memory_id(found, place)])
                for place in page
                if _memory_id(found, place) in rows
            )
        return hits

    def _redundant_sources(self, tx: Tx, found: Ranking) -> frozenset[MemoryId]:
        """Ids of sources to leave out: where a search finds a raw memory and a fact that was
        extracted from it, only the fact is shown. Looks at the whole ranking, not at one page, so
        that a pair is recognised although its parts belong to different pages."""
        rows = found.table.rows
        ids = [MemoryId(rows[row].memory_id) for row in found.ranked.rows]
        if not ids:
            return frozenset()
        facts, among = self._stores.memory_search.derived_memory_ids(tx, ids), frozenset(ids)
        return frozenset(source for source, made in facts.items() if not among.isdisjoint(made))

    def _load_visible(
        self, tx: Tx, among: MemorySearchScope, memory_ids: Sequence[MemoryId]
    ) -> dict[MemoryId, StoredMemory]:
        if not memory_ids:
            return {}
        found = self._stores.memories.fetch_many_visible(tx, among.sight, memory_ids, among.chosen)
        shown = self._lists.visible_as_of(tx, among.sight, list(found.values()), among.chosen)
        return {stored.memory.id: stored for stored in shown}

    def _require_mode(self, mode: SearchType) -> None:
        if mode is SearchType.SEMANTIC and not self._finder.has_embedder:
            allowed = [str(one) for one in SearchType if one is not SearchType.SEMANTIC]
            raise ValidationFailed.for_field(
                "mode", "semantic is switched off here", allowed=allowed
            )

    async def _withheld_count(self, found: Ranking, query: MemoryQuery) -> int:
        """How many matches about the asker are hidden only because others in the group would read
        them.

        The search runs again without the chat, restricted to sensitive memories about the asker.
        Each match is then judged as in the group, and those count that only the rule for sensitive
        memories in groups hides.
        """
        sight, chosen = found.range.sight, found.range.chosen
        person_id, group = sight.asker.person_id, sight.chat
        if person_id is None or group is None or group.kind is not ChatKind.GROUP:
            return 0
        # Groups hide sensitive memories only: a filter for others can't have withheld matches.
        if chosen.sensitivity not in (None, Sensitivity.SENSITIVE):
            return 0
        about = replace(chosen, subjects=(person_id,), sensitivity=Sensitivity.SENSITIVE)
        alone = MemorySearchScope(replace(sight, chat=None), about)
        hidden = await self._finder.find(query, lambda _: alone, now=found.at)
        ids = [
            _memory_id(hidden, place)
            for place in islice(_places_after(hidden, None), _WITHHELD_MAX)
        ]
        return await self._database.read(
            lambda tx: self._count_withheld_rows(tx, sight, alone, ids)
        )

    def _count_withheld_rows(
        self, tx: Tx, sight: Viewer, alone: MemorySearchScope, memory_ids: Sequence[MemoryId]
    ) -> int:
        rows = self._load_visible(tx, alone, memory_ids).values()
        return sum(
            is_withheld(
                self._views.memory_view(tx, stored, sight),
                sight.asker,
                self._views.can_view(tx, sight, stored),
            )
            for stored in rows
        )


def is_blank(text: str) -> bool:
    """Whether the text has no printable character but spaces."""
    return not any(char.isprintable() and not char.isspace() for char in text)


def _memory_id(found: Ranking, place: int) -> MemoryId:
    return MemoryId(found.table.rows[found.ranked.rows[place]].memory_id)


def _places_after(found: Ranking, after: MemoryPosition | None) -> Iterator[int]:
    """Indexes into the ranking, from the first hit behind the position."""
    for place, score in enumerate(found.ranked.scores):
        if after is None or after.is_followed_by(score, _memory_id(found, place)):
            yield place


def _to_hit(found: Ranking, place: int, stored: StoredMemory) -> MemoryHit:
    stages = _hit_stages(found, place)
    named = [one.name for one in found.people if one.person_id in stored.memory.subjects]
    reasons = HitReasons(
        stages, _matched_words(found, place), named, stored.memory.observed_at.date()
    )
    return MemoryHit(stored, found.ranked.scores[place], stages, explain_hit(reasons))


def _hit_stages(found: Ranking, place: int) -> list[FindingStage]:
    ranked = found.ranked
    by_stage = {
        FindingStage.FULLTEXT: ranked.by_words,
        FindingStage.VECTOR: ranked.by_meaning,
        FindingStage.PERSON: ranked.by_person,
        FindingStage.TIME: ranked.by_time,
        FindingStage.GRAPH: ranked.by_graph,
    }
    return [stage for stage, flags in by_stage.items() if flags[place]]


def _matched_words(found: Ranking, place: int) -> list[str]:
    """The words of the query that the memory contains. A single letter of a script without spaces
    matches as the first letter of a pair."""
    words = found.table.row_words(found.ranked.rows[place])
    held = {stem(word) for word in words}
    held |= {word[0] for word in words if is_lone_letter(word[0])}
    return [word for word in found.question.words if stem(word) in held]
