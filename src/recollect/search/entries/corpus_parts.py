"""The arrays of a corpus: rows of entries, their tokens, their vectors, and the tables that number
words and ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.search.ranking.array_pool import ArrayPool
from recollect.search.ranking.vocabulary import StringInterner, Vocabulary

Rows = NDArray[np.void]
RowNumbers = NDArray[np.int64]
Ints = NDArray[np.int32]

# One row per entry. `before` and `after` are the neighbouring rows in its conversation, `start` is
# the index of its first token, `vector` the place of its vectors; -1 is none.
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


# Scale of int16 vectors: the components of a unit vector are at most 1, which becomes 2**15 - 1.
MIXED_UNIT = 2**15 - 1


@dataclass(frozen=True, slots=True)
class NameTables:
    """Tables that number words and ids. A corpus and its successors share them."""

    words: Vocabulary
    trees: StringInterner
    conversations: StringInterner
    speakers: StringInterner


@dataclass(frozen=True, slots=True)
class CorpusTokens:
    """The tokens of all rows, one after the other: the word's number and its owner. The owner is
    `2 * row`, plus 1 for tokens behind the head, so one array tells both."""

    words: ArrayPool[np.int32]
    owners: ArrayPool[np.int32]


@dataclass(frozen=True, slots=True)
class CorpusVectors:
    """`own` are the vectors of the entries' own texts. `mixed` are weighted means of own and
    window vector, so one product gives the weighted mean of both cosines. `mixed` is stored as
    int16 in units of 1 / `MIXED_UNIT`, which takes half the memory of float32."""

    own: ArrayPool[np.float32]
    mixed: ArrayPool[np.int16]


@dataclass(frozen=True, slots=True)
class CorpusParts:
    """Everything in a corpus. Ids are by row, dead rows included; `row_of` has live rows only."""

    names: NameTables
    rows: Rows
    tokens: CorpusTokens
    vectors: CorpusVectors
    entry_ids: Sequence[str]
    conversation_ids: Sequence[str]
    row_of: Mapping[str, int]


def empty_parts(dimensions: int) -> CorpusParts:
    """The parts of a corpus without entries."""
    no_vectors = np.empty((0, dimensions), np.float32)
    no_tokens = np.empty(0, np.int32)
    return CorpusParts(
        names=NameTables(Vocabulary(), StringInterner(), StringInterner(), StringInterner()),
        rows=np.empty(0, ROW),
        tokens=CorpusTokens(ArrayPool(no_tokens), ArrayPool(no_tokens)),
        vectors=CorpusVectors(ArrayPool(no_vectors), ArrayPool(no_vectors.astype(np.int16))),
        entry_ids=[],
        conversation_ids=[],
        row_of={},
    )
