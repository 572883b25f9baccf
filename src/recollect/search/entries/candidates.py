"""Candidates for a scope that is too large to be ranked as a whole.

The indexes propose entries, which become a small corpus and are ranked like any other. Which
entries are proposed may be an approximation; the scores of those are what they would be among all.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from recollect.db.transaction import Database, Tx
from recollect.embedding.port import Vector
from recollect.identity.scope import ScopeReach
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import EntryId
from recollect.search import query as questions
from recollect.search.entries.corpus import Corpus, WholeScope
from recollect.search.model import EntrySearchComponent
from recollect.search.ports import (
    SearchScope,
    SearchStore,
    TextRow,
    VectorIndex,
    prefix_query,
    stem_query,
)
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
class EntryCandidateCriteria:
    """What candidates are chosen by. At most `limit` are chosen by `stems`, and as many by the
    vector: those in `near` if a vector database proposed any, else the nearest in our own tables.
    `model` and `dimensions` are those of the vectors; an empty model means that there are none."""

    scope: SearchScope
    stems: Sequence[str]
    vector: Vector | None
    near: Sequence[EntryId] | None
    speakers: NamedSpeakers
    model: str
    dimensions: int
    limit: int

    @property
    def whole_scope(self) -> WholeScope:
        """What the scores of candidates have to know of their scope."""
        return WholeScope(self.speakers.ids, self.speakers.assistant)


def find_speakers(tx: Tx, store: SearchStore, scope: SearchScope, text: str) -> NamedSpeakers:
    """The speakers of the scope whose names may occur in the text."""
    found = store.scope_speakers(tx, scope)
    ids: dict[str, str] = {}
    for user_id in sorted(_possibly_named(found.user_ids, text)):
        for name in questions.speaker_names(user_id):
            ids.setdefault(name, user_id)
    return NamedSpeakers(ids, found.assistant)


def find_fulltext_matches(
    tx: Tx,
    store: SearchStore,
    scope: SearchScope,
    text: str,
    *,
    dimensions: int,
    whole_words: bool = False,
) -> Corpus:
    """All full-text matches, or the best of very many: whenever there are twice as many as allowed,
    the better half is kept."""
    tokens = words.query_tokens(text)
    found: list[TextRow] = []
    for rows in _read_batches(tx, store, scope, prefix_query(tokens)) if tokens else ():
        found += rows
        if len(found) >= 2 * _MATCHES_MAX:
            corpus = Corpus.build(found, (), dimensions)
            best = rank_fulltext(corpus, text, whole_words=whole_words).rows[:_MATCHES_MAX]
            found = [found[row] for row in best.tolist()]
    return Corpus.build(found, (), dimensions)


def find_candidates(tx: Tx, store: SearchStore, criteria: EntryCandidateCriteria) -> Corpus:
    """The best by words and by vector, as a corpus.

    A word score includes the neighbours' heads, and neighbours are not known until they are read.
    So words are scored twice. First each batch of index matches is scored with whatever neighbours
    the batch happens to contain, to choose the best. Then their neighbours, and the neighbours of
    these, are loaded, and every entry whose neighbours are complete is scored again, now exactly.
    Entries that are loaded only as neighbours stay in the corpus and are not ranked.

    Ids from the vector database are proposals only. It has no transaction with ours and may be
    ahead, behind or wrong; texts and vectors are read from our tables, under the scope. All reads
    are of one snapshot, so that neighbours and revisions belong together.
    """
    scope, whole, near = criteria.scope, criteria.whole_scope, criteria.near
    best_by_words = _best_by_words(tx, store, criteria)
    if near is None:
        near = (
            store.nearest_entries(
                tx, scope, criteria.vector, model=criteria.model, limit=criteria.limit
            )
            if criteria.vector is not None
            else []
        )
    # A neighbour of a good match scores a little itself, so it is a candidate too, and needs its
    # neighbours as well: hence the second read.
    texts = store.texts_with_neighbours(tx, scope, best_by_words)
    complete: set[str] = {text.entry_id for text in texts}
    further = {EntryId(entry_id) for entry_id in complete.difference(best_by_words)}.union(near)
    texts += store.texts_with_neighbours(tx, scope, list(further))
    corpus = Corpus.build(texts, (), criteria.dimensions)
    best = _rescore_by_words(corpus.as_part(whole), criteria, complete)
    ranked = {*near, *best}
    # Vectors are read for ranked entries only; the others contribute their words.
    vectors = (
        store.vectors_by_ids(tx, scope, list(ranked), model=criteria.model)
        if criteria.model
        else ()
    )
    unranked = set(corpus.entry_ids) - ranked
    return corpus.with_updates((), vectors).as_part(whole, unranked=unranked)


async def find_nearest_in_index(
    database: Database,
    store: SearchStore,
    index: VectorIndex,
    scope: SearchScope,
    vector: Vector,
    *,
    limit: int,
) -> tuple[list[EntryId], Sequence[EntrySearchComponent]]:
    """What the vector database proposes, or what failed. It knows no permissions, so it gets the
    permitted trees as a filter, unless all trees are."""
    trees = None
    if not _is_unrestricted(scope):
        found = await database.scan(lambda tx: store.tree_states(tx, scope, limit=_EVERY_TREE))
        trees = [tree.tree_id for tree in found]
    try:
        return await index.nearest_entries(trees, vector, limit=limit), ()
    except Unavailable:
        # An empty list, not None, for which our own tables would be asked: the search goes on by
        # words and reports the failure.
        return [], [EntrySearchComponent.VECTORS]


def _best_by_words(tx: Tx, store: SearchStore, criteria: EntryCandidateCriteria) -> list[EntryId]:
    """The best by words, scored without most of their neighbours: see `find_candidates`."""
    query = stem_query(_scored_stems(criteria.stems, criteria.whole_scope))
    best: list[tuple[float, str]] = []
    for rows in _read_batches(tx, store, criteria.scope, query) if query else ():
        corpus = Corpus.build(rows, (), criteria.dimensions).as_part(criteria.whole_scope)
        scores = bm25.score_words(corpus, criteria.stems).scores.tolist()
        found = zip(scores, corpus.entry_ids, strict=True)
        best = nlargest(criteria.limit, [*best, *found])
    return [EntryId(entry_id) for _, entry_id in best]


def _rescore_by_words(
    corpus: Corpus, criteria: EntryCandidateCriteria, complete: set[str]
) -> list[EntryId]:
    """The best by exact word score, among entries whose neighbours are complete."""
    scores = bm25.score_words(corpus, criteria.stems).scores.tolist()
    found = [
        (score, entry_id)
        for score, entry_id in zip(scores, corpus.entry_ids, strict=True)
        if score > 0 and entry_id in complete
    ]
    return [EntryId(entry_id) for _, entry_id in nlargest(criteria.limit, found)]


def _read_batches(
    tx: Tx, store: SearchStore, scope: SearchScope, query: str
) -> Iterator[list[TextRow]]:
    after: int | None = 0
    while after is not None:
        rows, after = store.texts_matching(tx, scope, query, after_doc=after, limit=_BATCH)
        yield rows


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
