"""Updates of corpus parts. Each function returns new parts and leaves the old ones unchanged.

A changed text gets a new row at the end, and its old row becomes dead: every ranking
skips it. Dead rows are removed together once they are many.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recollect.embedding.port import Vector
from recollect.search.entries.corpus_parts import (
    MIXED_UNIT,
    ROW,
    CorpusParts,
    CorpusTokens,
    CorpusVectors,
    Ints,
    RowNumbers,
    Rows,
)
from recollect.search.ports import TextRow, VectorRow
from recollect.search.ranking.array_pool import ArrayPool

# The window's share of the mixed vector. An entry's own text says most about it.
WINDOW_SHARE = np.float32(0.3)
# Up to so many dead rows or vectors a compaction is not worth its copy.
_SPARE = 1_000
_BLOCK = 1_024


def remove_trees(parts: CorpusParts, gone: Collection[str]) -> CorpusParts:
    """Without the rows of these trees. Neighbours are always of the same tree, so the links of
    the remaining rows stay valid."""
    numbers = [number for tree in gone if (number := parts.names.trees.find(tree)) is not None]
    return _remove_rows(parts, np.flatnonzero(np.isin(parts.rows["tree"], numbers)))


def exclude_unranked(parts: CorpusParts, entry_ids: Collection[str]) -> CorpusParts:
    """Take entries out of every ranking, but leave them linked as neighbours of others."""
    return _remove_rows(parts, np.array([parts.row_of[id_] for id_ in entry_ids], np.int64))


def put_texts(parts: CorpusParts, texts: Sequence[TextRow]) -> CorpusParts:
    """With texts replaced or added. Each gets a new row without a vector; a row that the entry had
    before becomes dead.

    The token pools are shared with older corpora and only appended to. The row array is copied,
    because links and flags of existing rows change. All conversations with a new or a dead row are
    linked again.
    """
    # All tokens at once: one call of the vocabulary, one append to each pool.
    numbers = parts.names.words.intern(_split_terms(texts))
    fresh = _new_rows(parts, texts)
    old = np.array([parts.row_of.get(text.entry_id, -1) for text in texts], np.int64)
    first = len(parts.rows)
    tokens = _append_tokens(parts.tokens, numbers, fresh, first)
    rows = np.concatenate([parts.rows, fresh])
    replaced = old[old >= 0]
    _mark_dead(rows, replaced)
    _link_neighbours(rows, rows["conversation"][np.r_[replaced, first : len(rows)]])
    ids = [text.entry_id for text in texts]
    return replace(
        parts,
        rows=rows,
        tokens=tokens,
        entry_ids=[*parts.entry_ids, *ids],
        conversation_ids=[*parts.conversation_ids, *(text.conversation_id for text in texts)],
        row_of={**parts.row_of, **dict(zip(ids, range(first, len(rows)), strict=True))},
    )


def put_vectors(parts: CorpusParts, vectors: Sequence[VectorRow]) -> CorpusParts:
    """With vectors of entries, each of which must have a live row. The new vectors go to the end
    of the pools; a place that an entry used before is left to the next compaction."""
    own, own_room = parts.vectors.own.allocate(len(vectors))
    np.concatenate([vector.embedding for vector in vectors], out=own_room.reshape(-1))
    mixed, mixed_room = parts.vectors.mixed.allocate(len(vectors))
    _mix_vectors(
        own_room, [v.embedding if v.window is None else v.window for v in vectors], mixed_room
    )
    rows = parts.rows.copy()
    places = [parts.row_of[vector.entry_id] for vector in vectors]
    rows["vector"][places] = np.arange(len(parts.vectors.own), len(own))
    return replace(parts, rows=rows, vectors=CorpusVectors(own, mixed))


def compact_if_sparse(parts: CorpusParts) -> CorpusParts:
    """The same without dead rows and unused vectors, if more than half is of that kind."""
    vectors = int(np.count_nonzero(parts.rows["vector"] >= 0))
    few = (
        len(parts.rows) <= 2 * len(parts.row_of) + _SPARE
        and len(parts.vectors.own) <= 2 * vectors + _SPARE
    )
    return parts if few else _compact(parts)


def _mix_vectors(
    own: NDArray[np.float32], windows: Sequence[Vector], mixed: NDArray[np.int16]
) -> None:
    """Write weighted means of own and window vectors into `mixed`; in blocks, because the
    intermediate float arrays of all of them would take much memory."""
    for first in range(0, len(windows), _BLOCK):
        block = np.stack(windows[first : first + _BLOCK]).astype(np.float32)
        here = own[first : first + _BLOCK]
        both = here + WINDOW_SHARE * (block - here)
        mixed[first : first + _BLOCK] = np.rint(np.clip(both, -1, 1) * MIXED_UNIT)


def _split_terms(texts: Sequence[TextRow]) -> list[str]:
    joined = " ".join(text.terms for text in texts if text.terms)
    return joined.split(" ") if joined else []


def _new_rows(parts: CorpusParts, texts: Sequence[TextRow]) -> Rows:
    names = parts.names
    rows = np.zeros(len(texts), ROW)
    rows["id"] = [text.entry_id for text in texts]
    rows["tree"] = names.trees.intern([text.tree_id for text in texts])
    rows["conversation"] = names.conversations.intern([text.conversation_id for text in texts])
    rows["speaker"] = names.speakers.intern([text.speaker for text in texts])
    rows["seq"] = [text.seq for text in texts]
    rows["traits"] = [int(text.traits) for text in texts]
    rows["length"] = [text.terms.count(" ") + 1 if text.terms else 0 for text in texts]
    rows["head"] = np.minimum([text.head for text in texts], rows["length"])
    # An exclusive prefix sum: each text begins where the one before it ends.
    rows["start"] = len(parts.tokens.words) + np.cumsum(rows["length"]) - rows["length"]
    rows["live"] = True
    rows["before"] = rows["after"] = rows["vector"] = -1
    return rows


def _append_tokens(tokens: CorpusTokens, numbers: Ints, fresh: Rows, first: int) -> CorpusTokens:
    """Append the tokens of new rows, the first of which is row `first`."""
    # `place` is each token's index inside its own text, computed for all texts at once.
    start, length = fresh["start"] - len(tokens.words), fresh["length"]
    place = np.arange(len(numbers)) - np.repeat(start, length)
    behind_head = place >= np.repeat(fresh["head"], length)
    row = np.repeat(np.arange(first, first + len(fresh)), length)
    owners = (2 * row + behind_head).astype(np.int32)
    return CorpusTokens(tokens.words.concat(numbers), tokens.owners.concat(owners))


def _remove_rows(parts: CorpusParts, dead: RowNumbers) -> CorpusParts:
    rows = parts.rows.copy()
    _mark_dead(rows, dead)
    live = rows["live"].tolist()
    row_of = {entry_id: row for entry_id, row in parts.row_of.items() if live[row]}
    return replace(parts, rows=rows, row_of=row_of)


def _mark_dead(rows: Rows, dead: RowNumbers) -> None:
    rows["live"][dead] = False
    rows["vector"][dead] = -1


def _link_neighbours(rows: Rows, conversations: Ints) -> None:
    """Set `before` and `after` of all live rows of these conversations, in place.

    Rows are sorted by conversation and then by position. Two rows that follow each other in that
    order are neighbours if both are of one conversation.
    """
    inside = np.flatnonzero(np.isin(rows["conversation"], conversations) & rows["live"])
    linked = rows[inside]
    order = np.lexsort((linked["seq"], linked["conversation"]))
    inside, conversation = inside[order], linked["conversation"][order]
    together = conversation[1:] == conversation[:-1]
    rows["before"][inside] = -1
    rows["after"][inside] = -1
    rows["before"][inside[1:][together]] = inside[:-1][together]
    rows["after"][inside[:-1][together]] = inside[1:][together]


def _compact(parts: CorpusParts) -> CorpusParts:
    """Copy the live rows, and renumber what points to rows, tokens and vectors. A link to a dead
    row becomes -1."""
    live = np.flatnonzero(parts.rows["live"])
    number = np.full(len(parts.rows) + 1, -1, np.int32)  # the last one is for index -1
    number[live] = np.arange(len(live))
    rows = parts.rows[live]
    rows["before"], rows["after"] = number[rows["before"]], number[rows["after"]]
    rows["start"] = np.cumsum(rows["length"]) - rows["length"]
    has_vector = rows["vector"] >= 0
    places = rows["vector"][has_vector]
    rows["vector"][has_vector] = np.arange(len(places))
    pools = parts.vectors
    ids = [parts.entry_ids[row] for row in live.tolist()]
    return CorpusParts(
        names=parts.names,
        rows=rows,
        tokens=_compact_tokens(parts.tokens, number),
        vectors=CorpusVectors(
            ArrayPool(pools.own.rows[places]), ArrayPool(pools.mixed.rows[places])
        ),
        entry_ids=ids,
        conversation_ids=[parts.conversation_ids[row] for row in live.tolist()],
        row_of={entry_id: row for row, entry_id in enumerate(ids)},
    )


def _compact_tokens(tokens: CorpusTokens, number: Ints) -> CorpusTokens:
    # Owners are `2 * row + behind_head`: renumber the row and keep the lowest bit.
    owners = tokens.owners.rows
    row = number[owners >> 1]
    kept = row >= 0
    return CorpusTokens(
        ArrayPool(tokens.words.rows[kept]), ArrayPool(2 * row[kept] + (owners[kept] & 1))
    )
