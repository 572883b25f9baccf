"""What a corpus is made of: rows of entries, their tokens, their vectors, and numbers of names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.services.ranking.pools import Pool
from recollect.services.ranking.vocabulary import Numbers, Vocabulary

Rows = NDArray[np.void]
RowNumbers = NDArray[np.int64]
Ints = NDArray[np.int32]

# One row an entry. `before` and `after` are the rows beside it in its conversation, `start` is the
# place of its first token, `vector` that of its vectors; -1 is none.
ROW = np.dtype(
    [
        ("id", "S36"),
        ("tree", np.int32),
        ("conversation", np.int32),
        ("speaker", np.int32),
        ("seq", np.int64),
        ("traits", np.uint8),
        ("live", np.bool_),
        ("start", np.int64),
        ("length", np.int32),
        ("head", np.int32),
        ("before", np.int32),
        ("after", np.int32),
        ("vector", np.int32),
    ]
)


# No number of a unit vector is above 1, so the largest becomes the largest of 16 bits.
MIXED_UNIT = 2**15 - 1


@dataclass(frozen=True, slots=True)
class Names:
    """Numbers of words and ids, shared by a corpus and its successors."""

    words: Vocabulary
    trees: Numbers
    conversations: Numbers
    speakers: Numbers


@dataclass(frozen=True, slots=True)
class Tokens:
    """Words of all rows, by number. An owner is twice the row, and 1 more behind its head."""

    words: Pool[np.int32]
    owners: Pool[np.int32]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Own vectors; and own and window vectors in one: a cosine with it is the mean of both. Those
    are kept as whole numbers of 1 / `MIXED_UNIT`, which takes half the memory."""

    own: Pool[np.float32]
    mixed: Pool[np.int16]


@dataclass(frozen=True, slots=True)
class Parts:
    """All of a corpus. Ids are by row; `row_of` knows the live rows only."""

    names: Names
    rows: Rows
    tokens: Tokens
    vectors: Vectors
    entry_ids: Sequence[str]
    conversation_ids: Sequence[str]
    row_of: Mapping[str, int]


def no_parts(dimensions: int) -> Parts:
    """Those of a corpus without entries."""
    no_vectors = np.empty((0, dimensions), np.float32)
    no_tokens = np.empty(0, np.int32)
    return Parts(
        names=Names(Vocabulary(), Numbers(), Numbers(), Numbers()),
        rows=np.empty(0, ROW),
        tokens=Tokens(Pool(no_tokens), Pool(no_tokens)),
        vectors=Vectors(Pool(no_vectors), Pool(no_vectors.astype(np.int16))),
        entry_ids=[],
        conversation_ids=[],
        row_of={},
    )
