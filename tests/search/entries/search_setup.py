"""A search service over a storage: who says what, and what somebody finds of it."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from recollect.conversations.entries.entry import Entry
from recollect.conversations.model import Conversation
from recollect.db.transaction import Tx
from recollect.identity.model import Principal, ServerRole
from recollect.jobs.model import Job
from recollect.kernel.access_level import Level
from recollect.kernel.ids import TreeId, UserId
from recollect.kernel.strict_json import JsonText
from recollect.observability.metrics import NoMetrics
from recollect.search.commands import SearchEntries
from recollect.search.entries.corpus_cache import CorpusCache, CorpusLimits
from recollect.search.entries.index_jobs import IndexJobs
from recollect.search.entries.indexing import VECTOR_INDEX, EntryIndexer
from recollect.search.entries.rank import RankingOptions
from recollect.search.entries.service import EntrySearchService
from recollect.search.memories.indexing import MemoryIndexer, MemoryIndexJobs, MemoryVectorWriter
from recollect.search.model import EntryHit, EntryHitPage, SearchType, index_words
from recollect.search.ports import VectorIndex
from tests.support.builders import an_entry, plant
from tests.support.embedding import WordEmbedder
from tests.support.storage import Storage

ADMIN = Principal(UserId("root"), roles=frozenset({ServerRole.ADMIN}))
# Every scope with more entries takes the way of the large ones.
FEW = 5
MANY = 50_000


@dataclass(frozen=True, slots=True)
class Finder:
    """Asks one search service."""

    storage: Storage
    service: EntrySearchService

    def page(self, user: str, query: str, kind: str = "auto", **fields: Any) -> EntryHitPage:
        """One page for a user."""
        request = SearchEntries(query, SearchType(kind), **fields)
        return self.storage.run(self.service.search(Principal(UserId(user)), request))

    def admin_page(
        self,
        query: str,
        kind: str = "auto",
        *,
        user_id: str | None = None,
        include_deleted: bool = False,
        **fields: Any,
    ) -> EntryHitPage:
        """One page for an administrator."""
        request = SearchEntries(query, SearchType(kind), **fields)
        asked = self.service.search_all(
            ADMIN, request, user_id=user_id, include_deleted=include_deleted, justification=None
        )
        return self.storage.run(asked)

    def walk(self, user: str, query: str, kind: str = "auto", **fields: Any) -> list[EntryHit]:
        """All results, page by page."""
        found: list[EntryHit] = []
        page = self.page(user, query, kind, **fields)
        while page.next_cursor is not None:
            found += page.items
            page = self.page(user, query, kind, **fields, after=page.next_cursor)
        return [*found, *page.items]


class SearchSetup:
    """A storage with an embedder, and perhaps a vector database beside it."""

    def __init__(
        self,
        storage: Storage,
        *,
        embedder: WordEmbedder | None = None,
        beside: VectorIndex | None = None,
    ) -> None:
        self.storage = storage
        self.embedder = embedder or WordEmbedder()
        self.beside = beside
        self.indexer = EntryIndexer(storage.stores, storage.runtime, vectors=True)
        self._last_seq: Counter[str] = Counter()
        self._waiting: set[TreeId] = set()

    def tree(self, owner: str, **members: Level) -> Conversation:
        """A new tree of one conversation."""
        levels = {owner: Level.OWNER, **members}
        return plant(self.storage, levels, owner_user_id=UserId(owner))

    def say(
        self, conversation: Conversation, text: str, *, by: str = "", assistant: bool = False
    ) -> Entry:
        """An entry that is found by words at once, and by meaning after `index`."""
        self._last_seq[conversation.tree_id] += 1
        entry = an_entry(
            self.storage,
            conversation,
            self._last_seq[conversation.tree_id],
            user_id=UserId(by) if by else None,
            indexed_content=text,
            content=JsonText("[]"),
        )

        def work(tx: Tx) -> None:
            self.storage.stores.entries.insert(tx, entry)
            words = index_words(text).with_speaker_trait(assistant=assistant)
            self.storage.stores.search.replace(tx, entry, words, pending=True)

        self.storage.write(work)
        self._waiting.add(conversation.tree_id)
        return entry

    def index(self) -> None:
        """Make the vectors that are missing."""
        while self._waiting:
            body = {"conversationGroupId": min(self._waiting)}
            job = Job(self.storage.new_id(), VECTOR_INDEX, body, attempt=1)
            self.storage.run(self.jobs().index_tree(job))
            self._waiting.discard(min(self._waiting))

    def wait_for(self, tree_id: TreeId) -> None:
        """Let `index` look at this tree, too."""
        self._waiting.add(tree_id)

    def jobs(self, *, exact_max: int = MANY) -> IndexJobs:
        """Handlers of index jobs."""
        storage = self.storage
        memories = MemoryIndexJobs(
            storage.context,
            MemoryIndexer(storage.stores, storage.runtime, vectors=True),
            MemoryVectorWriter(storage.context, NoMetrics()),
            self.embedder,
        )
        return IndexJobs(
            storage.context,
            NoMetrics(),
            self.indexer,
            memories,
            embedder=self.embedder,
            vector_index=self.beside,
            exact_max=exact_max,
        )

    def finder(self, *, exact_max: int = MANY, candidates: int = 1_000) -> Finder:
        """A search service that ranks up to so many entries as a whole."""
        database, store = self.storage.engine, self.storage.stores.search
        model, dimensions = self.embedder.model, self.embedder.dimensions
        service = EntrySearchService(
            self.storage.context,
            CorpusCache(
                database,
                store,
                CorpusLimits(entries=exact_max, bytes=2**24),
                model=model,
                dimensions=dimensions,
            ),
            embedder=self.embedder,
            vector_index=self.beside,
            fulltext=True,
            ranking=replace(RankingOptions(), candidates=candidates),
        )
        return Finder(self.storage, service)
