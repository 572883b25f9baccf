"""Builds the parts of search from the settings."""

from dataclasses import dataclass

from recollect.app.stores import Stores
from recollect.db.transaction import Database
from recollect.embedding.cache import QueryCachingEmbedder
from recollect.embedding.minilm import MiniLmEmbedder
from recollect.embedding.openai import EmbeddingEndpoint, OpenAiEmbedder
from recollect.embedding.port import Embedder
from recollect.graph.writer import GraphWriter
from recollect.kernel.errors import InvalidInput
from recollect.kernel.runtime import Runtime
from recollect.memories.read.audit import ReadAudit
from recollect.memories.read.history import VersionHistory
from recollect.memories.read.listing import MemoryLister
from recollect.memories.usage import UsageTracker
from recollect.search.entries.candidates import EntryCandidateFinder
from recollect.search.entries.corpus_cache import CorpusCache, CorpusLimits
from recollect.search.entries.index_jobs import IndexDeps
from recollect.search.entries.rank import RankingOptions
from recollect.search.entries.service import EntrySearchDeps
from recollect.search.memories.gather import MemorySearchDeps
from recollect.search.memories.rank import MemoryRankingOptions
from recollect.search.memories.row_cache import MemoryRowCache
from recollect.search.ports import VectorIndex
from recollect.settings import Settings
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewers import ViewerFactory


@dataclass(frozen=True, slots=True)
class EmbeddingBackends:
    """The embedder and the vector database of a process."""

    embedder: Embedder | None
    beside: VectorIndex | None

    async def close(self) -> None:
        """Close both."""
        for part in (self.embedder, self.beside):
            if part is not None:
                await part.close()


def open_embedding(settings: Settings) -> EmbeddingBackends:
    """Create both. Nothing is loaded or connected before its first use."""
    embedder = _build_embedder(settings)
    beside = _build_vector_index(settings, embedder) if embedder is not None else None
    return EmbeddingBackends(embedder, beside)


def build_search_deps(
    finding: EmbeddingBackends, settings: Settings, database: Database, stores: Stores
) -> EntrySearchDeps:
    """What EntrySearchService works with."""
    search, embedder = settings.search, finding.embedder
    model, dimensions = (embedder.model, embedder.dimensions) if embedder else ("", 1)
    return EntrySearchDeps(
        corpora=CorpusCache(
            database,
            stores.search,
            CorpusLimits(entries=search.exact_max, bytes=search.cache_mb * 2**20),
            model=model,
            dimensions=dimensions,
        ),
        gathering=EntryCandidateFinder(
            database,
            stores.search,
            finding.beside,
            model=model,
            dimensions=dimensions,
            candidates=search.candidates,
        ),
        embedder=embedder,
        fulltext=search.fulltext.enabled,
        ranking=RankingOptions(candidates=search.candidates, min_score=search.semantic.min_score),
    )


def build_memory_search(
    finding: EmbeddingBackends,
    settings: Settings,
    database: Database,
    stores: Stores,
    runtime: Runtime,
    *,
    viewers: ViewerFactory,
    reads: ReadAudit,
    usage: UsageTracker,
) -> MemorySearchDeps:
    """What memory search and recall share."""
    search = settings.search
    embedder = finding.embedder if settings.makes_memory_vectors else None
    facts = VisibilityFacts(stores)
    return MemorySearchDeps(
        database=database,
        stores=stores,
        runtime=runtime,
        viewers=viewers,
        facts=facts,
        lister=MemoryLister(stores, VersionHistory(stores, facts)),
        graph=GraphWriter(stores, runtime),
        reads=reads,
        usage=usage,
        embedder=embedder,
        cache=MemoryRowCache(
            dimensions=embedder.dimensions if embedder else 1, bytes_max=search.cache_mb * 2**20
        ),
        exact_max=search.exact_max,
        candidates_max=search.candidates,
        word_index=search.fulltext.enabled,
        ranking=MemoryRankingOptions(min_score=search.semantic.min_score),
    )


def build_index_deps(finding: EmbeddingBackends, settings: Settings) -> IndexDeps:
    """What IndexJobs works with."""
    return IndexDeps(finding.embedder, finding.beside, settings.search.exact_max)


def _build_embedder(settings: Settings) -> Embedder | None:
    if not settings.makes_vectors:
        return None
    embedding = settings.embedding
    inner: Embedder = MiniLmEmbedder(threads=embedding.threads)
    if embedding.provider == "openai":
        inner = _build_openai(settings)
    return QueryCachingEmbedder(inner, remembered=embedding.query_cache)


def _build_openai(settings: Settings) -> OpenAiEmbedder:
    openai = settings.embedding.openai
    key = openai.api_key.get_secret_value() if openai.api_key else None
    try:
        endpoint = EmbeddingEndpoint(
            base_url=openai.base_url,
            model=openai.model,
            dimensions=openai.dimensions,
            api_key=key,
            send_dimensions=openai.send_dimensions,
            timeout_seconds=openai.timeout_seconds,
            attempts_max=openai.retries + 1,
        )
    except ValueError as error:
        raise InvalidInput(f"embedding.openai: {error}") from error
    return OpenAiEmbedder(endpoint)


def _build_vector_index(settings: Settings, embedder: Embedder) -> VectorIndex | None:
    qdrant = settings.search.qdrant
    if qdrant.url is None:
        return None
    try:
        # The client is an optional dependency and takes a second to import.
        from recollect.search.qdrant import QdrantIndex, QdrantServer  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "search.qdrant.url: the client of Qdrant is not installed: "
            "pip install 'recollect[qdrant]'"
        ) from error
    server = QdrantServer(
        url=qdrant.url,
        collection=qdrant.collection,
        api_key=qdrant.api_key.get_secret_value() if qdrant.api_key else None,
    )
    return QdrantIndex(server, model=embedder.model, dimensions=embedder.dimensions)
