"""The stores: a database in this process, with the tables and rules of the server. A file written
here opens in the server, and the other way round.

Settings are those of the server (retention file, personal data, encryption, embedding), except the
database. The embedding model is loaded by the first search, so a store starts at once.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, TypeVar

from recollect.app.embedded import EmbeddedApp
from recollect.app.loop_thread import LoopThread
from recollect.ir.abstract import AbstractMemoryStore
from recollect.ir.arguments import check_flag
from recollect.ir.bound import BoundMemoryStore, parse_binding
from recollect.ir.identity import AgentBinding, AgentIdentity, SystemIdentity
from recollect.ir.record_store import RecordStore
from recollect.ir.records import Records
from recollect.ir.refusals import open_errors, python_errors
from recollect.settings import Settings
from recollect.settings.load import load

T = TypeVar("T")

_FILE_PREFIX = "sqlite:///"
_SERVER_PREFIX = "postgresql://"


@dataclass(frozen=True, slots=True)
class _OpenDatabase:
    """An open database and the loop that it lives on."""

    thread: LoopThread
    embedded: EmbeddedApp


class EmbeddedStore(RecordStore):
    """A store on one database. Unbound it is the system: it sees everything, and writes as the
    agent of each entry, which it registers if needed.

    `_lock` serialises opening and closing. Both block for long, so they run on worker threads and
    never on a caller's loop. Calls don't take the lock: they read `_open` once, and if the store is
    closed right after that, the loop refuses their work.
    """

    def __init__(self, name: str, flags: Mapping[str, Any]) -> None:
        self._name = name
        self._flags = dict(flags)
        self._lock = threading.Lock()
        self._open: _OpenDatabase | None = None

    async def initialize(self) -> None:
        with open_errors(self._name):
            await asyncio.to_thread(self._start)

    async def close(self) -> None:
        await asyncio.to_thread(self._stop)

    def as_principal(
        self, agent_slug: str, run_id: str | None = None, org_id: str = "default"
    ) -> AbstractMemoryStore:
        return BoundMemoryStore(self, parse_binding(agent_slug, run_id, org_id))

    async def call_records(
        self, work: Callable[[Records], Coroutine[Any, Any, T]], binding: AgentBinding | None = None
    ) -> T:
        """Run `work` on the store's loop, with the records as the binding sees them; without a
        binding as the system. RuntimeError if the store is not open."""
        opened = self._open
        if opened is None:
            raise RuntimeError("the store is not open: call initialize() first")
        embedded = opened.embedded
        identity = SystemIdentity(embedded) if binding is None else AgentIdentity(embedded, binding)
        with python_errors():
            return await opened.thread.run(work(Records(embedded, identity)))

    async def _call_records(self, work: Callable[[Records], Coroutine[Any, Any, T]]) -> T:
        return await self.call_records(work)

    def _start(self) -> None:
        with self._lock:
            if self._open is not None:
                return
            settings = load(self._flags).settings
            thread = LoopThread("recollect-ir")
            try:
                embedded = thread.submit(_open_app(settings)).result()
            except BaseException:
                # Else each failed attempt would leave a thread behind.
                thread.stop()
                raise
            self._open = _OpenDatabase(thread, embedded)

    def _stop(self) -> None:
        with self._lock:
            opened, self._open = self._open, None
            if opened is not None:
                opened.thread.stop(opened.embedded.close)


class SQLiteMemoryStore(EmbeddedStore):
    """A store in a file, for development and single machines. Without `enable_fts` a search reads
    every record; records written meanwhile are indexed all the same and found with it later."""

    def __init__(
        self, db_path: str | PathLike[str] = ".recollect/memory.db", enable_fts: bool = True
    ) -> None:
        url = _FILE_PREFIX + _check_path(db_path)
        fulltext = check_flag(enable_fts, "enable_fts")
        super().__init__("db_path", {"database.url": url, "search.fulltext.enabled": fulltext})


class PostgresMemoryStore(EmbeddedStore):
    """A store on a PostgreSQL server, for many processes at once."""

    def __init__(self, dsn: str) -> None:
        if not (isinstance(dsn, str) and dsn.startswith(_SERVER_PREFIX)):
            raise ValueError(f"dsn: must be {_SERVER_PREFIX}user:password@host/database")
        super().__init__("dsn", {"database.url": dsn})


def _check_path(db_path: str | PathLike[str]) -> str:
    path = fspath(db_path) if isinstance(db_path, str | PathLike) else None
    # The path becomes part of a URL, in which `?` and `#` have a meaning. An in-memory database
    # would be a different one for each connection.
    if not isinstance(path, str) or path in ("", "/", ":memory:") or re.search(r"[?#\x00]", path):
        raise ValueError("db_path: must be the path of a file, without `?` and `#`")
    return path


async def _open_app(settings: Settings) -> EmbeddedApp:
    embedded = EmbeddedApp(settings)
    await embedded.open()
    return embedded
