"""An embedder for tests: bags of words, made at once."""

from collections.abc import Sequence

import numpy as np

from recollect.embedding.port import Vectors
from recollect.kernel.errors import EmbeddingFailed
from tests.support.servers.embedding import bag_of_words


class WordEmbedder:
    """Texts that share words are near. While `down` it fails."""

    def __init__(self, *, dimensions: int = 64, model: str = "words") -> None:
        self.model = model
        self.dimensions = dimensions
        self.down = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        if self.down:
            raise EmbeddingFailed("the embedder of the tests is down")
        return np.stack([bag_of_words(text, self.dimensions) for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        """See `Embedder`."""
        [vector] = await self.embed([text])
        return np.asarray(vector)

    async def close(self) -> None:
        """See `Embedder`."""
