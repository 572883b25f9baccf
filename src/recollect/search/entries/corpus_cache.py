"""A cache of corpora: the words and vectors of all entries in a search scope, as arrays in memory.

Every search asks the database which trees are permitted and for the revision of each, and reads
only what changed. So a cached corpus is never stale, and servers need not notify each other.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from recollect.db.transaction import Database, Tx
from recollect.kernel.ids import TreeId
from recollect.search.entries.corpus import Corpus
from recollect.search.ports import (
    SearchScope,
    SearchStore,
    TextRow,
    TreeState,
    VectorRow,
)

# Larger changes are read by a scan and applied on a worker thread, off the event loop.
_LIGHT_ROWS = 100
_LIGHT_CHARS = 100_000
# Estimated memory of a scope besides its corpus.
_SCOPE_BYTES = 5_000
# With more changed trees than this, one statement that reads the whole scope is cheaper.
_CHANGED_TREES_MAX = 50


@dataclass(frozen=True, slots=True)
class CorpusLimits:
    """The largest scope that is ranked exactly, and the memory for all cached corpora."""

    entries: int
    bytes: int


@dataclass(slots=True)
class _CachedCorpus:
    """The cached corpus of one scope, and the tree states that it was built from. The lock lets
    one search refresh it while others of the same scope wait for the result."""

    corpus: Corpus | None = None
    trees: dict[TreeId, TreeState] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class _CorpusChange:
    """What was read from the database: the whole scope (`whole`), or only what changed. `trees`
    are the tree states of the same snapshot."""

    trees: dict[TreeId, TreeState]
    texts: Sequence[TextRow]
    vectors: Sequence[VectorRow]
    whole: bool


class CorpusCache:
    """One corpus per scope. The least recently used ones are evicted.

    A tree has a revision, which grows in the same transaction as any change of its index rows. The
    states of all permitted trees therefore identify the content of a scope, and one small query per
    search decides whether the cached corpus is current. This is also the permission check: a tree
    that the caller may no longer read is missing from the states, and its rows are removed. An
    invalidation message between servers could be lost or late; a comparison can't.
    """

    def __init__(
        self,
        database: Database,
        store: SearchStore,
        limits: CorpusLimits,
        *,
        model: str,
        dimensions: int,
    ) -> None:
        self._database = database
        self._store = store
        self._limits = limits
        self.model = model
        self.dimensions = dimensions
        self._cached: OrderedDict[SearchScope, _CachedCorpus] = OrderedDict()
        self._nbytes = 0
        self._nothing = Corpus.build((), (), dimensions)

    async def get(self, scope: SearchScope) -> Corpus | None:
        """The corpus of the scope, as current as this call; None if the scope has more than
        `limits.entries` entries and must be searched by candidates instead."""
        trees = await self._database.read(lambda tx: self._tree_states(tx, scope))
        # A corpus that is no longer wanted is dropped at once, not when its turn comes.
        if not trees or _count_entries(trees.values()) > self._limits.entries:
            self._drop(scope)
            return None if trees else self._nothing
        cached = self._cached.setdefault(scope, _CachedCorpus())
        self._cached.move_to_end(scope)
        # Without the lock: the usual case is that nothing changed, and a corpus never changes in
        # place. A refresh that is under way doesn't concern a search whose states match.
        if cached.corpus is not None and cached.trees == trees:
            return cached.corpus
        async with cached.lock:
            corpus = await self._refresh(scope, cached, trees)
        self._enforce_byte_limit(scope, cached)
        return corpus

    async def _refresh(
        self, scope: SearchScope, cached: _CachedCorpus, trees: dict[TreeId, TreeState]
    ) -> Corpus:
        """Bring a cached corpus up to date; the caller holds its lock.

        Checked again: whoever held the lock before may have read what we need. The states that
        are stored come from the transaction that read the rows, not from `trees`, which was read
        earlier: between the two a tree may have changed, and with the older states the next search
        would read the same rows again. The corpus returned is at least as new as `trees`.
        """
        if cached.corpus is not None and cached.trees == trees:
            return cached.corpus
        change = await self._read_change(scope, cached, trees)
        cached.corpus = await _run_off_loop(change, lambda: self._apply_change(cached, change))
        # No await between the two: a search without the lock never sees a corpus with the states of
        # another one.
        cached.trees = change.trees
        return cached.corpus

    async def _read_change(
        self, scope: SearchScope, cached: _CachedCorpus, trees: dict[TreeId, TreeState]
    ) -> _CorpusChange:
        """Read everything or the changes, whichever is cheaper. `read` may share the event loop's
        thread, so it gets small work only; `scan` runs beside it."""
        changed = [tree for tree in trees.values() if cached.trees.get(tree.tree_id) != tree]
        whole = cached.corpus is None or len(changed) > _CHANGED_TREES_MAX
        light = _count_entries(trees.values() if whole else changed) <= _LIGHT_ROWS
        run = self._database.read if light else self._database.scan
        if whole:
            return await run(lambda tx: self._read_scope(tx, scope))
        return await run(lambda tx: self._read_changed_trees(tx, scope, cached))

    def _read_scope(self, tx: Tx, scope: SearchScope) -> _CorpusChange:
        texts = self._store.texts(tx, scope)
        vectors = self._store.vectors(tx, scope, model=self.model) if self.model else []
        return _CorpusChange(self._tree_states(tx, scope), texts, vectors, whole=True)

    def _read_changed_trees(
        self, tx: Tx, scope: SearchScope, cached: _CachedCorpus
    ) -> _CorpusChange:
        """The changed rows of each changed tree.

        The idea: a tree's revision grows with each change of its index rows, so the rows above the
        revision that we have are all that we lack. The invariant: states and rows come from one
        snapshot, and the states that are stored are those of this snapshot. Else a change between
        two reads would be counted as read.

        A tree id can be used again after its tree was evicted, and the new tree counts its
        revisions from the start; and rows that left the index are in no revision. So for a tree
        that is new to us or did not only grow all revisions are read (after -1), else newer ones.
        `changed_texts` and `changed_vectors` take no scope: the ids come from the permitted trees
        of the same snapshot, so that permissions are checked once and not again for each tree.
        """
        trees = self._tree_states(tx, scope)
        texts: list[TextRow] = []
        vectors: list[VectorRow] = []
        for tree in trees.values():
            known = cached.trees.get(tree.tree_id)
            if known == tree:
                continue
            grew = known is not None and tree.only_grew_since(known)
            after = known.revision if known is not None and grew else -1
            texts += self._store.changed_texts(tx, tree.tree_id, after_revision=after)
            if self.model:
                vectors += self._store.changed_vectors(
                    tx, tree.tree_id, model=self.model, after_revision=after
                )
        return _CorpusChange(trees, texts, vectors, whole=False)

    def _apply_change(self, cached: _CachedCorpus, change: _CorpusChange) -> Corpus:
        """A corpus with the change applied. Rows are removed with their whole tree: of trees that
        are gone, no longer permitted, replaced by another tree of the same id, or from whose index
        an entry was removed."""
        if change.whole or cached.corpus is None:
            return Corpus.build(change.texts, change.vectors, self.dimensions)
        gone = {
            id_
            for id_, tree in cached.trees.items()
            if id_ not in change.trees or not change.trees[id_].only_grew_since(tree)
        }
        return cached.corpus.with_updates(change.texts, change.vectors, gone=gone)

    def _tree_states(self, tx: Tx, scope: SearchScope) -> dict[TreeId, TreeState]:
        # Each tree has at least one entry: one tree more than the limit proves the scope too large.
        found = self._store.tree_states(tx, scope, limit=self._limits.entries + 1)
        return {tree.tree_id: tree for tree in found}

    def _enforce_byte_limit(self, scope: SearchScope, cached: _CachedCorpus) -> None:
        """Account for the scope's new size and evict the least recently used scopes above the
        limit. The last scope stays, whatever its size. A scope that was evicted while it was
        being refreshed is no longer ours to count."""
        if self._cached.get(scope) is not cached or cached.corpus is None:
            return
        self._nbytes -= cached.nbytes
        cached.nbytes = cached.corpus.nbytes + _SCOPE_BYTES
        self._nbytes += cached.nbytes
        while self._nbytes > self._limits.bytes and len(self._cached) > 1:
            self._drop(next(iter(self._cached)))

    def _drop(self, scope: SearchScope) -> None:
        dropped = self._cached.pop(scope, None)
        self._nbytes -= dropped.nbytes if dropped is not None else 0


def _count_entries(trees: Iterable[TreeState]) -> int:
    return sum(tree.entries for tree in trees)


async def _run_off_loop(change: _CorpusChange, work: Callable[[], Corpus]) -> Corpus:
    rows = len(change.texts) + len(change.vectors)
    light = rows <= 2 * _LIGHT_ROWS and sum(len(t.terms) for t in change.texts) <= _LIGHT_CHARS
    return work() if light else await asyncio.to_thread(work)
