"""Small corpora for tests of ranking: who said what, and in which direction its vector points."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from recollect.embedding.port import Vector
from recollect.kernel.ids import ConversationId, EntryId, TreeId
from recollect.search import query
from recollect.search.entries.corpus import Corpus
from recollect.search.entries.rank import RankingOptions, rank_auto
from recollect.search.model import index_words
from recollect.search.ports import TextRow, VectorRow
from recollect.search.ranking.order import RankedRows

DIMENSIONS = 8


@dataclass(frozen=True)
class SampleText:
    """A turn. Its number is its id and, if it has no other, its position."""

    number: int
    text: str
    by: str = "ann@example.org"
    chat: int = 1
    seq: int | None = None
    assistant: bool = False
    vector: Vector | None = None
    window: Vector | None = None


def entry_id(number: int) -> EntryId:
    return EntryId(str(UUID(int=number)))


def chat_id(number: int) -> ConversationId:
    return ConversationId(str(UUID(int=1_000_000 + number)))


def tree_id(chat: int) -> TreeId:
    return TreeId(chat_id(chat))


def towards(*parts: float) -> Vector:
    """The unit vector in this direction."""
    vector = np.zeros(DIMENSIONS, np.float32)
    vector[: len(parts)] = parts
    return vector / np.float32(np.linalg.norm(vector))


def a_text(said: SampleText) -> TextRow:
    indexed = index_words(said.text).with_speaker_trait(assistant=said.assistant)
    return TextRow(
        entry_id=entry_id(said.number),
        tree_id=tree_id(said.chat),
        conversation_id=chat_id(said.chat),
        seq=said.number if said.seq is None else said.seq,
        speaker=said.by,
        traits=indexed.traits,
        head=indexed.head,
        terms=indexed.terms,
    )


def texts(said: Sequence[SampleText]) -> list[TextRow]:
    return [a_text(turn) for turn in said]


def vectors(said: Sequence[SampleText]) -> list[VectorRow]:
    return [
        VectorRow(entry_id(turn.number), turn.vector, turn.window)
        for turn in said
        if turn.vector is not None
    ]


def a_corpus(*said: SampleText) -> Corpus:
    return Corpus.build(texts(said), vectors(said), DIMENSIONS)


def ask(
    corpus: Corpus,
    question: str,
    vector: Vector | None = None,
    *,
    caller: str = "ann@example.org",
    options: RankingOptions | None = None,
) -> RankedRows:
    asked = query.parse_question(question, corpus.speakers)
    return rank_auto(corpus, asked, vector, caller, options or RankingOptions())


def numbers(corpus: Corpus, ranked: RankedRows) -> list[int]:
    """What was found, best first."""
    return [UUID(corpus.entry_ids[row]).int for row in ranked.rows]


def scores(corpus: Corpus, ranked: RankedRows) -> dict[int, float]:
    return dict(zip(numbers(corpus, ranked), ranked.scores.tolist(), strict=True))


def shown(corpus: Corpus, ranked: RankedRows) -> list[tuple[int, float, bool]]:
    """All that a caller can notice of a ranking."""
    return list(
        zip(numbers(corpus, ranked), ranked.scores.tolist(), ranked.matched.tolist(), strict=True)
    )
