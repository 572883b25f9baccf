"""Recall: the memories an agent should know now, as a block of text for its prompt, within a budget
of tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.memories.model import (
    StoredMemory,
    TrustLevel,
)
from recollect.search.commands import HITS_MAX, RecallMemories
from recollect.search.memories.explain_hit import (
    FindingStage,
    HitReasons,
    MemorySearchComponent,
    explain_hit,
)
from recollect.search.memories.gather import (
    MemorySearchDeps,
    MemorySearchScope,
    RequestedScope,
    resolve_scope,
)
from recollect.search.memories.pages import MemoryHit, load_page
from recollect.search.memories.pipeline import rank_scope, record_read
from recollect.search.memories.query import MemoryQuery
from recollect.search.model import RecallFormat
from recollect.search.query import is_blank
from recollect.search.recall import prompt_block
from recollect.search.recall.people import RecalledPerson, RecallPeopleReader
from recollect.search.recall.prompt_block import PromptBlock, RecallLine
from recollect.visibility.model import Closeness

# Without a query, this many memories are used.
_LATEST_MAX = 200
_HALF_LIFE = timedelta(days=90)
_FARTHEST_FIRST = tuple(reversed(Closeness))

# An agent should know that there is something that nobody can read now.
_UNREADABLE_TEXT = "(can't be read)"


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The prompt block, the memories in it, and the people they are about. `omitted` counts matches
    that are not in it. Without a block, `tokens` is what it would take."""

    context: str | None
    items: Sequence[MemoryHit]
    people: Sequence[RecalledPerson]
    tokens: int
    omitted: int
    now: datetime
    degraded: Sequence[MemorySearchComponent] = ()


@dataclass(frozen=True, slots=True)
class _RankedHits:
    """Hits, best first, with the scope they come from and the number of matches in all."""

    scope: MemorySearchScope
    hits: Sequence[MemoryHit]
    total: int
    degraded: Sequence[MemorySearchComponent] = ()


class RecallService:
    """Searches, and fits the best hits into a token budget."""

    def __init__(self, deps: MemorySearchDeps) -> None:
        self._deps = deps
        self._people = RecallPeopleReader(deps.stores)

    async def recall(self, requester: Requester, command: RecallMemories) -> RecallResult:
        """The best hits that fit into the budget. Raises what a search raises, except that filters
        are optional: without one, everything that the caller may see is searched. The read is
        recorded in the audit log."""
        deps, scope = self._deps, RequestedScope(requester, command.filters)
        text = command.text
        if is_blank(text):
            ranked = await deps.database.read(lambda tx: _load_latest_hits(tx, deps, scope))
        else:
            now = deps.runtime.clock.now()
            ranking = await rank_scope(deps, scope, MemoryQuery(text), now=now)
            page = await load_page(deps, ranking, after=None, limit=HITS_MAX)
            ranked = _RankedHits(ranking.scope, page.hits, page.total, ranking.degraded)
        result = await deps.database.read(
            lambda tx: self._build_result(tx, requester, command, ranked)
        )
        # Only what fits into the budget is returned, so only that is recorded as read.
        returned = [hit.stored for hit in result.items]
        await record_read(deps, requester, "recallMemories", returned, ranked.scope.viewer)
        return result

    def _build_result(
        self, tx: Tx, requester: Requester, command: RecallMemories, ranked: _RankedHits
    ) -> RecallResult:
        viewer = ranked.scope.viewer
        memories = [hit.stored.memory for hit in ranked.hits]
        names = self._people.visible_names(tx, requester, viewer, memories)
        hits, block = _fit_to_budget(ranked.hits, names, command)
        people: list[RecalledPerson] = []
        if command.include_people:
            returned = [hit.stored.memory for hit in hits]
            people = self._people.list_people(tx, requester, viewer, returned)
        return RecallResult(
            block.context if command.format is RecallFormat.TEXT else None,
            hits,
            people,
            block.tokens,
            ranked.total - len(hits),
            viewer.now,
            ranked.degraded,
        )


def _load_latest_hits(tx: Tx, deps: MemorySearchDeps, requested: RequestedScope) -> _RankedHits:
    """The latest memories, for a recall without a query: first what is about or of the asker, then
    what is about others in the group, then the rest; each newest first."""
    scope = resolve_scope(tx, deps, requested)
    hits: list[MemoryHit] = []
    for closeness in Closeness:
        rows = deps.lister.gather_rows(
            tx,
            scope.viewer,
            scope.filters,
            after=None,
            limit=_LATEST_MAX - len(hits),
            closeness=closeness,
        )
        hits += [_to_latest_hit(stored, closeness, scope.viewer.now) for stored in rows]
    return _RankedHits(scope, hits, len(hits))


def _fit_to_budget(
    hits: Sequence[MemoryHit], names: Mapping[str, str], command: RecallMemories
) -> tuple[Sequence[MemoryHit], PromptBlock]:
    """The hits whose lines fit into the budget, at most `max_items`, and their block.

    The budget is filled first and the count applied after it. If that cuts lines off, the block is
    made again from the remaining lines, so that `tokens` is right.
    """
    lines = [_to_line(hit.stored, names) for hit in hits]
    first = prompt_block.fit_lines(lines, token_budget=command.token_budget)
    kept = first.used[: command.max_items]
    block = first
    if len(kept) < len(first.used):
        block = prompt_block.fit_lines(
            [lines[place] for place in kept], token_budget=command.token_budget
        )
    return [hits[place] for place in kept], block


def _to_line(stored: StoredMemory, names: Mapping[str, str]) -> RecallLine:
    memory = stored.memory
    return RecallLine(
        id=memory.id,
        date=memory.observed_at.date(),
        about=tuple(names[id_] for id_ in memory.subjects if id_ in names),
        said_by=names.get(memory.stated_by or ""),
        hearsay=memory.trust is TrustLevel.HEARSAY,
        text=_UNREADABLE_TEXT if stored.unreadable else memory.content,
    )


def _to_latest_hit(stored: StoredMemory, closeness: Closeness, now: datetime) -> MemoryHit:
    memory = stored.memory
    # A third of the score for each closeness, so that scores descend as the hits do.
    age = max((now - memory.created_at) / _HALF_LIFE, 0.0)
    score = (_FARTHEST_FIRST.index(closeness) + 0.5**age) / len(_FARTHEST_FIRST)
    stages = [FindingStage.RECENCY]
    reasons = HitReasons(stages, (), (), memory.observed_at.date())
    return MemoryHit(stored, round(score, 9), stages, explain_hit(reasons))
