"""Whole applications on one database, driven by plain calls as several servers would be."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from recollect.app.application import App, build
from recollect.app.search import build_entry_search
from recollect.conversations.admin_service import AdminService
from recollect.conversations.commands import AppendEntry, ShareConversation
from recollect.conversations.entries.entry import Entry
from recollect.conversations.entries.service import EntryService
from recollect.conversations.eviction import EvictionService
from recollect.conversations.service import ConversationService
from recollect.conversations.sharing.service import SharingService
from recollect.identity.model import Principal, ServerRole
from recollect.kernel.access_level import Level
from recollect.kernel.ids import ConversationId, UserId
from recollect.search.commands import IndexEntry, SearchEntries
from recollect.search.entries.indexing import IndexingService
from recollect.search.entries.service import EntrySearchService
from recollect.search.model import SearchType
from recollect.settings.load import load
from recollect.text.dates.durations import Duration
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase
from tests.support.hosting import DEFAULT_FLAGS
from tests.support.searching import TYPES, embedding_flags
from tests.support.servers.embedding import EmbeddingServer

T = TypeVar("T")
Found = dict[str, list[tuple[str, float]]]

WAIT_SECONDS = 60
DIMENSIONS = 16
ADMIN = Principal(UserId("root"), roles=frozenset({ServerRole.ADMIN}))
_A_DAY = Duration(0, 24 * 3_600 * 1_000_000)


class Nodes:
    """An event loop and the applications that run on it."""

    def __init__(self, database: TestDatabase, server: EmbeddingServer) -> None:
        self.clock = TestClock()
        # A connection that the endpoint closed meanwhile is no failure.
        flags = embedding_flags(server) | {"embedding.openai.retries": 2}
        self._flags = DEFAULT_FLAGS | flags | {"database.url": database.url}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._apps: list[App] = []

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run something to its end."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(WAIT_SECONDS)

    def node(self) -> "Node":
        """One more server, whose jobs run when it is told so."""
        app = build(load(flags=self._flags, environ={}).settings, clock=self.clock)
        self._apps.append(app)
        self.run(app.open())
        return Node(self, app)

    def stop(self) -> None:
        """Close all of them."""
        for app in self._apps:
            self.run(app.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_SECONDS)
        self._loop.close()


class Node:
    """What people do on one server. Ids are those of conversations."""

    def __init__(self, nodes: Nodes, app: App) -> None:
        self._nodes = nodes
        self.app = app

    def say(self, user: str, id_: str, text: str) -> Entry:
        """Append; to an unknown id this creates the conversation."""
        content = [{"role": "USER", "text": text}]
        command = AppendEntry(ConversationId(id_), content, content_type="history")
        return self._run(self.app.services[EntryService].append(_as(user), command))

    def index(self, entry: Entry, text: str) -> None:
        """Give an entry another text."""
        item = IndexEntry(entry.conversation_id, entry.id, text)
        self._run(self.app.services[IndexingService].index(ADMIN, [item]))

    def share(self, owner: str, id_: str, user: str) -> None:
        """Let somebody read."""
        sharing = self.app.services[SharingService]
        command = ShareConversation(ConversationId(id_), UserId(user), Level.READER)
        self._run(sharing.share(_as(owner), command))

    def unshare(self, owner: str, id_: str, user: str) -> None:
        """Let somebody read no more."""
        sharing = self.app.services[SharingService]
        self._run(sharing.remove(_as(owner), ConversationId(id_), UserId(user)))

    def delete(self, owner: str, id_: str) -> None:
        """Delete softly."""
        self._run(self.app.services[ConversationService].delete(_as(owner), ConversationId(id_)))

    def restore(self, id_: str) -> None:
        """Undo the deletion."""
        admin = self.app.services[AdminService]
        self._run(admin.restore_conversation(ADMIN, ConversationId(id_), justification=None))

    def evict(self) -> None:
        """Remove for good what is deleted."""
        self._nodes.clock.advance(days=2)

        async def work() -> None:
            eviction = await self.app.services[EvictionService].begin(
                ADMIN, _A_DAY, justification=None
            )
            await eviction.wait()

        self._run(work())

    def work(self) -> None:
        """Do all jobs that are due."""

        async def work() -> None:
            while await self.app.jobs.worker.run_due():
                pass

        self._run(work())

    def find(self, user: str, query: str) -> Found:
        """Ids and scores by each type of search, by the service that this server has had."""
        return self._find(self.app.services[EntrySearchService], user, query)

    def find_anew(self, user: str, query: str) -> Found:
        """The same by a service that was just made and remembers nothing."""
        return self._find(build_entry_search(self.app.context), user, query)

    def _find(self, service: EntrySearchService, user: str, query: str) -> Found:
        async def ask(kind: str) -> list[tuple[str, float]]:
            request = SearchEntries(query, SearchType(kind), group_by_conversation=False)
            page = await service.search(_as(user), request)
            assert not page.degraded
            return [(hit.entry_id, hit.score) for hit in page.items]

        return {kind: self._run(ask(kind)) for kind in TYPES}

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._nodes.run(coroutine)


def _as(user: str) -> Principal:
    return Principal(UserId(user))


@contextmanager
def some_nodes(database: TestDatabase) -> Iterator[Nodes]:
    """Closed afterwards, with the endpoint that makes their vectors."""
    with EmbeddingServer(dimensions=DIMENSIONS) as server:
        nodes = Nodes(database, server)
        try:
            yield nodes
        finally:
            nodes.stop()
