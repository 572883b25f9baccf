"""Sections `search` and `embedding`: indexing, ranking, and the provider of vectors."""

from typing import Literal

from pydantic import Field

from recollect.settings.section import Key, Name, Section, WebUrl


class SemanticSettings(Section):
    """Search by meaning."""

    enabled: bool = Field(True, description="make vectors, and search by them")
    min_score: float = Field(
        0.2, ge=-1, le=1, description="least cosine similarity of a result found by meaning"
    )


class FulltextSettings(Section):
    """Search by words."""

    enabled: bool = Field(True, description="search by words")


class QdrantSettings(Section):
    """A Qdrant server or cluster that answers for scopes above `search.exact_max`."""

    url: WebUrl | None = Field(
        None, description="URL of Qdrant; unset: vectors are only in the database"
    )
    api_key: Key | None = Field(None, description="API key of Qdrant, if it needs one")
    collection: Name = Field("recollect", description="first part of its collections' names")


class SearchSettings(Section):
    """What is indexed, and how it is searched."""

    index_raw_text: bool | None = Field(
        None,
        description="index an entry's own text when no `indexedContent` was sent; "
        "unset: yes, but no if contents are encrypted and `encryption.index` is `plain`",
    )
    candidates: int = Field(
        1_000, ge=1, le=10_000, description="best entries of each type that `auto` ranks"
    )
    exact_max: int = Field(
        50_000,
        ge=1,
        description="permitted entries, or memories, up to which every vector is compared; above, "
        "an index may miss some candidates (their scores stay exact)",
    )
    cache_mb: int = Field(
        512,
        ge=1,
        description="most memory for the words and vectors of entries that were searched lately, "
        "and as much for those of memories",
    )
    semantic: SemanticSettings = SemanticSettings()
    fulltext: FulltextSettings = FulltextSettings()
    qdrant: QdrantSettings = QdrantSettings()


class OpenAiSettings(Section):
    """An endpoint that speaks OpenAI's `/v1/embeddings`."""

    base_url: WebUrl = Field(
        "https://api.openai.com/v1", description="the part of the URL before `/embeddings`"
    )
    model: Name = Field("text-embedding-3-small", description="name of the model there")
    api_key: Key | None = Field(None, description="sent as bearer token")
    dimensions: int = Field(
        1_536, ge=1, le=16_000, description="length of its vectors; another length is refused"
    )
    send_dimensions: bool = Field(
        False, description="ask the endpoint for this length, where it can shorten vectors"
    )
    timeout_seconds: float = Field(10, gt=0, description="time limit of one request")
    retries: int = Field(2, ge=0, le=10, description="retries of a failed request")


class EmbeddingSettings(Section):
    """What makes vectors of texts."""

    provider: Literal["builtin", "openai", "none"] = Field(
        "builtin",
        description="`builtin`: a small English model in the process; `openai`: an endpoint; "
        "`none`: no vectors",
    )
    threads: int = Field(1, ge=1, description="threads of the built-in model")
    query_cache: int = Field(1_000, ge=0, description="query vectors in the cache")
    openai: OpenAiSettings = OpenAiSettings()
