"""Search over memories: `MemorySearchService.search` calls the stages of `pipeline.py` in order."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.strict_json import drop_unstorable
from recollect.memories.model import Memory, MemoryFilter, Sensitivity
from recollect.memories.read.resolve_filters import require_location
from recollect.observability.tracing import span
from recollect.people.chat import ChatKind
from recollect.search.commands import SearchMemories
from recollect.search.memories.cursor import MemoryPosition
from recollect.search.memories.explain_hit import MemorySearchComponent
from recollect.search.memories.gather import (
    MemorySearchDeps,
    MemorySearchScope,
    RequestedScope,
    resolve_scope,
)
from recollect.search.memories.pages import (
    MemoryHit,
    load_page,
    load_visible,
    memory_id_at,
    ranks_after,
)
from recollect.search.memories.pipeline import Ranking, rank_scope, record_read
from recollect.search.memories.query import MemoryQuery
from recollect.search.model import SearchType
from recollect.search.query import is_blank
from recollect.visibility.disclosure import is_withheld
from recollect.visibility.viewer import Viewer

# Withheld matches are counted up to this number: that there are some is what matters.
_WITHHELD_MAX = 100


@dataclass(frozen=True, slots=True)
class MemoryHits:
    """A page of hits in order. With `explain`, `withheld` counts matches about the caller that are
    not shown because the search is made in a group chat; else it is None."""

    items: Sequence[MemoryHit]
    now: datetime
    next_cursor: str | None = None
    degraded: Sequence[MemorySearchComponent] = ()
    withheld: int | None = None


class MemorySearchService:
    """Full-text, semantic and combined search over memories."""

    def __init__(self, deps: MemorySearchDeps) -> None:
        self._deps = deps

    async def search(self, requester: Requester, command: SearchMemories) -> MemoryHits:
        """Return one page of hits and record the read in the audit log. A blank query finds
        nothing.

        Raises NotFound for an agent, chat, run or person that does not exist, and ValidationFailed
        if no filter says where to search. A blank query raises the same errors: it resolves the
        scope before it returns an empty page.
        """
        deps, filters = self._deps, command.filters
        require_location(filters)
        self._require_mode(command.mode)
        fingerprint = _fingerprint(command, requester)
        after = MemoryPosition.from_cursor(command.after, fingerprint) if command.after else None
        query = MemoryQuery(drop_unstorable(command.query), command.mode, command.min_score)
        scope, now = RequestedScope(requester, filters), deps.runtime.clock.now()
        if is_blank(query.text):
            await deps.database.read(lambda tx: resolve_scope(tx, deps, scope))
            return MemoryHits([], now, withheld=0 if command.explain else None)
        ranking = await rank_scope(deps, scope, query, now=now, after=after)
        with span("search.page"):
            page = await load_page(deps, ranking, after=after, limit=command.limit)
        withheld = await self._count_withheld(ranking, query) if command.explain else None
        viewer = ranking.scope.viewer
        await record_read(deps, requester, "searchMemories", page.memories, viewer)
        cursor = page.end.to_cursor(fingerprint) if page.end is not None else None
        return MemoryHits(page.hits, now, cursor, ranking.degraded, withheld)

    async def best_hits(self, query: str, scope: MemorySearchScope, *, limit: int) -> MemoryHits:
        """The best hits of a resolved scope, without pages and without an entry in the audit
        log."""
        text, now = drop_unstorable(query), self._deps.runtime.clock.now()
        if is_blank(text):
            return MemoryHits([], now)
        ranking = await rank_scope(self._deps, scope, MemoryQuery(text), now=now)
        page = await load_page(self._deps, ranking, after=None, limit=limit)
        return MemoryHits(page.hits, now, degraded=ranking.degraded)

    async def score_memory(self, memory: Memory, query: str, viewer: Viewer) -> float | None:
        """The score that a search in the memory's space gives the memory, None if the search does
        not find it."""
        space = memory.space
        scope = MemorySearchScope(viewer, MemoryFilter(spaces=((space.kind, space.id),)))
        ranking = await rank_scope(self._deps, scope, MemoryQuery(query), now=viewer.now)
        scores = enumerate(ranking.ranked.scores)
        return next((one for rank, one in scores if memory_id_at(ranking, rank) == memory.id), None)

    def _require_mode(self, mode: SearchType) -> None:
        if mode is SearchType.SEMANTIC and self._deps.embedder is None:
            allowed = [str(one) for one in SearchType if one is not SearchType.SEMANTIC]
            raise ValidationFailed.for_field(
                "mode", "semantic is switched off here", allowed=allowed
            )

    async def _count_withheld(self, ranking: Ranking, query: MemoryQuery) -> int:
        """How many matches about the asker are hidden only because others in the group would read
        them.

        The search runs again without the chat, restricted to sensitive memories about the asker.
        Each match is then judged as in the group, and those count that only the rule for sensitive
        memories in groups hides.
        """
        deps, viewer, filters = self._deps, ranking.scope.viewer, ranking.scope.filters
        person_id, group = viewer.asker.person_id, viewer.chat
        if person_id is None or group is None or group.kind is not ChatKind.GROUP:
            return 0
        # Groups hide sensitive memories only: a filter for others can't have withheld matches.
        if filters.sensitivity not in (None, Sensitivity.SENSITIVE):
            return 0
        about_asker = replace(filters, subjects=(person_id,), sensitivity=Sensitivity.SENSITIVE)
        alone = MemorySearchScope(replace(viewer, chat=None), about_asker)
        hidden = await rank_scope(deps, alone, query, now=ranking.at)
        ranks = islice(ranks_after(hidden, None), _WITHHELD_MAX)
        ids = [memory_id_at(hidden, rank) for rank in ranks]

        def count(tx: Tx) -> int:
            return sum(
                is_withheld(
                    deps.facts.memory_view(tx, stored, viewer),
                    viewer.asker,
                    deps.facts.can_view(tx, viewer, stored),
                )
                for stored in load_visible(tx, deps, alone, ids).values()
            )

        return await deps.database.read(count)


def _fingerprint(command: SearchMemories, requester: Requester) -> bytes:
    """Binds a cursor to this search and this caller. The page size may change between pages, and an
    empty filter may be left out."""
    bound = (
        command.query,
        command.mode,
        command.min_score,
        [(name, value) for name, value in command.filters if value not in (None, [])],
        requester.identity.spelling,
    )
    text = repr(bound).encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=8).digest()
