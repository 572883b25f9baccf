"""Memories as they were: what has changed since an instant is not in the search index with the text
of that time, so the words of an earlier version are made when somebody asks for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from recollect.domain.memories import Memory, MemoryId, Status
from recollect.domain.search import index_words
from recollect.ports.database import Tx
from recollect.ports.memories import MemoryFilter, Stored
from recollect.ports.memory_search import Candidate, Looking, WaitingText, WordRow
from recollect.ports.search import EMBEDDED_CHARS
from recollect.ports.stores import Stores
from recollect.services.memory_lists import MemoryLists
from recollect.services.past import Past
from recollect.services.views import Views

_BATCH = 500
_EVERY_STATUS = MemoryFilter(statuses=tuple(Status))


@dataclass(slots=True)
class Earlier:
    """Versions to rank. Those in `indexed` have the words that the index has of the row today; of
    `others` the words are here, and the texts for whoever makes vectors of them."""

    indexed: list[Candidate] = field(default_factory=list)
    others: list[Candidate] = field(default_factory=list)
    words: list[WordRow] = field(default_factory=list)
    texts: dict[int, WaitingText] = field(default_factory=dict)
    memories: list[Memory] = field(default_factory=list)

    def add(self, then: Candidate, memory: Memory, words: WordRow | None) -> None:
        """One version; without words, those of the index are its own."""
        self.memories.append(memory)
        if words is None:
            self.indexed.append(then)
            return
        self.others.append(then)
        self.words.append(words)
        text = memory.content[:EMBEDDED_CHARS]
        self.texts[then.doc] = WaitingText(then.doc, then.revision, text)


class EarlierVersions:
    """Opens versions under a sight and makes rows to rank of them."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._lists = MemoryLists(stores, Past(stores, Views(stores)))

    def read(self, tx: Tx, looking: Looking) -> Earlier:
        """All that has changed since the filter's `as_of` and was what it asks for; nothing without
        an `as_of`."""
        found = Earlier()
        if looking.chosen.as_of is not None:
            for ids in _batches(self._stores.memory_search.changed_since(tx, looking)):
                self._read_some(tx, looking, ids, found)
        return found

    def _read_some(
        self, tx: Tx, looking: Looking, memory_ids: Sequence[MemoryId], found: Earlier
    ) -> None:
        seen = self._stores.memories.see_many(tx, looking.sight, memory_ids, looking.chosen)
        shown = self._lists.shown(tx, looking.sight, list(seen.values()), looking.chosen)
        docs = [stored.doc for stored in shown]
        store, today = self._stores.memory_search, replace(looking, chosen=_EVERY_STATUS)
        indexed = {row.doc: row for row in store.some(tx, today, docs)}
        terms = {row.doc: row.terms for row in store.words(tx, docs)}
        for stored in shown:
            _add(found, stored, looking, indexed.get(stored.doc), terms)


def _add(
    found: Earlier,
    stored: Stored,
    looking: Looking,
    present: Candidate | None,
    terms: Mapping[int, str],
) -> None:
    memory, words = stored.memory, index_words(stored.memory.content).terms
    if present is not None and terms.get(stored.doc) == words:
        found.add(_as_it_was(present, memory, looking), memory, None)
        return
    revision = _revision(memory.content)
    bare = Candidate(
        stored.doc, memory.id, revision, False, "", memory.observed_at, None, None, False
    )
    found.add(_as_it_was(bare, memory, looking), memory, WordRow(stored.doc, revision, words))


def _as_it_was(row: Candidate, memory: Memory, looking: Looking) -> Candidate:
    return row._replace(
        trust=memory.trust,
        observed_at=memory.observed_at,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        about=not frozenset(looking.people).isdisjoint(memory.subjects),
    )


def _revision(text: str) -> int:
    """Below 0, and another one as soon as an erasure changes the text in place."""
    return -1 - int.from_bytes(blake2b(text.encode(), digest_size=7).digest())


def _batches(memory_ids: Sequence[MemoryId]) -> Iterator[Sequence[MemoryId]]:
    for at in range(0, len(memory_ids), _BATCH):
        yield memory_ids[at : at + _BATCH]
