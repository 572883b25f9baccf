"""Recall: the memories an agent should know now, as a block of text for its prompt, within a budget
of tokens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from recollect.db.transaction import Database, Tx
from recollect.identity.requester import Requester
from recollect.kernel.runtime import Runtime
from recollect.kernel.strict_json import drop_unstorable
from recollect.memories.model import (
    Memory,
    MemoryMessage,
    MemoryType,
    MessageRole,
    StoredMemory,
    TrustLevel,
)
from recollect.memories.read.filters import FilterRequest
from recollect.memories.read.history import VersionHistory
from recollect.memories.read.listing import MemoryLister
from recollect.search.memories.explain_hit import (
    LIMIT_MAX,
    FindingStage,
    HitReasons,
    MemorySearchComponent,
    explain_hit,
)
from recollect.search.memories.finder import (
    MemoryFinder,
    MemoryQuery,
    MemorySearchScope,
)
from recollect.search.memories.service import (
    MemoryHit,
    MemorySearchService,
    is_blank,
)
from recollect.search.recall import prompt_block
from recollect.search.recall.people import RecalledPerson, RecallPeopleReader
from recollect.search.recall.prompt_block import PromptBlock, RecallLine
from recollect.search.store.bundle import SearchStores
from recollect.visibility.facts import VisibilityFacts

TOKEN_BUDGET_MAX = 32_000
ITEMS_MAX = 100

# Without a query, the best of this many latest memories are used.
_LATEST_MAX = 200
# The query is made of the last messages of a conversation, up to these bounds.
_MESSAGES_ASKED = 3
_QUERY_CHARS_MAX = 4_000
_HALF_LIFE = timedelta(days=90)
# Weights of the types: what stays true for long counts more.
_WORTH = {
    MemoryType.IDENTITY: 1.0,
    MemoryType.PREFERENCE: 1.0,
    MemoryType.RELATIONSHIP: 1.0,
    MemoryType.KNOWLEDGE: 0.9,
    MemoryType.TASK: 0.9,
    MemoryType.EVENT: 0.8,
    MemoryType.CONTEXT: 0.8,
    MemoryType.OBSERVATION: 0.7,
}
_TRUST = {TrustLevel.FACT: 1.0, TrustLevel.UNKNOWN: 0.9, TrustLevel.HEARSAY: 0.8}


class RecallFormat(StrEnum):
    """Whether the answer has the prompt block and the items, or the items alone."""

    TEXT = "text"
    ITEMS = "items"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A recall request: for a query, for the last messages of a conversation, or for neither."""

    filters: FilterRequest
    query: str | None = None
    messages: Sequence[MemoryMessage] = ()
    token_budget: int = 1_000
    max_items: int = 20
    include_people: bool = True
    format: RecallFormat = RecallFormat.TEXT

    @property
    def text(self) -> str:
        """The text to search for: the query, or the last messages of the user (of anybody, if the
        user said nothing). Blank if neither was sent."""
        if self.query is not None:
            return drop_unstorable(self.query)
        asked = [one.content for one in self.messages if one.role is MessageRole.USER]
        spoken = asked or [one.content for one in self.messages]
        return drop_unstorable("\n".join(spoken[-_MESSAGES_ASKED:]))[-_QUERY_CHARS_MAX:]


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

    range: MemorySearchScope
    hits: Sequence[MemoryHit]
    total: int
    degraded: Sequence[MemorySearchComponent] = ()


class RecallService:
    """Searches, and fits the best hits into a token budget."""

    def __init__(
        self,
        database: Database,
        stores: SearchStores,
        runtime: Runtime,
        *,
        search: MemorySearchService,
        finder: MemoryFinder,
    ) -> None:
        self._database = database
        self._runtime = runtime
        self._search = search
        self._lists = MemoryLister(stores, VersionHistory(stores, VisibilityFacts(stores)))
        self._finder = finder
        self._people = RecallPeopleReader(stores)

    async def recall(self, requester: Requester, request: RecallRequest) -> RecallResult:
        """The best hits that fit into the budget. Raises what a search raises, except that filters
        are optional: without one, everything that the caller may see is searched. The read is
        recorded in the audit log."""
        range_of = self._search.scope_loader(requester, request.filters)
        text = request.text
        if is_blank(text):
            chosen = await self._database.read(lambda tx: self._latest_hits(tx, range_of(tx)))
        else:
            chosen = await self._matching_hits(MemoryQuery(text), range_of)
        # Only what fits into the budget is returned, so only that is recorded as read.
        told = await self._database.read(
            lambda tx: self._build_result(tx, requester, request, chosen)
        )
        await self._search.record_read(requester, "recallMemories", told.items, chosen.range.sight)
        return told

    async def _matching_hits(
        self, query: MemoryQuery, range_of: Callable[[Tx], MemorySearchScope]
    ) -> _RankedHits:
        found = await self._finder.find(query, range_of, now=self._runtime.clock.now())
        shown = await self._search.load_page(found, after=None, limit=LIMIT_MAX)
        return _RankedHits(found.range, shown.hits, shown.total, found.degraded)

    def _latest_hits(self, tx: Tx, among: MemorySearchScope) -> _RankedHits:
        rows = self._lists.gather_rows(tx, among.sight, among.chosen, after=None, limit=_LATEST_MAX)
        hits = [_latest_hit(stored, among.sight.now) for stored in rows]
        hits.sort(key=lambda hit: (hit.score, hit.stored.memory.id), reverse=True)
        return _RankedHits(among, hits, len(hits))

    def _build_result(
        self, tx: Tx, requester: Requester, request: RecallRequest, chosen: _RankedHits
    ) -> RecallResult:
        memories = [hit.stored.memory for hit in chosen.hits]
        names = self._people.visible_names(tx, requester, chosen.range.sight, memories)
        hits, block = _fit_to_budget(chosen.hits, names, request)
        people: list[RecalledPerson] = []
        if request.include_people:
            told = [hit.stored.memory for hit in hits]
            people = self._people.list_people(tx, requester, chosen.range.sight, told)
        return RecallResult(
            block.context if request.format is RecallFormat.TEXT else None,
            hits,
            people,
            block.tokens,
            chosen.total - len(hits),
            chosen.range.sight.now,
            chosen.degraded,
        )


def _fit_to_budget(
    hits: Sequence[MemoryHit], names: Mapping[str, str], request: RecallRequest
) -> tuple[Sequence[MemoryHit], PromptBlock]:
    """The hits whose lines fit into the budget, at most `max_items`, and their block.

    The budget is filled first and the count applied after it. If that cuts lines off, the block is
    made again from the remaining lines, so that `tokens` is right.
    """
    lines = [_to_line(hit.stored.memory, names) for hit in hits]
    first = prompt_block.fit_lines(lines, token_budget=request.token_budget)
    kept = first.used[: request.max_items]
    block = first
    if len(kept) < len(first.used):
        block = prompt_block.fit_lines(
            [lines[place] for place in kept], token_budget=request.token_budget
        )
    return [hits[place] for place in kept], block


def _to_line(memory: Memory, names: Mapping[str, str]) -> RecallLine:
    return RecallLine(
        id=memory.id,
        date=memory.observed_at.date(),
        about=tuple(names[id_] for id_ in memory.subjects if id_ in names),
        said_by=names.get(memory.stated_by or ""),
        hearsay=memory.trust is TrustLevel.HEARSAY,
        text=memory.content,
    )


def _latest_hit(stored: StoredMemory, now: datetime) -> MemoryHit:
    memory = stored.memory
    # Half of the score fades with age, the other half stays.
    age = max((now - memory.observed_at) / _HALF_LIFE, 0.0)
    score = _WORTH[memory.type] * _TRUST[memory.trust] * (0.5 + 0.5 * 0.5**age)
    stages = [FindingStage.RECENCY]
    reasons = HitReasons(stages, (), (), memory.observed_at.date())
    return MemoryHit(stored, round(score, 9), stages, explain_hit(reasons))
