"""A corpus: all entries that a caller may search, as numpy arrays of words, neighbours, traits and
vectors.

Scores are computed from these arrays alone, so they can't depend on a row that the caller may not
see. A corpus is immutable: an update returns another one, which shares the unchanged arrays.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.kernel.ids import TreeId
from recollect.search import query
from recollect.search.entries import corpus_update
from recollect.search.entries.corpus_parts import (
    CorpusParts,
    CorpusTokens,
    CorpusVectors,
    Ints,
    NameTables,
    empty_parts,
)
from recollect.search.model import EntryTrait
from recollect.search.ports import TextRow, VectorRow
from recollect.text import tokens as words

Flags = NDArray[np.bool_]

# Estimated memory of a row and of a word outside the arrays.
_ROW_BYTES = 350
_WORD_BYTES = 200


@dataclass(frozen=True, slots=True)
class WholeScope:
    """What a corpus of candidates has to know of the whole scope that they were taken from, so
    that its scores equal those of a corpus of everything."""

    names: Collection[str]
    """Names by which a question may refer to speakers."""
    has_assistant: bool
    """Whether the scope has entries of an assistant."""


class Corpus:
    """Entries by row number. A replaced or removed entry leaves a dead row, which keeps its number
    but never appears in a ranking.

    Properties are arrays indexed by row unless their docstring says otherwise. In arrays of row
    numbers and vector places, -1 means none. Several functions append one element to an array
    before they index it with such numbers: -1 then selects that last, neutral element.
    """

    def __init__(self, parts: CorpusParts, whole: WholeScope | None = None) -> None:
        self._parts = parts
        self._whole = whole

    @classmethod
    def build(
        cls, texts: Sequence[TextRow], vectors: Sequence[VectorRow], dimensions: int
    ) -> "Corpus":
        """A corpus of these texts; vectors of other entries are left out."""
        return cls(empty_parts(dimensions)).with_updates(texts, vectors)

    def with_updates(
        self,
        texts: Sequence[TextRow],
        vectors: Sequence[VectorRow],
        *,
        gone: Collection[TreeId] = (),
    ) -> "Corpus":
        """Another corpus: first without the trees in `gone`, then with these rows replaced or
        added. The order matters: a tree whose id was reused is both gone and new.

        A replaced text loses its vectors, because they belong to the old text. Vectors of entries
        that are not in the corpus are ignored.
        """
        parts = corpus_update.remove_trees(self._parts, gone) if gone else self._parts
        if texts:
            latest = {text.entry_id: text for text in texts}
            parts = corpus_update.put_texts(parts, list(latest.values()))
        known = {vector.entry_id: vector for vector in vectors if vector.entry_id in parts.row_of}
        if known:
            parts = corpus_update.put_vectors(parts, list(known.values()))
        return Corpus(corpus_update.compact_if_sparse(parts))

    def as_part(self, whole: WholeScope, *, unranked: Collection[str] = ()) -> "Corpus":
        """The same rows as candidates out of a whole scope, with the scores they would have there.

        Scores depend on neighbours, so the neighbours of each candidate must be in the corpus too.
        `unranked` are entries that are present only as neighbours; they are never ranked.
        """
        return Corpus(corpus_update.exclude_unranked(self._parts, unranked), whole)

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self._parts.row_of)

    @property
    def row_count(self) -> int:
        """Number of rows, dead ones included."""
        return len(self._parts.rows)

    @property
    def nbytes(self) -> int:
        """Estimated memory use."""
        arrays = (
            self._parts.rows,
            self.tokens.words.rows,
            self.tokens.owners.rows,
            self.vectors.own.rows,
            self.vectors.mixed.rows,
        )
        strings = _ROW_BYTES * self.row_count + _WORD_BYTES * len(self.names.words)
        return sum(array.nbytes for array in arrays) + strings

    @property
    def entry_ids(self) -> Sequence[str]:
        """Ids of the entries."""
        return self._parts.entry_ids

    @property
    def conversation_ids(self) -> Sequence[str]:
        """Ids of the entries' conversations."""
        return self._parts.conversation_ids

    @property
    def names(self) -> NameTables:
        """Not by row: the tables that number words and ids."""
        return self._parts.names

    @property
    def tokens(self) -> CorpusTokens:
        """Not by row: the words of all texts."""
        return self._parts.tokens

    @property
    def vectors(self) -> CorpusVectors:
        """By vector place, not by row: `vector_place` maps a row to its place."""
        return self._parts.vectors

    @cached_property
    def ids(self) -> NDArray[np.bytes_]:
        """Ids of the entries as an array, to sort by."""
        return self._column("id")

    @cached_property
    def is_live(self) -> Flags:
        """Whether the row is not dead."""
        return self._column("live")

    @cached_property
    def conversation(self) -> Ints:
        """Number of the conversation."""
        return self._column("conversation")

    @cached_property
    def speaker(self) -> Ints:
        """Number of the speaker; for an assistant's entry, of the user it answered."""
        return self._column("speaker")

    @cached_property
    def length(self) -> Ints:
        """Number of tokens."""
        return self._column("length")

    @cached_property
    def head(self) -> Ints:
        """Number of tokens at the start that also count, for less, for the neighbours."""
        return self._column("head")

    @cached_property
    def previous_row(self) -> Ints:
        """The previous row in the conversation."""
        return self._column("before")

    @cached_property
    def next_row(self) -> Ints:
        """The next row in the conversation."""
        return self._column("after")

    @cached_property
    def vector_place(self) -> Ints:
        """Place of the entry's vectors in `vectors`."""
        return self._column("vector")

    @cached_property
    def is_by_assistant(self) -> Flags:
        """Whether an assistant said it."""
        return self._has_trait(EntryTrait.ASSISTANT)

    @cached_property
    def has_time(self) -> Flags:
        """Whether the text mentions a time."""
        return self._has_trait(EntryTrait.TIME)

    @cached_property
    def is_question_to_person(self) -> Flags:
        """Whether the entry is a question that one person asks another.

        Such a question seldom answers anything itself, but the next entry often does. Questions to
        an assistant are excluded, as they tell a lot about the asker. So are an assistant's own
        questions: the one that closes a long answer says nothing about the text before it.
        """
        # The appended False is for rows without a next row (-1).
        by_assistant: Flags = np.append(self.is_by_assistant, False)
        return (
            self._has_trait(EntryTrait.QUESTION)
            & ~self.is_by_assistant
            & ~by_assistant[self.next_row]
        )

    @cached_property
    def speakers(self) -> Mapping[str, str]:
        """Not by row: speaker ids by name; of several people with one name the first by id."""
        return {name: ids[0] for name, ids in self._speakers_by_name.items()}

    @cached_property
    def speaker_stems(self) -> Collection[str]:
        """Not by row: the stems of all speakers' names, as they occur in a question's words."""
        names = self.speakers if self._whole is None else self._whole.names
        return {words.stem(name) for name in names}

    @property
    def has_assistant(self) -> bool:
        """Not by row: whether the scope has entries of an assistant."""
        if self._whole is not None:
            return self._whole.has_assistant
        return bool((self.is_by_assistant & self.is_live).any())

    def is_said_by(self, user_id: str, *, or_namesake: bool) -> Flags:
        """Whether this user wrote the entry, or, with `or_namesake`, anybody of the same name."""
        ids = {user_id}
        if or_namesake:
            for name in query.speaker_names(user_id):
                ids.update(self._speakers_by_name.get(name, ()))
        numbers = [self.names.speakers.find(id_) for id_ in ids]
        known = [number for number in numbers if number is not None]
        is_theirs: Flags = np.isin(self.speaker, known)
        return is_theirs & ~self.is_by_assistant

    @cached_property
    def _speakers_by_name(self) -> Mapping[str, Sequence[str]]:
        numbers = np.unique(self.speaker[self.is_live & ~self.is_by_assistant])
        found: dict[str, list[str]] = {}
        for user_id in sorted(self.names.speakers.names[number] for number in numbers):
            for name in query.speaker_names(user_id):
                found.setdefault(name, []).append(user_id)
        return found

    def _column(self, name: str) -> NDArray[Any]:
        # A field of a structured array is strided; computing with a contiguous copy is faster.
        return np.ascontiguousarray(self._parts.rows[name])

    def _has_trait(self, trait: EntryTrait) -> Flags:
        traits: NDArray[np.uint8] = self._column("traits")
        return (traits & np.uint8(trait)) > 0
