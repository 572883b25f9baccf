"""Builds the embedder and the client of the vector database from the settings."""

from dataclasses import dataclass

from recollect.embedding.cache import QueryCachingEmbedder
from recollect.embedding.minilm import MiniLmEmbedder
from recollect.embedding.model_files import ModelFiles
from recollect.embedding.openai import EmbeddingEndpoint, OpenAiEmbedder
from recollect.embedding.port import Embedder
from recollect.kernel.errors import InvalidInput
from recollect.search.ports import VectorIndex
from recollect.settings import Settings


@dataclass(frozen=True, slots=True)
class EmbeddingBackends:
    """The embedder of a process, and a vector database outside of ours if one is configured.

    `for_memories` is the same embedder, or None where memories get no vectors. `on_the_spot` is the
    same if a search may wait for it: the built-in model, which costs nothing but a moment.
    """

    embedder: Embedder | None
    vector_index: VectorIndex | None
    for_memories: Embedder | None
    on_the_spot: Embedder | None
    # The files of the built-in model, where it is used.
    model_files: ModelFiles | None = None

    @property
    def memory_model(self) -> str:
        """The model that embeds memories; empty for none."""
        return self.for_memories.model if self.for_memories else ""

    async def close(self) -> None:
        """Close both."""
        for backend in (self.embedder, self.vector_index):
            if backend is not None:
                await backend.close()


def open_embedding(settings: Settings) -> EmbeddingBackends:
    """Create both. Nothing is loaded or connected before its first use."""
    if not settings.makes_vectors:
        return EmbeddingBackends(None, None, None, None)
    embedding = settings.embedding
    inner: Embedder = MiniLmEmbedder(threads=embedding.threads)
    if embedding.provider == "openai":
        inner = _build_openai(settings)
    embedder = QueryCachingEmbedder(inner, remembered=embedding.query_cache)
    for_memories = embedder if settings.makes_memory_vectors else None
    return EmbeddingBackends(
        embedder,
        _build_vector_index(settings, embedder),
        for_memories,
        for_memories if embedding.provider == "builtin" else None,
        ModelFiles() if embedding.provider == "builtin" else None,
    )


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
