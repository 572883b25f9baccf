"""All entries that a caller may search, as arrays: words, neighbours, traits and vectors.

Scores are computed over these arrays and nothing else, so they can't depend on a row the caller
may not see. A corpus never changes: an update gives another one, which shares what stayed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.domain import questions, words
from recollect.domain.ids import TreeId
from recollect.domain.search import Trait
from recollect.ports.search import TextRow, VectorRow
from recollect.services.ranking import growth
from recollect.services.ranking.parts import Ints, Names, Parts, Tokens, Vectors, no_parts

Flags = NDArray[np.bool_]

# About what a row and a word take outside of the arrays.
_ROW_BYTES = 350
_WORD_BYTES = 200


@dataclass(frozen=True, slots=True)
class Whole:
    """What a corpus that is a part of something larger has to know of all of it."""

    names: Collection[str]
    """By which a question may call speakers."""
    has_assistant: bool
    """Whether an assistant said something."""


class Corpus:
    """Entries by row number. Dead rows have numbers too, but no ranking gives them.

    What is a property here is by row, unless it says otherwise; -1 is no row and no place.
    """

    def __init__(self, parts: Parts, whole: Whole | None = None) -> None:
        self._parts = parts
        self._whole = whole

    @classmethod
    def build(
        cls, texts: Sequence[TextRow], vectors: Sequence[VectorRow], dimensions: int
    ) -> "Corpus":
        """A corpus of these texts; vectors of other entries are left out."""
        return cls(no_parts(dimensions)).updated(texts, vectors)

    def updated(
        self,
        texts: Sequence[TextRow],
        vectors: Sequence[VectorRow],
        *,
        gone: Collection[TreeId] = (),
    ) -> "Corpus":
        """Without the trees that are gone, then with these rows replaced or added.

        A text that comes again has no vectors until new ones come.
        """
        parts = growth.without_trees(self._parts, gone) if gone else self._parts
        if texts:
            latest = {text.entry_id: text for text in texts}
            parts = growth.with_texts(parts, list(latest.values()))
        known = {vector.entry_id: vector for vector in vectors if vector.entry_id in parts.row_of}
        if known:
            parts = growth.with_vectors(parts, list(known.values()))
        return Corpus(growth.tidied(parts))

    def as_part(self, whole: Whole, *, bystanders: Collection[str] = ()) -> "Corpus":
        """The same as a part of something larger, with the scores it would have there.

        That takes the neighbours of all it ranks: bystanders are there for that alone, and no
        ranking gives them.
        """
        return Corpus(growth.without_bystanders(self._parts, bystanders), whole)

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self._parts.row_of)

    @property
    def rows(self) -> int:
        """Number of rows, with the dead ones."""
        return len(self._parts.rows)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        arrays = (
            self._parts.rows,
            self.tokens.words.rows,
            self.tokens.owners.rows,
            self.vectors.own.rows,
            self.vectors.mixed.rows,
        )
        strings = _ROW_BYTES * self.rows + _WORD_BYTES * len(self.names.words)
        return sum(array.nbytes for array in arrays) + strings

    @property
    def entry_ids(self) -> Sequence[str]:
        """Ids of the entries."""
        return self._parts.entry_ids

    @property
    def conversation_ids(self) -> Sequence[str]:
        """Ids of the conversations they are in."""
        return self._parts.conversation_ids

    @property
    def names(self) -> Names:
        """Not by row: the numbers of words and ids."""
        return self._parts.names

    @property
    def tokens(self) -> Tokens:
        """Not by row: the words of all texts."""
        return self._parts.tokens

    @property
    def vectors(self) -> Vectors:
        """By place: a row says where its vectors are."""
        return self._parts.vectors

    @cached_property
    def ids(self) -> NDArray[np.bytes_]:
        """Ids of the entries, to sort by."""
        return self._column("id")

    @cached_property
    def live(self) -> Flags:
        """Whether it is an entry still."""
        return self._column("live")

    @cached_property
    def conversation(self) -> Ints:
        """Number of the conversation."""
        return self._column("conversation")

    @cached_property
    def speaker(self) -> Ints:
        """Number of the speaker; for an assistant's turn, of whom it answered."""
        return self._column("speaker")

    @cached_property
    def length(self) -> Ints:
        """Number of tokens."""
        return self._column("length")

    @cached_property
    def head(self) -> Ints:
        """How many of them a neighbour looks at."""
        return self._column("head")

    @cached_property
    def before(self) -> Ints:
        """The row before it in its conversation."""
        return self._column("before")

    @cached_property
    def after(self) -> Ints:
        """The row after it in its conversation."""
        return self._column("after")

    @cached_property
    def place(self) -> Ints:
        """Where its vectors are."""
        return self._column("vector")

    @cached_property
    def by_assistant(self) -> Flags:
        """Whether an assistant said it."""
        return self._has(Trait.ASSISTANT)

    @cached_property
    def tells_time(self) -> Flags:
        """Whether it says when."""
        return self._has(Trait.TIME)

    @cached_property
    def asks_a_person(self) -> Flags:
        """Whether it is a question that one person puts to another.

        That is about the other, and its answer follows. What is asked of an assistant tells about
        the asker, and an assistant's closing question says nothing of the text before it.
        """
        by_assistant: Flags = np.append(self.by_assistant, False)  # for -1: nobody
        return self._has(Trait.QUESTION) & ~self.by_assistant & ~by_assistant[self.after]

    @cached_property
    def speakers(self) -> Mapping[str, str]:
        """Not by row: by which name a question may call whom; of namesakes the first by id."""
        return {name: ids[0] for name, ids in self._speakers_by_name.items()}

    @cached_property
    def speaker_stems(self) -> Collection[str]:
        """Not by row: the names of speakers as the words of a question hold them."""
        names = self.speakers if self._whole is None else self._whole.names
        return {words.stem(name) for name in names}

    @property
    def has_assistant(self) -> bool:
        """Not by row: whether an assistant said something."""
        if self._whole is not None:
            return self._whole.has_assistant
        return bool((self.by_assistant & self.live).any())

    def said_by(self, user_id: str, *, or_namesake: bool) -> Flags:
        """Whether this person said it, or anybody whom the same name calls."""
        ids = {user_id}
        if or_namesake:
            for name in questions.speaker_names(user_id):
                ids.update(self._speakers_by_name.get(name, ()))
        numbers = [self.names.speakers.find(id_) for id_ in ids]
        known = [number for number in numbers if number is not None]
        said: Flags = np.isin(self.speaker, known)
        return said & ~self.by_assistant

    @cached_property
    def _speakers_by_name(self) -> Mapping[str, Sequence[str]]:
        numbers = np.unique(self.speaker[self.live & ~self.by_assistant])
        found: dict[str, list[str]] = {}
        for user_id in sorted(self.names.speakers.names[number] for number in numbers):
            for name in questions.speaker_names(user_id):
                found.setdefault(name, []).append(user_id)
        return found

    def _column(self, name: str) -> NDArray[Any]:
        return np.ascontiguousarray(self._parts.rows[name])

    def _has(self, trait: Trait) -> Flags:
        traits: NDArray[np.uint8] = self._column("traits")
        return (traits & np.uint8(trait)) > 0
