"""Two servers on one PostgreSQL database, each with caches of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from tests.support.engines import TestDatabase
from tests.support.hosting import a_world
from tests.support.memory.callers import Caller, Callers
from tests.support.searching import embedding_flags, settle, settle_memories
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import User, World


@dataclass(frozen=True, slots=True)
class Pair:
    """People call the first server, unless they are sent to the other one. Jobs are worked on
    beside the first."""

    first: World
    second: World

    @property
    def callers(self) -> Callers:
        """The first server's people."""
        return Callers(self.first)

    def there(self, user: User) -> User:
        """The same user, who calls the second server."""
        return replace(user, api=self.second.api)

    def caller_there(self, caller: Caller) -> Caller:
        """The same for somebody who asks about memories."""
        return Caller(self.there(caller.user), self.second)

    def settle(self) -> None:
        """Wait until everything that was written is in every index."""
        settle(self.first)
        settle_memories(self.first)


@contextmanager
def a_pair(database: TestDatabase, embeddings: EmbeddingServer, **flags: Any) -> Iterator[Pair]:
    """Both running, stopped afterwards."""
    shared = embedding_flags(embeddings) | {"events.poll_ms": 20} | flags
    with (
        a_world(database, shared) as first,
        a_world(database, shared | {"jobs.embedded_worker": False}) as second,
    ):
        yield Pair(first, second)
