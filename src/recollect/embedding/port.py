"""The embedder: turns texts into vectors, by a model in the process or an HTTP endpoint."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

# Of any byte order: stored vectors are big-endian, computed ones in the machine's order.
Vector = NDArray[np.floating[Any]]


Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Makes unit vectors. Methods raise EmbeddingFailed and nothing else."""

    @property
    def model(self) -> str:
        """Name of the model. Stored with each vector, so that vectors of different models are never
        compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in order, each of length 1. Must not block the event loop."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """One vector of shape `(dimensions,)`, perhaps from a cache."""
        ...

    async def close(self) -> None:
        """Release connections or the model's memory."""
        ...
