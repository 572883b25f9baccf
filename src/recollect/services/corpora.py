"""The words and vectors that a caller may see, kept in memory from one search to the next.

What is kept is checked in the database at every search: which trees are permitted, and the
revision of each. Only what changed is read again, so many servers need not talk to each other.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from recollect.domain.ids import TreeId
from recollect.ports.database import Database, Tx
from recollect.ports.search import SearchScope, SearchStore, TextRow, TreeState, VectorRow
from recollect.services.ranking.corpus import Corpus

# More rows or characters than these are read and arranged where nobody waits for it.
_LIGHT_ROWS = 100
_LIGHT_CHARS = 100_000
# What a scope takes besides its corpus.
_SCOPE_BYTES = 5_000
# With more changed trees than this one statement for everything is cheaper.
_CHANGED_TREES_MAX = 50


@dataclass(frozen=True, slots=True)
class Limits:
    """How many entries are ranked as a whole, and how much memory is spent on them."""

    entries: int
    bytes: int


@dataclass(slots=True)
class _Held:
    corpus: Corpus | None = None
    trees: dict[TreeId, TreeState] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class _Change:
    """What was read: everything anew, or what changed of it."""

    trees: dict[TreeId, TreeState]
    texts: Sequence[TextRow]
    vectors: Sequence[VectorRow]
    whole: bool


class Corpora:
    """One corpus a scope, the least recently used ones dropped."""

    def __init__(
        self, database: Database, store: SearchStore, limits: Limits, *, model: str, dimensions: int
    ) -> None:
        self._database = database
        self._store = store
        self._limits = limits
        self._model = model
        self._dimensions = dimensions
        self._held: OrderedDict[SearchScope, _Held] = OrderedDict()
        self._nbytes = 0
        self._nothing = Corpus.build((), (), dimensions)

    async def get(self, scope: SearchScope) -> Corpus | None:
        """Everything in the scope, current as of now; None if that is too much to rank whole."""
        trees = await self._database.read(lambda tx: self._trees(tx, scope))
        if not trees or _entries(trees.values()) > self._limits.entries:
            self._drop(scope)
            return None if trees else self._nothing
        held = self._held.setdefault(scope, _Held())
        self._held.move_to_end(scope)
        if held.corpus is not None and held.trees == trees:
            return held.corpus
        async with held.lock:
            corpus = await self._refreshed(scope, held, trees)
        self._weigh(scope, held)
        return corpus

    async def _refreshed(
        self, scope: SearchScope, held: _Held, trees: dict[TreeId, TreeState]
    ) -> Corpus:
        if held.corpus is not None and held.trees == trees:
            return held.corpus
        change = await self._read(scope, held, trees)
        held.corpus = await _off_the_loop(change, lambda: self._applied(held, change))
        held.trees = change.trees
        return held.corpus

    async def _read(
        self, scope: SearchScope, held: _Held, trees: dict[TreeId, TreeState]
    ) -> _Change:
        changed = [tree for tree in trees.values() if held.trees.get(tree.tree_id) != tree]
        whole = held.corpus is None or len(changed) > _CHANGED_TREES_MAX
        work = self._reading_all(scope) if whole else self._reading_changes(scope, held)
        light = _entries(trees.values() if whole else changed) <= _LIGHT_ROWS
        return await (self._database.read if light else self._database.scan)(work)

    def _reading_all(self, scope: SearchScope) -> Callable[[Tx], _Change]:
        def work(tx: Tx) -> _Change:
            texts = self._store.texts(tx, scope)
            vectors = self._store.vectors(tx, scope, model=self._model) if self._model else []
            return _Change(self._trees(tx, scope), texts, vectors, whole=True)

        return work

    def _reading_changes(self, scope: SearchScope, held: _Held) -> Callable[[Tx], _Change]:
        def work(tx: Tx) -> _Change:
            trees = self._trees(tx, scope)
            texts: list[TextRow] = []
            vectors: list[VectorRow] = []
            for tree in trees.values():
                known = held.trees.get(tree.tree_id)
                if known == tree:
                    continue
                after = known.revision if known is not None and known.born == tree.born else -1
                texts += self._store.texts_of(tx, tree.tree_id, after_revision=after)
                if self._model:
                    vectors += self._store.vectors_of(
                        tx, tree.tree_id, model=self._model, after_revision=after
                    )
            return _Change(trees, texts, vectors, whole=False)

        return work

    def _applied(self, held: _Held, change: _Change) -> Corpus:
        if change.whole or held.corpus is None:
            return Corpus.build(change.texts, change.vectors, self._dimensions)
        gone = {
            id_
            for id_, tree in held.trees.items()
            if id_ not in change.trees or change.trees[id_].born != tree.born
        }
        return held.corpus.updated(change.texts, change.vectors, gone=gone)

    def _trees(self, tx: Tx, scope: SearchScope) -> dict[TreeId, TreeState]:
        found = self._store.trees(tx, scope, limit=self._limits.entries + 1)
        return {tree.tree_id: tree for tree in found}

    def _weigh(self, scope: SearchScope, held: _Held) -> None:
        """Count what a scope takes now, and drop others if that is too much. The newest stays,
        whatever its size."""
        if self._held.get(scope) is not held or held.corpus is None:
            return
        self._nbytes -= held.nbytes
        held.nbytes = held.corpus.nbytes + _SCOPE_BYTES
        self._nbytes += held.nbytes
        while self._nbytes > self._limits.bytes and len(self._held) > 1:
            self._drop(next(iter(self._held)))

    def _drop(self, scope: SearchScope) -> None:
        dropped = self._held.pop(scope, None)
        self._nbytes -= dropped.nbytes if dropped is not None else 0


def _entries(trees: Iterable[TreeState]) -> int:
    return sum(tree.entries for tree in trees)


async def _off_the_loop(change: _Change, work: Callable[[], Corpus]) -> Corpus:
    rows = len(change.texts) + len(change.vectors)
    light = rows <= 2 * _LIGHT_ROWS and sum(len(t.terms) for t in change.texts) <= _LIGHT_CHARS
    return work() if light else await asyncio.to_thread(work)
