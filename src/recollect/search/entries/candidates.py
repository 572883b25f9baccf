"""Candidates for a scope that is too large to be ranked as a whole.

The indexes propose entries, which become a small corpus and are ranked like any other. Which
entries are proposed may be an approximation; the scores of those are what they would be among all.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from recollect.db.transaction import Database, Tx
from recollect.embedding.port import Vector
from recollect.identity.scope import ScopeReach
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import EntryId
from recollect.search import query as questions
from recollect.search.entries.corpus import Corpus, WholeScope
from recollect.search.model import EntrySearchComponent, SearchType
from recollect.search.ports import (
    SearchScope,
    SearchStore,
    TextRow,
    VectorIndex,
    VectorRow,
    prefix_query,
    stem_query,
)
from recollect.search.query import Question
from recollect.search.ranking import bm25
from recollect.search.ranking.prefix_match import rank_fulltext
from recollect.text import tokens as words
from recollect.text.word_frequency import idf

_BATCH = 5_000
_EVERY_TREE = 2**62
# Full-text results can be paged up to this many matches, the best ones.
_MATCHES_MAX = 100_000


@dataclass(frozen=True, slots=True)
class NamedSpeakers:
    """The speakers of a large scope whom a question may name."""

    ids: Mapping[str, str]
    """Speaker ids by name; of several people with one name the first by id."""
    assistant: bool


NO_SPEAKERS = NamedSpeakers({}, assistant=False)


@dataclass(frozen=True, slots=True)
class EntryCandidates:
    """A corpus of candidates, and the components that failed to propose any."""

    corpus: Corpus
    failed: Sequence[EntrySearchComponent]


class EntryCandidateFinder:
    """Gathers candidates from the database's indexes and, if configured, from a vector database.

    Only the vector database can fail alone. If our own database fails, so does the search.
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

    async def find_speakers(self, scope: SearchScope, text: str) -> NamedSpeakers:
        """The speakers of the scope whose names may occur in the text."""
        found = await self._database.scan(lambda tx: self._store.scope_speakers(tx, scope))
        ids: dict[str, str] = {}
        for user_id in sorted(_possibly_named(found.user_ids, text)):
            for name in questions.speaker_names(user_id):
                ids.setdefault(name, user_id)
        return NamedSpeakers(ids, found.assistant)

    async def gather(
        self,
        scope: SearchScope,
        type_: SearchType,
        question: Question,
        vector: Vector | None,
        speakers: NamedSpeakers,
    ) -> EntryCandidates:
        """The candidates: all matches for `fulltext`, else the best by words and by vector.

        A word score includes the neighbours' heads, and neighbours are not known until they are
        read. So words are scored twice. First each batch of index matches is scored with whatever
        neighbours the batch happens to contain, to choose the best. Then their neighbours, and the
        neighbours of these, are loaded, and every entry whose neighbours are complete is scored
        again, now exactly. Entries that are loaded only as neighbours stay in the corpus as
        bystanders and are not ranked.

        Ids from the vector database are proposals only. It has no transaction with ours and may
        be ahead, behind or wrong; texts and vectors are read from our tables, under the scope.
        """
        whole = WholeScope(speakers.ids, speakers.assistant)
        if type_ is SearchType.FULLTEXT:
            corpus = await self._database.scan(
                lambda tx: self._fulltext_matches(tx, scope, question.text)
            )
            return EntryCandidates(corpus, ())
        stems = question.words if type_ is SearchType.AUTO else ()
        near, failed = await self._nearest_in_vector_index(scope, vector)

        def work(tx: Tx) -> Corpus:
            # One snapshot for all reads, so that neighbours and revisions belong together.
            fitting = self._best_by_words(tx, scope, stems, whole)
            nearest = self._nearest_entries(tx, scope, vector) if near is None else near
            corpus, complete = self._load_neighbours(tx, scope, fitting, nearest)
            ranked = {*nearest, *self._rescore_by_words(corpus.as_part(whole), stems, complete)}
            vectors = self._load_vectors(tx, scope, ranked)
            # Vectors are read for ranked entries only; bystanders contribute their words.
            bystanders = set(corpus.entry_ids) - ranked
            return corpus.with_updates((), vectors).as_part(whole, bystanders=bystanders)

        return EntryCandidates(await self._database.scan(work), failed)

    def _fulltext_matches(self, tx: Tx, scope: SearchScope, text: str) -> Corpus:
        """All full-text matches, or the best of very many: whenever there are twice as many as
        allowed, the better half is kept."""
        tokens = words.query_tokens(text)
        found: list[TextRow] = []
        for rows in self._text_batches(tx, scope, prefix_query(tokens)) if tokens else ():
            found += rows
            if len(found) >= 2 * _MATCHES_MAX:
                best = rank_fulltext(self._build_corpus(found), text).rows[:_MATCHES_MAX]
                found = [found[row] for row in best.tolist()]
        return self._build_corpus(found)

    def _best_by_words(
        self, tx: Tx, scope: SearchScope, stems: Sequence[str], whole: WholeScope
    ) -> list[EntryId]:
        """The best by words, scored without most of their neighbours: see `gather`."""
        query = stem_query(_scored_stems(stems, whole))
        best: list[tuple[float, str]] = []
        for rows in self._text_batches(tx, scope, query) if query else ():
            corpus = self._build_corpus(rows).as_part(whole)
            scores = bm25.score_words(corpus, stems).scores.tolist()
            found = zip(scores, corpus.entry_ids, strict=True)
            best = nlargest(self._candidates, [*best, *found])
        return [EntryId(entry_id) for _, entry_id in best]

    def _nearest_entries(self, tx: Tx, scope: SearchScope, vector: Vector | None) -> list[EntryId]:
        if vector is None:
            return []
        return self._store.nearest_entries(
            tx, scope, vector, model=self._model, limit=self._candidates
        )

    async def _nearest_in_vector_index(
        self, scope: SearchScope, vector: Vector | None
    ) -> tuple[list[EntryId] | None, Sequence[EntrySearchComponent]]:
        """What the vector database proposes; None without a vector database or a vector. It knows
        no permissions, so it gets the permitted trees as a filter, unless all trees are."""
        if vector is None or self._beside is None:
            return None, ()
        trees = None
        if not _is_unrestricted(scope):
            found = await self._database.scan(
                lambda tx: self._store.tree_states(tx, scope, limit=_EVERY_TREE)
            )
            trees = [tree.tree_id for tree in found]
        try:
            return await self._beside.nearest_entries(trees, vector, limit=self._candidates), ()
        except Unavailable:
            # Not None, which would make the caller ask our own database for the nearest vectors:
            # the search goes on by words and reports the failure.
            return [], [EntrySearchComponent.VECTORS]

    def _load_neighbours(
        self, tx: Tx, scope: SearchScope, fitting: Sequence[EntryId], near: Sequence[EntryId]
    ) -> tuple[Corpus, set[str]]:
        """A corpus of the proposed entries with their neighbours, read under the scope; and the ids
        of those whose own neighbours are all in it.

        A neighbour of a good match scores a little itself, so it is a candidate too, and needs its
        neighbours as well: hence the second read.
        """
        texts = self._store.texts_with_neighbours(tx, scope, fitting)
        complete: set[str] = {text.entry_id for text in texts}
        further = {EntryId(entry_id) for entry_id in complete.difference(fitting)}.union(near)
        texts += self._store.texts_with_neighbours(tx, scope, list(further))
        return self._build_corpus(texts), complete

    def _rescore_by_words(
        self, corpus: Corpus, stems: Sequence[str], among: set[str]
    ) -> list[EntryId]:
        """The best by exact word score, among entries whose neighbours are complete."""
        scores = bm25.score_words(corpus, stems).scores.tolist()
        found = [
            (score, entry_id)
            for score, entry_id in zip(scores, corpus.entry_ids, strict=True)
            if score > 0 and entry_id in among
        ]
        return [EntryId(entry_id) for _, entry_id in nlargest(self._candidates, found)]

    def _load_vectors(self, tx: Tx, scope: SearchScope, ids: Iterable[EntryId]) -> list[VectorRow]:
        if not self._model:
            return []
        return self._store.vectors_by_ids(tx, scope, list(ids), model=self._model)

    def _text_batches(self, tx: Tx, scope: SearchScope, query: str) -> Iterator[list[TextRow]]:
        after: int | None = 0
        while after is not None:
            rows, after = self._store.texts_matching(
                tx, scope, query, after_doc=after, limit=_BATCH
            )
            yield rows

    def _build_corpus(self, texts: Sequence[TextRow]) -> Corpus:
        return Corpus.build(texts, (), self._dimensions)


def _scored_stems(stems: Sequence[str], whole: WholeScope) -> list[str]:
    """The stems to ask the index for: those that `score_words` would use. Names of speakers come
    last there, as their rarity is bounded, but are asked for in any case."""
    names = {words.stem(name) for name in whole.names}
    others = sorted(set(stems) - names, key=lambda stem: (-idf(stem), stem))
    return [*others[: bm25.WORDS_MAX], *names.intersection(stems)]


def _is_unrestricted(scope: SearchScope) -> bool:
    all_trees = scope.scope.reach is ScopeReach.EVERYTHING and scope.include_deleted
    return all_trees and scope.owner_user_id is None


def _possibly_named(user_ids: Sequence[str], text: str) -> Iterator[str]:
    """A cheap filter: ids whose first two letters begin a word of the text. A word and its stem
    begin alike, so no match is lost. Parsing the names of all ids would be slow in large scopes."""
    beginnings = {token[:2] for token in words.query_tokens(text)}
    for user_id in user_ids:
        begins = _FIRST_LETTERS.search(user_id.lower())
        if not user_id.isascii() or (begins and begins[0] in beginnings):
            yield user_id


_FIRST_LETTERS = re.compile("[a-z0-9]{1,2}")
