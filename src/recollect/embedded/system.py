"""Starts the system on a thread with an event loop of its own, so that any thread and any event
loop of the process can use it."""

import threading
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from recollect.app.in_process import InProcessApp
from recollect.app.loop_thread import LoopThread
from recollect.embedded.asgi import AsgiCaller
from recollect.embedded.transports import AsyncEmbeddedTransport, EmbeddedTransport
from recollect.kernel.errors import RecollectError as ServerError
from recollect.settings import Settings
from recollect.settings.load import load
from recollect_client import RecollectError

_URL_PREFIXES = ("postgresql://", "sqlite:///")


class EmbeddedSystem:
    """A running system. A process may end without closing it: what was answered is stored, and a
    job that was cut off runs again."""

    def __init__(self, thread: LoopThread, app: InProcessApp) -> None:
        self._thread = thread
        self._app = app
        self._lock = threading.Lock()
        self._open = True
        self._caller = AsgiCaller(app.asgi)

    def transport(self) -> EmbeddedTransport:
        """The way for `Recollect`."""
        return EmbeddedTransport(self._thread, self._caller, self.close)

    def async_transport(self) -> AsyncEmbeddedTransport:
        """The way for `AsyncRecollect`."""
        return AsyncEmbeddedTransport(self._thread, self._caller, self.close)

    def close(self) -> None:
        """Finish accepted work and close the database. A second call does nothing."""
        with self._lock:
            was_open, self._open = self._open, False
            if was_open:
                self._thread.stop(self._app.close)


def start_system(path: str | PathLike[str] | None, settings: Mapping[str, Any]) -> EmbeddedSystem:
    """Start a system on this file or `postgresql://` database; without a path on that of the
    settings. Raises an error of the client that says what is wrong with the path or a setting."""
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
    return text if text.startswith(_URL_PREFIXES) else f"sqlite:///{text}"


async def _open_app(settings: Settings) -> InProcessApp:
    app = InProcessApp(settings)
    await app.open()
    return app
