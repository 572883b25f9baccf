"""Builds the search of entries and of memories, and their indexing jobs."""

from recollect.app.context import AppContext
from recollect.app.memories import build_reconcile_jobs
from recollect.http.services import Services
from recollect.memories.read.history import VersionHistory
from recollect.memories.read.listing import MemoryLister
from recollect.search.entries.corpus_cache import CorpusCache, CorpusLimits
from recollect.search.entries.index_jobs import IndexJobs
from recollect.search.entries.rank import RankingOptions
from recollect.search.entries.service import EntrySearchService
from recollect.search.memories.fresh_vectors import FreshVectors
from recollect.search.memories.gather import MemorySearchDeps
from recollect.search.memories.indexing import MemoryIndexJobs, MemoryVectorWriter
from recollect.search.memories.rank import MemoryRankingOptions
from recollect.search.memories.row_cache import MemoryRowCache
from recollect.search.memories.service import MemorySearchService
from recollect.search.recall.service import RecallService


def build_entry_search(context: AppContext) -> EntrySearchService:
    """Each service has a cache of its own."""
    database, store, search = context.database, context.stores.search, context.settings.search
    embedder = context.embedding.embedder
    model, dimensions = (embedder.model, embedder.dimensions) if embedder else ("", 1)
    return EntrySearchService(
        context,
        CorpusCache(
            database,
            store,
            CorpusLimits(entries=search.exact_max, bytes=search.cache_mb * 2**20),
            model=model,
            dimensions=dimensions,
        ),
        embedder=embedder,
        vector_index=context.embedding.vector_index,
        fulltext=search.fulltext.enabled,
        whole_words=context.runtime.cipher.seals_index,
        ranking=RankingOptions(candidates=search.candidates, min_score=search.semantic.min_score),
    )


def build_memory_search(context: AppContext) -> Services:
    """Search and recall share their caches and their fresh vectors."""
    stores, search = context.stores, context.settings.search
    embedder = context.embedding.for_memories
    fresh = FreshVectors(build_vector_writer(context), context.embedding.on_the_spot)
    deps = MemorySearchDeps(
        database=context.database,
        stores=stores,
        runtime=context.runtime,
        viewers=context.viewers,
        facts=context.facts,
        lister=MemoryLister(stores, VersionHistory(stores, context.facts)),
        graph=context.graph,
        reads=context.reads,
        usage=context.usage,
        embedder=embedder,
        fresh=fresh,
        cache=MemoryRowCache(
            dimensions=embedder.dimensions if embedder else 1, bytes_max=search.cache_mb * 2**20
        ),
        exact_max=search.exact_max,
        candidates_max=search.candidates,
        word_index=search.fulltext.enabled,
        ranking=MemoryRankingOptions(min_score=search.semantic.min_score),
    )
    return Services(MemorySearchService(deps), RecallService(deps), fresh)


def build_vector_writer(context: AppContext) -> MemoryVectorWriter:
    """A memory with a new vector is reconciled next, whoever made the vector."""
    return MemoryVectorWriter(context, context.metrics, build_reconcile_jobs(context).queue)


def build_memory_index_jobs(context: AppContext) -> MemoryIndexJobs:
    return MemoryIndexJobs(
        context,
        context.memory_indexer,
        build_vector_writer(context),
        context.embedding.for_memories,
    )


def build_index_jobs(context: AppContext, memory_jobs: MemoryIndexJobs) -> IndexJobs:
    embedding = context.embedding
    return IndexJobs(
        context,
        context.metrics,
        context.entry_indexer,
        memory_jobs,
        embedder=embedding.embedder,
        vector_index=embedding.vector_index,
        exact_max=context.settings.search.exact_max,
    )
