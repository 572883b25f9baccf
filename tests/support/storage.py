"""An engine that runs, called from plain tests: blocking calls, and calls to wait for later."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import text

from recollect.app.stores import Stores, build_stores, open_engine
from recollect.db import migrations
from recollect.db.context import ServiceContext
from recollect.db.encryption import AesGcmCipher
from recollect.db.engines.base import Engine
from recollect.db.statements import Query
from recollect.db.transaction import Tx
from recollect.kernel.clock import Clock
from recollect.kernel.ids import Uuid7Ids
from recollect.kernel.runtime import Runtime
from recollect.observability.metrics import NoMetrics
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase

T = TypeVar("T")
WAIT_SECONDS = 30
NAP = Query(text("SELECT pg_sleep(0.005)"))


class CountingMetrics(NoMetrics):
    """Keeps what was counted."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.jobs: list[tuple[str, str]] = []
        self.queues: list[tuple[int, int]] = []

    def record_commit_batch(self, size: int) -> None:
        """See `Metrics`."""
        self.batches.append(size)

    def record_job(self, type: str, outcome: str, seconds: float) -> None:
        """See `Metrics`."""
        self.jobs.append((type, outcome))

    def record_queue(self, depth: int, age_seconds: float, stuck: int) -> None:
        """See `Metrics`."""
        self.queues.append((depth, stuck))


class Storage:
    """A running engine with its stores."""

    def __init__(
        self, database: TestDatabase, engine: Engine, metrics: CountingMetrics, runtime: Runtime
    ) -> None:
        self.database = database
        self.engine = engine
        self.metrics = metrics
        self.runtime = runtime
        self.stores: Stores = build_stores(runtime, engine)
        self.context = ServiceContext(engine, self.stores, runtime)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run a read and wait for it."""
        return self.run(self.engine.read(work))

    def write(self, work: Callable[[Tx], T]) -> T:
        """Run a write and wait for its commit."""
        return self.run(self.engine.write(work))

    def ask(self, method: Callable[..., T], *args: Any, **named: Any) -> T:
        """Run one method of a store as a read."""
        return self.read(lambda tx: method(tx, *args, **named))

    def do(self, method: Callable[..., T], *args: Any, **named: Any) -> T:
        """Run one method of a store as a write."""
        return self.write(lambda tx: method(tx, *args, **named))

    def begin(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start something without waiting."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Start something and wait for it."""
        return self.begin(coroutine).result(WAIT_SECONDS)

    def stay(self, tx: Tx, go_on: threading.Event) -> None:
        """Keep the transaction open until told to go on.

        Where transactions share the event loop's thread, it naps on the server in between.
        """
        if self.engine.name == "sqlite":
            assert go_on.wait(WAIT_SECONDS)
            return
        end = time.monotonic() + WAIT_SECONDS
        while not go_on.is_set():
            assert time.monotonic() < end
            tx.fetch(NAP, {})

    def settle(self) -> None:
        """Return when everything that was begun has reached the engine's queue."""
        self.run(asyncio.sleep(0))

    def new_id(self) -> str:
        """An id of the server's kind."""
        return self.runtime.ids.new()

    def stop_engine(self) -> None:
        """Close the engine alone; closing twice is fine."""
        self.run(self.engine.close())

    def stop(self) -> None:
        """Close the engine and end the loop."""
        self.stop_engine()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_SECONDS)
        self._loop.close()


@contextmanager
def blocked(storage: Storage, connections: int = 4) -> Iterator[None]:
    """Inside the block every connection that writes is busy; what comes now waits."""
    go_on, started = threading.Event(), threading.Semaphore(0)

    def hold(tx: Tx) -> None:
        started.release()
        storage.stay(tx, go_on)

    threads = 1 if storage.engine.name == "sqlite" else connections
    holding = [storage.begin(storage.engine.write(hold)) for _ in range(threads)]
    for _ in holding:
        assert started.acquire(timeout=WAIT_SECONDS)
    try:
        yield
    finally:
        go_on.set()
        for future in holding:
            future.result(WAIT_SECONDS)


@contextmanager
def a_storage(
    database: TestDatabase,
    *,
    clock: Clock | None = None,
    keys: Sequence[tuple[str, bytes]] = (),
    connections: int = 4,
) -> Iterator[Storage]:
    """A migrated database with its engine running, closed afterwards."""
    metrics = CountingMetrics()
    engine = an_engine(database, metrics, connections=connections)
    migrations.migrate(engine)
    engine.start()
    clock = clock or TestClock()
    runtime = Runtime(clock=clock, ids=Uuid7Ids(clock), cipher=AesGcmCipher(list(keys)))
    storage = Storage(database, engine, metrics, runtime)
    try:
        yield storage
    finally:
        storage.stop()


def an_engine(
    database: TestDatabase, metrics: NoMetrics | None = None, *, connections: int = 4
) -> Engine:
    """An engine that is not started."""
    return open_engine(
        database.url,
        file=database.path if database.engine == "sqlite" else None,
        readers=2,
        connections=connections,
        metrics=metrics or NoMetrics(),
    )
