"""The read of a memory search: one transaction that returns everything the ranking needs, and
nothing that the viewer may not see."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from heapq import nlargest
from zoneinfo import ZoneInfo

from recollect.db.transaction import Database, Tx
from recollect.embedding.port import Embedder, Vector
from recollect.graph.writer import GraphWriter
from recollect.identity.requester import Requester
from recollect.kernel.errors import EmbeddingFailed, Unavailable
from recollect.kernel.runtime import Runtime
from recollect.memories.filters import MemoryFilters
from recollect.memories.model import MemoryFilter
from recollect.memories.read.audit import ReadAudit
from recollect.memories.read.listing import MemoryLister
from recollect.memories.read.resolve_filters import resolve_filter
from recollect.memories.usage import UsageTracker
from recollect.search.memories.candidates import MemoryCandidateCriteria, find_candidates
from recollect.search.memories.explain_hit import MemorySearchComponent
from recollect.search.memories.fresh_vectors import (
    FRESH_TEXTS_MAX,
    ON_THE_SPOT_SECONDS,
    FreshVectors,
)
from recollect.search.memories.past_versions import PastVersions, read_past_versions
from recollect.search.memories.query import (
    MemoryQuery,
    MemoryQuestion,
    parse_question,
    possible_names,
)
from recollect.search.memories.rank import MemoryRankingOptions
from recollect.search.memories.row_cache import MemoryRowCache
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
from recollect.search.store.memories import MemorySearchStore
from recollect.text import tokens
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewer import Viewer
from recollect.visibility.viewers import ViewerFactory

# At most this many past versions are embedded during one search.
_PAST_TEXTS_MAX = 200
# Among so many rows without a vector the viewer's own are looked for.
_BARE_DOCS_MAX = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySearchDeps:
    """What the steps of search and recall work with. Without an embedder nothing is found by
    vector. Scopes of more than `exact_max` rows are reduced to candidates before they are ranked:
    the `candidates_max` best by words, and as many by vector. With `word_index` the words are
    looked up in the database's index."""

    database: Database
    stores: SearchStores
    runtime: Runtime
    viewers: ViewerFactory
    facts: VisibilityFacts
    lister: MemoryLister
    graph: GraphWriter
    reads: ReadAudit
    usage: UsageTracker
    embedder: Embedder | None
    fresh: FreshVectors
    cache: MemoryRowCache
    exact_max: int
    candidates_max: int
    word_index: bool
    ranking: MemoryRankingOptions


@dataclass(frozen=True, slots=True)
class RequestedScope:
    """A scope as a caller asks for it. It is resolved inside the transaction that reads the rows,
    so that permissions and rows come from one snapshot."""

    requester: Requester
    filters: MemoryFilters


@dataclass(frozen=True, slots=True)
class MemorySearchScope:
    """Which rows are searched: those that the viewer may see and that pass the filter."""

    viewer: Viewer
    filters: MemoryFilter


@dataclass(frozen=True, slots=True)
class GatheredRows:
    """What one read returned. `words` and `vectors` are only those that the row cache did not
    hold. `name_words` are the words of the question that name `people`."""

    scope: MemorySearchScope
    question: MemoryQuestion
    people: Sequence[NamedPerson]
    name_words: frozenset[str]
    graph: Mapping[str, float] | None
    failed: Sequence[MemorySearchComponent]
    rows: Sequence[MemoryCandidate]
    words: Sequence[WordRow]
    vectors: Sequence[MemoryVector]
    bare_texts: Sequence[PendingMemoryText]
    """Texts of past versions that have no vector: only present versions are embedded by jobs."""
    bare_docs: frozenset[int]
    """Present versions in the scope that have no vector, ranked or not."""
    fresh_texts: Sequence[PendingMemoryText]
    """What of these the viewer wrote, newest first."""


def resolve_scope(
    tx: Tx, deps: MemorySearchDeps, scope: RequestedScope | MemorySearchScope
) -> MemorySearchScope:
    """The viewer and the store's filter. Raises NotFound for an agent, chat, run or person that
    does not exist or that the requester may not know of."""
    if isinstance(scope, MemorySearchScope):
        return scope
    viewer = deps.viewers.viewer_for(tx, scope.requester, scope.filters.context)
    filters = resolve_filter(tx, deps.stores, scope.filters, known_to=scope.requester)
    return MemorySearchScope(viewer, filters)


def gather_rows(
    tx: Tx,
    deps: MemorySearchDeps,
    scope: MemorySearchScope,
    query: MemoryQuery,
    vector: Vector | None,
    at: datetime,
) -> GatheredRows:
    """Read everything that is ranked.

    Permissions are part of every statement over rows and are never cached: short rows without
    words are read anew in each search. Words and vectors are many times larger, so only those that
    the row cache lacks are read. A cache key is row number and revision, so a cached text can't be
    out of date. A cache by caller was the alternative: it needs an invalidation for each change of
    a right, a chat or a person, and keeps a shared row once for each caller.
    """
    store = deps.stores.memory_search
    question = _parse_question(tx, deps.stores, query.text, scope.viewer, at)
    # People come first: a candidate row says whether one of them is a subject.
    people, name_words = _find_named_people(tx, deps.stores, query, scope.viewer)
    person_ids = tuple(dict.fromkeys(one.person_id for one in people))
    # Without a query vector the model is empty: then no row has a vector, and none is read.
    model = deps.embedder.model if deps.embedder and vector is not None else ""
    context = SearchContext(scope.viewer, scope.filters, person_ids, model)
    # One row more than the limit tells a scope that is ranked exactly from one that is too large.
    rows = store.candidates(tx, context, limit=deps.exact_max + 1)
    # Past versions are read for an `as_of` only. The candidates hold what has not changed since
    # then, so no memory occurs twice.
    past = read_past_versions(tx, deps.stores, deps.lister, context)
    graph, failed = None, list[MemorySearchComponent]()
    if person_ids:
        try:
            graph = deps.graph.closeness(
                tx, scope.viewer, person_ids, filters=scope.filters, earlier=past.memories
            )
        except Unavailable:
            failed.append(MemorySearchComponent.GRAPH)
    bare_docs = _find_bare_docs(rows) if model else set[int]()
    if len(rows) > deps.exact_max:
        criteria = MemoryCandidateCriteria(
            question, name_words, vector, deps.candidates_max, deps.word_index
        )
        rows = find_candidates(tx, store, context, criteria)
    # `past.indexed` has the words that the index holds today, so cache and store know them. The
    # words of `past.others` were computed from the old text and come along with it.
    indexed = [*rows, *past.indexed]
    no_words, no_vectors = deps.cache.find_missing(indexed)
    bare_docs |= _find_bare_docs(indexed) if model else set()
    return GatheredRows(
        scope,
        question,
        people,
        name_words,
        graph,
        failed,
        rows=[*indexed, *past.others],
        words=[*(store.words(tx, no_words) if no_words else ()), *past.words],
        vectors=store.vectors(tx, no_vectors, model=model) if no_vectors else (),
        bare_texts=_find_bare_texts(deps.cache, past) if vector is not None else (),
        bare_docs=frozenset(bare_docs),
        fresh_texts=_read_fresh_texts(tx, store, context, bare_docs),
    )


async def embed_fresh_texts(
    fresh: FreshVectors, gathered: GatheredRows, *, seconds: float = ON_THE_SPOT_SECONDS
) -> GatheredRows:
    """Give a vector to what the viewer has just written, as far as the time allows. The answer says
    if other rows of the scope, or some of these, have none."""
    if not gathered.bare_docs:
        return gathered
    made = await fresh.embed(gathered.fresh_texts, seconds=seconds)
    done = {(one.doc, one.revision) for one in made}
    rows = [
        row._replace(has_vector=True) if (row.doc, row.revision) in done else row
        for row in gathered.rows
    ]
    failed = list(gathered.failed)
    if gathered.bare_docs - {one.doc for one in made}:
        failed.append(MemorySearchComponent.VECTORS_PENDING)
    return replace(gathered, rows=rows, vectors=[*gathered.vectors, *made], failed=failed)


async def embed_past_versions(embedder: Embedder | None, gathered: GatheredRows) -> GatheredRows:
    """Embed past versions that have no vector. The row cache keeps the vectors, so the next search
    finds them there. Beyond the limit the remaining texts are found by words alone, and the answer
    reports degraded vectors."""
    texts = gathered.bare_texts[:_PAST_TEXTS_MAX]
    if embedder is None or not texts:
        return gathered
    failed = list(gathered.failed)
    if len(texts) < len(gathered.bare_texts):
        failed.append(MemorySearchComponent.VECTORS)
    try:
        vectors = await embedder.embed([one.text for one in texts])
    except EmbeddingFailed:
        return replace(gathered, failed=[*gathered.failed, MemorySearchComponent.EMBEDDING])
    made = (
        MemoryVector(one.doc, one.revision, vector)
        for one, vector in zip(texts, vectors, strict=True)
    )
    return replace(gathered, vectors=[*gathered.vectors, *made], failed=failed)


def _parse_question(
    tx: Tx, stores: SearchStores, text: str, viewer: Viewer, at: datetime
) -> MemoryQuestion:
    """Parse the query. If it names a day, days begin at midnight in the asker's time zone."""
    # First in UTC: most queries name no time, and then the asker's zone need not be read.
    question = parse_question(text, at, UTC)
    person_id = viewer.asker.person_id
    if not question.spans or person_id is None:
        return question
    person = stores.people.fetch(tx, person_id)
    zone = person.time_zone if person is not None else None
    return parse_question(text, at, ZoneInfo(zone)) if zone else question


def _find_named_people(
    tx: Tx, stores: SearchStores, query: MemoryQuery, viewer: Viewer
) -> tuple[Sequence[NamedPerson], frozenset[str]]:
    """The people whom the query names, and the words that do."""
    forms = possible_names(query.text)
    # Only `auto` ranks by people; for the other modes a name is a word like any other.
    if query.mode is not SearchType.AUTO or not forms:
        return (), frozenset()
    people = stores.memory_search.people_by_name(tx, viewer.asker, list(forms))
    return people, frozenset(
        word for one in people for word in tokens.query_tokens(forms[one.form])
    )


def _find_bare_docs(rows: Sequence[MemoryCandidate]) -> set[int]:
    return {row.doc for row in rows if not row.has_vector}


def _read_fresh_texts(
    tx: Tx, store: MemorySearchStore, context: SearchContext, bare_docs: Set[int]
) -> Sequence[PendingMemoryText]:
    """Nothing is read if every row has a vector, as in most searches."""
    # After a change of the model all rows are bare. Then the latest are enough to look through.
    docs = nlargest(_BARE_DOCS_MAX, bare_docs)
    return store.fresh_texts(tx, context, docs, limit=FRESH_TEXTS_MAX) if docs else ()


def _find_bare_texts(cache: MemoryRowCache, past: PastVersions) -> list[PendingMemoryText]:
    # Their vectors may be cached from an earlier search: ask as if each row had one.
    wanted = [row._replace(has_vector=True) for row in past.others]
    return [past.texts[doc] for doc in cache.find_missing(wanted)[1]]
