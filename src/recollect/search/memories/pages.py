"""Pages of memory hits: what follows a position, read once more, with the reasons of each hit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId
from recollect.memories.model import StoredMemory
from recollect.search.memories.cursor import MemoryPosition
from recollect.search.memories.explain_hit import FindingStage, HitReasons, explain_hit
from recollect.search.memories.gather import MemorySearchDeps, MemorySearchScope
from recollect.search.memories.pipeline import Ranking
from recollect.search.memories.query import is_lone_letter
from recollect.text.tokens import stem


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """One result. `score` is comparable within one answer only."""

    stored: StoredMemory
    score: float
    stages: Sequence[FindingStage]
    why: str


@dataclass(frozen=True, slots=True)
class MemoryHitPage:
    """Some hits of a ranking, the position behind the last if more follow, and the number of
    matches in all."""

    hits: Sequence[MemoryHit]
    end: MemoryPosition | None
    total: int

    @property
    def memories(self) -> Sequence[StoredMemory]:
        """The memories of the hits."""
        return [hit.stored for hit in self.hits]


async def load_page(
    deps: MemorySearchDeps, ranking: Ranking, *, after: MemoryPosition | None, limit: int
) -> MemoryHitPage:
    """The hits behind a position. Each memory is read again under the viewer: the ranking may be a
    moment old, and what was hidden or erased meanwhile must not be returned. Ranks that turn out
    to be hidden are made up for by later ones, so a page is short only if nothing is left."""

    def read(tx: Tx) -> MemoryHitPage:
        redundant = _find_redundant_sources(tx, deps, ranking)
        ranks = (
            rank
            for rank in ranks_after(ranking, after)
            if memory_id_at(ranking, rank) not in redundant
        )
        hits: list[MemoryHit] = []
        # One hit more than the page holds, which only tells that there is a next page.
        while batch := list(islice(ranks, limit + 1 - len(hits))):
            ids = {rank: memory_id_at(ranking, rank) for rank in batch}
            rows = load_visible(tx, deps, ranking.scope, list(ids.values()))
            hits += (_to_hit(ranking, rank, rows[id_]) for rank, id_ in ids.items() if id_ in rows)
        total = len(ranking.ranked.rows) - len(redundant)
        if len(hits) <= limit:
            return MemoryHitPage(hits, None, total)
        last = hits[limit - 1]
        end = MemoryPosition(
            last.score,
            last.stored.memory.id,
            ranking.ranked.scale,
            ranking.at,
            ranking.with_meaning,
        )
        return MemoryHitPage(hits[:limit], end, total)

    return await deps.database.read(read)


def load_visible(
    tx: Tx, deps: MemorySearchDeps, scope: MemorySearchScope, memory_ids: Sequence[MemoryId]
) -> dict[MemoryId, StoredMemory]:
    """Those of these memories that the scope holds now, each as of the filter's `as_of`."""
    if not memory_ids:
        return {}
    found = deps.stores.memories.fetch_many_visible(tx, scope.viewer, memory_ids, scope.filters)
    visible = deps.lister.visible_as_of(tx, scope.viewer, list(found.values()), scope.filters)
    return {stored.memory.id: stored for stored in visible}


def ranks_after(ranking: Ranking, after: MemoryPosition | None) -> Iterator[int]:
    """Indexes into the ranking, from the first hit behind the position."""
    for rank, score in enumerate(ranking.ranked.scores):
        if after is None or after.is_followed_by(score, memory_id_at(ranking, rank)):
            yield rank


def memory_id_at(ranking: Ranking, rank: int) -> MemoryId:
    """The id of the memory at this index of the ranking."""
    return MemoryId(ranking.table.rows[ranking.ranked.rows[rank]].memory_id)


def _find_redundant_sources(
    tx: Tx, deps: MemorySearchDeps, ranking: Ranking
) -> frozenset[MemoryId]:
    """Ids of sources to leave out: where a search finds a raw memory and a fact that was extracted
    from it, only the fact is shown. Looks at the whole ranking, not at one page, so that a pair is
    recognised although its two memories belong to different pages."""
    ids = [memory_id_at(ranking, rank) for rank in range(len(ranking.ranked.rows))]
    if not ids:
        return frozenset()
    facts, found = deps.stores.memory_search.derived_memory_ids(tx, ids), frozenset(ids)
    return frozenset(source for source, made in facts.items() if not found.isdisjoint(made))


def _to_hit(ranking: Ranking, rank: int, stored: StoredMemory) -> MemoryHit:
    ranked = ranking.ranked
    by_stage = {
        FindingStage.FULLTEXT: ranked.by_words,
        FindingStage.VECTOR: ranked.by_meaning,
        FindingStage.PERSON: ranked.by_person,
        FindingStage.TIME: ranked.by_time,
        FindingStage.GRAPH: ranked.by_graph,
    }
    stages = [stage for stage, flags in by_stage.items() if flags[rank]]
    named = [one.name for one in ranking.people if one.person_id in stored.memory.subjects]
    reasons = HitReasons(
        stages, _matched_words(ranking, rank), named, stored.memory.observed_at.date()
    )
    return MemoryHit(stored, ranked.scores[rank], stages, explain_hit(reasons))


def _matched_words(ranking: Ranking, rank: int) -> list[str]:
    """The words of the query that the memory contains. A single letter of a script without spaces
    matches as the first letter of a pair."""
    words = ranking.table.row_words(ranking.ranked.rows[rank])
    found = {stem(word) for word in words}
    found |= {word[0] for word in words if is_lone_letter(word[0])}
    return [word for word in ranking.question.words if stem(word) in found]
