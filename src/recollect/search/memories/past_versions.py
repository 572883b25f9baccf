"""Past versions of memories for a search with `as_of`.

The search index holds the present text only. What has changed since `as_of` is restored from its
history, and the words of the old text are computed during the search.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from recollect.db.transaction import Tx
from recollect.memories.model import (
    Memory,
    MemoryFilter,
    MemoryStatus,
    StoredMemory,
)
from recollect.memories.read.listing import MemoryLister
from recollect.search.memories.rows import (
    MemoryCandidate,
    PendingMemoryText,
    SearchContext,
    WordRow,
)
from recollect.search.model import index_words
from recollect.search.ports import EMBEDDED_CHARS
from recollect.search.store.bundle import SearchStores

_BATCH = 500
_EVERY_STATUS = MemoryFilter(statuses=tuple(MemoryStatus))


@dataclass(slots=True)
class PastVersions:
    """Past versions to rank. Those in `indexed` have the same words as the present version, so the
    index's words and vector can be used. For `others` the words are in `words`, and `texts` holds
    what has to be embedded."""

    indexed: list[MemoryCandidate] = field(default_factory=list)
    others: list[MemoryCandidate] = field(default_factory=list)
    words: list[WordRow] = field(default_factory=list)
    texts: dict[int, PendingMemoryText] = field(default_factory=dict)
    memories: list[Memory] = field(default_factory=list)

    def add(self, then: MemoryCandidate, memory: Memory, words: WordRow | None) -> None:
        """Add one version. Without `words` it shares those of the index."""
        self.memories.append(memory)
        if words is None:
            self.indexed.append(then)
            return
        self.others.append(then)
        self.words.append(words)
        text = memory.content[:EMBEDDED_CHARS]
        self.texts[then.doc] = PendingMemoryText(then.doc, then.revision, text)


def read_past_versions(
    tx: Tx, stores: SearchStores, lister: MemoryLister, context: SearchContext
) -> PastVersions:
    """All memories that changed since the filter's `as_of` and whose version of that time passes
    the filter. Empty without an `as_of`."""
    found = PastVersions()
    if context.filters.as_of is None:
        return found
    store, today = stores.memory_search, replace(context, filters=_EVERY_STATUS)
    changed = store.ids_changed_since(tx, context)
    for first in range(0, len(changed), _BATCH):
        # Two checks: the row is visible now, and its version of that time is visible and passes
        # the filter.
        rows = stores.memories.fetch_many_visible(
            tx, context.viewer, changed[first : first + _BATCH], context.filters
        )
        visible = lister.visible_as_of(tx, context.viewer, list(rows.values()), context.filters)
        docs = [stored.doc for stored in visible]
        # Index rows as they are today, without the filter: it was applied to the old version.
        indexed = {row.doc: row for row in store.candidates_by_doc(tx, today, docs)}
        terms = {row.doc: row.terms for row in store.words(tx, docs)}
        for stored in visible:
            _add_version(found, stored, context, indexed.get(stored.doc), terms)
    return found


def _add_version(
    found: PastVersions,
    stored: StoredMemory,
    context: SearchContext,
    present: MemoryCandidate | None,
    terms: Mapping[int, str],
) -> None:
    # Often only other fields changed. Then words and vector of the index are those of the old
    # version, too, and nothing has to be embedded.
    memory, words = stored.memory, index_words(stored.memory.content).terms
    if present is not None and terms.get(stored.doc) == words:
        found.add(_candidate_as_of(present, memory, context), memory, None)
        return
    revision = _text_revision(memory.content)
    bare = MemoryCandidate(
        stored.doc, memory.id, revision, False, "", memory.observed_at, None, None, False
    )
    found.add(_candidate_as_of(bare, memory, context), memory, WordRow(stored.doc, revision, words))


def _candidate_as_of(
    row: MemoryCandidate, memory: Memory, context: SearchContext
) -> MemoryCandidate:
    return row._replace(
        trust=memory.trust,
        observed_at=memory.observed_at,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        about=not frozenset(context.people).isdisjoint(memory.subjects),
    )


def _text_revision(text: str) -> int:
    """A revision for the row cache, made from the text. It is below 0, so that it never equals the
    revision of an indexed text; and an erasure that changes the text in place changes it, so that
    no cached words of the erased text are used."""
    return -1 - int.from_bytes(blake2b(text.encode(), digest_size=7).digest())
