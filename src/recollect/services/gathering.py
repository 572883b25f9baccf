"""Candidates in a scope that is too large to rank as a whole: what the indexes find, as a small
corpus that is ranked like any other. Which entries are in it may be an approximation; the scores
of those that are there are what they would be among all.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from recollect.domain import questions, words
from recollect.domain.frequencies import idf
from recollect.domain.ids import EntryId
from recollect.domain.questions import Question
from recollect.domain.search import SearchType, Stage
from recollect.errors import Unavailable
from recollect.policy.scope import Reach
from recollect.ports.database import Database, Tx
from recollect.ports.search import (
    SearchScope,
    SearchStore,
    TextRow,
    Vector,
    VectorIndex,
    VectorRow,
    prefix_query,
    stem_query,
)
from recollect.services.ranking import lexical
from recollect.services.ranking.corpus import Corpus, Whole
from recollect.services.ranking.fulltext import rank_fulltext

_BATCH = 5_000
_EVERY_TREE = 2**62
# A walk through full-text results ends behind the best of so many.
_MATCHES_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Speakers:
    """Who is in a large scope, as far as a question names them."""

    ids: Mapping[str, str]
    """By name; of namesakes the first by id."""
    assistant: bool


NOBODY = Speakers({}, assistant=False)


@dataclass(frozen=True, slots=True)
class Gathered:
    """A corpus of candidates, and the stages that could not propose any."""

    corpus: Corpus
    failed: Sequence[Stage]


class Gathering:
    """Asks the indexes of the database, or the vector database beside it.

    Words have no failure of their own: they are in the database, without which nothing is found.
    """

    def __init__(
        self,
        database: Database,
        store: SearchStore,
        beside: VectorIndex | None,
        *,
        model: str,
        dimensions: int,
        candidates: int,
    ) -> None:
        self._database = database
        self._store = store
        self._beside = beside
        self._model = model
        self._dimensions = dimensions
        self._candidates = candidates

    async def speakers(self, scope: SearchScope, text: str) -> Speakers:
        """Those whom the text may name."""
        found = await self._database.scan(lambda tx: self._store.voices(tx, scope))
        ids: dict[str, str] = {}
        for user_id in sorted(_perhaps_named(found.user_ids, text)):
            for name in questions.speaker_names(user_id):
                ids.setdefault(name, user_id)
        return Speakers(ids, found.assistant)

    async def gather(
        self,
        scope: SearchScope,
        type_: SearchType,
        question: Question,
        vector: Vector | None,
        speakers: Speakers,
    ) -> Gathered:
        """Full-text matches for `fulltext`; else the best by words and by meaning."""
        whole = Whole(speakers.ids, speakers.assistant)
        if type_ is SearchType.FULLTEXT:
            corpus = await self._database.scan(lambda tx: self._matches(tx, scope, question.text))
            return Gathered(corpus, ())
        stems = question.words if type_ is SearchType.AUTO else ()
        near, failed = await self._near_beside(scope, vector)

        def work(tx: Tx) -> Corpus:
            fitting = self._fitting(tx, scope, stems, whole)
            nearest = self._near(tx, scope, vector) if near is None else near
            corpus, complete = self._with_neighbours(tx, scope, fitting, nearest)
            ranked = {*nearest, *self._best(corpus.as_part(whole), stems, complete)}
            vectors = self._vectors(tx, scope, ranked)
            bystanders = set(corpus.entry_ids) - ranked
            return corpus.updated((), vectors).as_part(whole, bystanders=bystanders)

        return Gathered(await self._database.scan(work), failed)

    def _matches(self, tx: Tx, scope: SearchScope, text: str) -> Corpus:
        """All of them, or the best of very many."""
        tokens = words.query_tokens(text)
        found: list[TextRow] = []
        for rows in self._batches(tx, scope, prefix_query(tokens)) if tokens else ():
            found += rows
            if len(found) >= 2 * _MATCHES_MAX:
                best = rank_fulltext(self._corpus(found), text).rows[:_MATCHES_MAX]
                found = [found[row] for row in best.tolist()]
        return self._corpus(found)

    def _fitting(
        self, tx: Tx, scope: SearchScope, stems: Sequence[str], whole: Whole
    ) -> list[EntryId]:
        """The best by their words, as far as can be told without most of their neighbours."""
        query = stem_query(_looked_at(stems, whole))
        best: list[tuple[float, str]] = []
        for rows in self._batches(tx, scope, query) if query else ():
            corpus = self._corpus(rows).as_part(whole)
            scores = lexical.fit(corpus, stems).scores.tolist()
            found = zip(scores, corpus.entry_ids, strict=True)
            best = nlargest(self._candidates, [*best, *found])
        return [EntryId(entry_id) for _, entry_id in best]

    def _near(self, tx: Tx, scope: SearchScope, vector: Vector | None) -> list[EntryId]:
        if vector is None:
            return []
        return self._store.nearest(tx, scope, vector, model=self._model, limit=self._candidates)

    async def _near_beside(
        self, scope: SearchScope, vector: Vector | None
    ) -> tuple[list[EntryId] | None, Sequence[Stage]]:
        """What the vector database proposes; None if there is none to be asked."""
        if vector is None or self._beside is None:
            return None, ()
        trees = None
        if not _is_everything(scope):
            found = await self._database.scan(
                lambda tx: self._store.trees(tx, scope, limit=_EVERY_TREE)
            )
            trees = [tree.tree_id for tree in found]
        try:
            return await self._beside.nearest(trees, vector, limit=self._candidates), ()
        except Unavailable:
            return [], [Stage.VECTORS]

    def _with_neighbours(
        self, tx: Tx, scope: SearchScope, fitting: Sequence[EntryId], near: Sequence[EntryId]
    ) -> tuple[Corpus, set[str]]:
        """Whoever proposed an entry, it is read under the scope. What stands beside one that fits
        does so a little itself. The set is of those whose neighbours, too, are all there."""
        texts = self._store.texts_around(tx, scope, fitting)
        complete: set[str] = {text.entry_id for text in texts}
        further = {EntryId(entry_id) for entry_id in complete.difference(fitting)}.union(near)
        texts += self._store.texts_around(tx, scope, list(further))
        return self._corpus(texts), complete

    def _best(self, corpus: Corpus, stems: Sequence[str], among: set[str]) -> list[EntryId]:
        """The best by words, their neighbours' among them."""
        scores = lexical.fit(corpus, stems).scores.tolist()
        found = [
            (score, entry_id)
            for score, entry_id in zip(scores, corpus.entry_ids, strict=True)
            if score > 0 and entry_id in among
        ]
        return [EntryId(entry_id) for _, entry_id in nlargest(self._candidates, found)]

    def _vectors(self, tx: Tx, scope: SearchScope, ids: Iterable[EntryId]) -> list[VectorRow]:
        if not self._model:
            return []
        return self._store.vectors_at(tx, scope, list(ids), model=self._model)

    def _batches(self, tx: Tx, scope: SearchScope, query: str) -> Iterator[list[TextRow]]:
        after: int | None = 0
        while after is not None:
            rows, after = self._store.texts_matching(
                tx, scope, query, after_doc=after, limit=_BATCH
            )
            yield rows

    def _corpus(self, texts: Sequence[TextRow]) -> Corpus:
        return Corpus.build(texts, (), self._dimensions)


def _looked_at(stems: Sequence[str], whole: Whole) -> list[str]:
    """The stems that a score looks at: of many, the rarest, and a name is less rare than any."""
    names = {words.stem(name) for name in whole.names}
    others = sorted(set(stems) - names, key=lambda stem: (-idf(stem), stem))
    return [*others[: lexical.WORDS_MAX], *names.intersection(stems)]


def _is_everything(scope: SearchScope) -> bool:
    all_trees = scope.scope.reach is Reach.EVERYTHING and scope.include_deleted
    return all_trees and scope.owner_user_id is None


def _perhaps_named(user_ids: Sequence[str], text: str) -> Iterator[str]:
    """Those whose name may be a word of the text, or have its stem: both begin alike. To read the
    names of all would take long where there are many."""
    beginnings = {token[:2] for token in words.query_tokens(text)}
    for user_id in user_ids:
        begins = _FIRST_LETTERS.search(user_id.lower())
        if not user_id.isascii() or (begins and begins[0] in beginnings):
            yield user_id


_FIRST_LETTERS = re.compile("[a-z0-9]{1,2}")
