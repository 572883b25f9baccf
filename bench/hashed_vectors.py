"""Vectors that cost next to nothing and are the same everywhere: chance with the text as its seed.

This module imports nothing of the project: peers use it in an environment of their own.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 384


def vector_of(text: str) -> NDArray[np.float32]:
    """A unit vector."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    drawn = np.random.default_rng(seed).standard_normal(DIMENSIONS, dtype=np.float32)
    unit: NDArray[np.float32] = drawn / np.linalg.norm(drawn)
    return unit
