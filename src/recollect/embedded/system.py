"""Starts the system on a thread with an event loop of its own, so that any thread and any event
loop of the process can use it."""

import os
import threading
import warnings
import weakref
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from os import PathLike, fspath
from typing import Any, TypeVar

from recollect.app.in_process import InProcessApp
from recollect.app.loop_thread import LoopThread
from recollect.embedded.asgi import AsgiCaller
from recollect.embedded.transports import AsyncEmbeddedTransport, EmbeddedTransport
from recollect.kernel.errors import RecollectError as ServerError
from recollect.settings import Settings
from recollect.settings.load import load
from recollect_client import RecollectError, ServerUnreachable
from recollect_client.errors import CLIENT_CLOSED, CLOSED

T = TypeVar("T")

EXIT_SECONDS_MAX = 5.0
_FILE_PREFIX = "sqlite:///"
_URL_PREFIXES = ("postgresql://", _FILE_PREFIX)
_FORKED = "this client was opened before the process was forked: open one in the new process"
_SHARED = (
    "this database file is open elsewhere too. Both can use it, but a response can be followed "
    "only where it is made; for many processes run one server: recollect serve"
)


class EmbeddedSystem:
    """A running system.

    It is closed by `close`, and otherwise when the last transport is collected or the process
    ends. A process may also be killed: what was answered is stored, and a job that was cut off
    runs again.
    """

    def __init__(self, thread: LoopThread, app: InProcessApp) -> None:
        self._thread = thread
        self.app = app
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._open = True
        self.caller = AsgiCaller(app.asgi)
        # On a file the commit is the answer. A database over a network may commit and not answer.
        self.may_lose_answers = app.context.database.name != "sqlite"

    def transport(self) -> EmbeddedTransport:
        """The way for `Recollect`."""
        transport = EmbeddedTransport(self)
        weakref.finalize(transport, self._abandon)
        return transport

    def async_transport(self) -> AsyncEmbeddedTransport:
        """The way for `AsyncRecollect`."""
        transport = AsyncEmbeddedTransport(self)
        weakref.finalize(transport, self._abandon)
        return transport

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start a coroutine on the loop of the system. ServerUnreachable if it is closed."""
        if os.getpid() != self._process:
            work.close()
            # The thread stayed in the other process: nobody would ever answer.
            raise ServerUnreachable(_FORKED, code=CLOSED)
        try:
            return self._thread.submit(work)
        except RuntimeError as error:
            raise ServerUnreachable(CLIENT_CLOSED, code=CLOSED) from error

    def close(self) -> None:
        """Finish accepted work and close the database. A second call does nothing."""
        if self._take():
            # Somebody may follow a response that has no end.
            self._thread.submit(self.app.end_streams()).result()
            self._thread.stop(self.app.close)

    def _abandon(self) -> None:
        """Close it for whoever forgot to."""
        if not self._take():
            return
        if threading.main_thread().is_alive() or self._thread.is_current():
            # In a garbage collection, which must not wait.
            self._thread.stop_soon(self.app.close)
            return
        with suppress(Exception):
            self._thread.submit(self.app.close_at_exit()).result(EXIT_SECONDS_MAX)

    def _take(self) -> bool:
        """True for one caller, who closes it; never after a fork, since it is not ours there."""
        if os.getpid() != self._process:
            return False
        with self._lock:
            was_open, self._open = self._open, False
        return was_open


def start_system(path: str | PathLike[str] | None, settings: Mapping[str, Any]) -> EmbeddedSystem:
    """Start a system on this file or `postgresql://` database; without a path on that of the
    settings. Raises an error of the client that says what is wrong with the path or a setting, and
    warns if another process has the file open."""
    thread = LoopThread("recollect")
    try:
        app = thread.submit(_open_app(_load(path, settings))).result()
    except ServerError as error:
        thread.stop()
        raise RecollectError(error.message, code=error.code, details=error.details) from error
    except BaseException:
        # Else each failed attempt would leave a thread behind.
        thread.stop()
        raise
    if app.shares_its_file:
        warnings.warn(_SHARED, RuntimeWarning, stacklevel=4)
    return EmbeddedSystem(thread, app)


def _load(path: str | PathLike[str] | None, settings: Mapping[str, Any]) -> Settings:
    # In its process everybody is who they say they are, and no port is opened.
    flags = {"auth.mode": "local"} | dict(settings)
    if path is not None:
        flags["database.url"] = _database_url(path)
    return load(flags).settings


def _database_url(path: str | PathLike[str]) -> str:
    text = fspath(path)
    if not isinstance(text, str) or not text.strip():
        raise ValueError("path: must be the path of a file, or a postgresql:// URL")
    return text if text.startswith(_URL_PREFIXES) else f"{_FILE_PREFIX}{text}"


async def _open_app(settings: Settings) -> InProcessApp:
    app = InProcessApp(settings)
    try:
        await app.open()
    except BaseException:
        with suppress(Exception):
            await app.close_at_exit()
        raise
    return app
