"""Texts to vectors, behind a port: a model in the process, an endpoint, or none."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Makes unit vectors. It may fail with EmbeddingFailed and nothing else."""

    @property
    def model(self) -> str:
        """Name of the model; stored beside each vector, so vectors of another are never mixed."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in order, each of length 1; never on the event loop's own time."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """One vector (shape `(dimensions,)`), perhaps remembered from an earlier query."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
