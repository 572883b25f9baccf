"""Writes entry texts into the search index: with an append, by an indexer's call, or later."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from recollect.conversations.entries import content
from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.eviction import vector_delete_job
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.model import Principal
from recollect.jobs.model import NewJob
from recollect.kernel import strict_json
from recollect.kernel.errors import InvalidInput, NotFound
from recollect.kernel.ids import ConversationId, EntryId, TreeId
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.kernel.runtime import Runtime
from recollect.search.commands import IndexEntry
from recollect.search.model import LONG_TEXT_CHARS, IndexedWords, index_words
from recollect.search.store.bundle import SearchStores

VECTOR_INDEX = "vector_store_index"
# Prefix of the cursor; short, because a cursor has at most 100 characters.
_UNINDEXED = "u"


class EntryIndexer:
    """Writes words to the index in the caller's transaction, and queues a job for the vectors."""

    def __init__(self, stores: SearchStores, runtime: Runtime, *, vectors: bool) -> None:
        self._stores = stores
        self._runtime = runtime
        self._vectors = vectors

    def indexed_at(self, at: datetime) -> datetime | None:
        """The `indexed_at` of a text that is written now: None if its vector is still to come."""
        return None if self._vectors else at

    def add(self, tx: Tx, entry: Entry, found: IndexedWords) -> None:
        """Index a new entry. The caller holds the tree's lock."""
        self._stores.search.insert(tx, entry, found, pending=self._vectors)
        self.queue_job(tx, entry.tree_id)

    def reindex(self, tx: Tx, entry: Entry, found: IndexedWords) -> None:
        """Index an existing entry again. The caller holds the tree's lock."""
        by_speaker = found.with_speaker_trait(
            assistant=content.is_assistant(strict_json.load(entry.content))
        )
        self._stores.search.replace(tx, entry, by_speaker, pending=self._vectors)
        self.queue_job(tx, entry.tree_id)

    def remove(self, tx: Tx, entry: Entry) -> None:
        """Remove an entry, and make the vectors of its neighbours anew. The caller holds the tree's
        lock. A vector that a running job stores elsewhere meanwhile is deleted a minute later."""
        self._stores.search.remove(tx, entry, reembed=self._vectors)
        if self._vectors:
            self.queue_job(tx, entry.tree_id)
            self._stores.jobs.insert(tx, vector_delete_job(entry.tree_id, self._runtime))

    def queue_job(self, tx: Tx, tree_id: TreeId) -> None:
        """Queue one job for the tree, however many of its texts are pending. The job's name is
        unique, so a second insert does nothing."""
        if self._vectors:
            self._stores.jobs.insert(tx, self.vector_job(tree_id))

    def vector_job(self, tree_id: TreeId) -> NewJob:
        """The job that embeds the pending texts of a tree."""
        body = {"conversationGroupId": tree_id}
        name = f"{VECTOR_INDEX}:{tree_id}"
        return NewJob(VECTOR_INDEX, body, self._runtime.clock.now(), name)


class IndexingService:
    """The indexer's operations: list entries without indexed text, and set their text."""

    def __init__(self, context: ServiceContext[SearchStores], indexer: EntryIndexer) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._indexer = indexer

    async def index(self, principal: Principal, items: Sequence[IndexEntry]) -> int:
        """Set the texts of all items, or of none if one is refused. Replaces earlier texts. Returns
        the number of entries."""

        found = await compute_indexed_words([item.text for item in items])

        def work(tx: Tx) -> int:
            self._lock_trees(tx, principal, {item.conversation_id for item in items})
            for item, one in zip(items, found, strict=True):
                self._index_item(tx, principal, item, one)
            return len({item.entry_id for item in items})

        return await self._database.write(work)

    def _lock_trees(self, tx: Tx, principal: Principal, ids: set[ConversationId]) -> None:
        """Lock all trees up front, in the order of their ids: two calls that locked the same trees
        in different orders would deadlock."""
        locate = self._stores.conversations.locate
        found = {id_: locate(tx, id_, principal.user_id) for id_ in ids}
        known = [branch for branch in found.values() if branch is not None]
        for branch in sorted(known, key=lambda branch: branch.tree_id):
            self._stores.conversations.lock(tx, branch.id)

    async def list_unindexed(
        self, principal: Principal, *, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Live history entries without indexed text, oldest first."""
        after = decode_key(_UNINDEXED, cursor, field="cursor") if cursor else None
        found = await self._database.read(
            lambda tx: self._stores.search.page_unindexed(tx, after=after, limit=limit + 1)
        )
        page = found[:limit]
        if len(found) <= limit:
            return Page(page, None)
        return Page(page, encode_key(_UNINDEXED, page[-1].created_at, page[-1].id))

    def _index_item(
        self, tx: Tx, principal: Principal, item: IndexEntry, found: IndexedWords
    ) -> None:
        branch = self._stores.conversations.locate(tx, item.conversation_id, principal.user_id)
        if branch is None or branch.deleted:
            raise NotFound("conversation", item.conversation_id)
        entry = self._stores.entries.fetch(tx, EntryId(item.entry_id))
        if entry is None or entry.conversation_id != item.conversation_id:
            raise NotFound("entry", item.entry_id)
        if entry.removed_at is not None:
            raise NotFound("entry", item.entry_id)
        if entry.channel is not Channel.HISTORY:
            raise InvalidInput("only history entries are indexed", field="entryId")
        at = self._indexer.indexed_at(self._runtime.clock.now())
        self._stores.search.update_text(tx, entry.id, item.text, at=at)
        self._indexer.reindex(tx, entry, found)


async def compute_indexed_words(texts: Sequence[str]) -> list[IndexedWords]:
    """The index words of texts; long texts are processed on a worker thread."""
    if sum(map(len, texts)) < LONG_TEXT_CHARS:
        return [index_words(text) for text in texts]
    return await asyncio.to_thread(lambda: [index_words(text) for text in texts])
