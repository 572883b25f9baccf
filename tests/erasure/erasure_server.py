"""A server of one's own for tests of erasure, and what they look for in it."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.engines import TestDatabase
from tests.support.hosting import a_world
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.world import World

RULES = """
default_ttl: {{session: 3600, long_term: 2592000, org: 7776000}}
vacuum: {{enabled: false}}
backup: {{directory: "{folder}", keep_days: 30}}
"""
KEY = "the key of reports"
WAIT_SECONDS = 60
PAUSE_SECONDS = 0.02
Open = Callable[..., AbstractContextManager["ErasureServer"]]


@dataclass(frozen=True)
class ErasureServer:
    """A server of one test, so that nobody else's words are in its file."""

    world: World
    backups: Path

    @property
    def callers(self) -> Callers:
        return Callers(self.world)

    def erases(self, caller: Caller, **members: Any) -> dict[str, Any]:
        """Erase and wait for the report."""
        return self.awaits(self.begins(caller, **members))

    def begins(self, caller: Caller, **members: Any) -> str:
        """The id of an erasure."""
        begun = caller.post("/erasures", body={"dry_run": False} | members).expect(202)
        assert (begun["status"], begun["dry_run"]) == ("running", False)
        return str(begun["id"])

    def awaits(self, erasure_id: str, *states: str) -> dict[str, Any]:
        """Its report, once it is in one of these states."""
        end = time.monotonic() + WAIT_SECONDS
        while True:
            report: dict[str, Any] = self.callers.admin.get("/erasures/{}", erasure_id).expect(200)
            if report["status"] in (states or ("done", "incomplete")):
                return report
            assert time.monotonic() < end, report
            time.sleep(PAUSE_SECONDS)

    def left_of(self, traces: tuple[str, ...]) -> list[str]:
        """Which of these are anywhere in the database, its files, its word indexes, backups."""
        files = [file.read_text() for file in self.backups.glob("*")]
        stored = [self.world.database.stored_text(), *self._words(), *files]
        text = " ".join(stored).lower()
        return [trace for trace in traces if trace.lower() in text]

    def count(self, table: str, where: str = "1 = 1", **params: Any) -> int:
        rows = self.world.database.rows(f"SELECT count(*) FROM {table} WHERE {where}", **params)
        return int(rows[0][0])

    def _words(self) -> Iterator[str]:
        """Words of the full text, whose bytes hold them in parts."""
        if self.world.database.engine != "sqlite":
            return
        for table in ("entry_words", "memory_words"):
            vocabulary = (
                f"CREATE VIRTUAL TABLE temp.v USING fts5vocab (main, {table}, row);"
                "SELECT term FROM temp.v"
            )
            yield from (term for (term,) in self.world.database.rows(vocabulary))


def server_opener(new_database: Callable[[], TestDatabase], folder: Path) -> Open:
    """`with opened(flags) as server`: a server, on `database` or on a fresh one."""
    rules = folder / "rules.yaml"
    rules.write_text(RULES.format(folder=folder / "backups"))
    flags = {"retention.file": str(rules), "memory.auto_gc": False, "erase.signing_key": KEY}

    def start(
        more: dict[str, Any] | None = None, database: TestDatabase | None = None
    ) -> AbstractContextManager[ErasureServer]:
        return _running(database or new_database(), flags | (more or {}), folder / "backups")

    return start


@contextmanager
def _running(
    database: TestDatabase, flags: dict[str, Any], backups: Path
) -> Iterator[ErasureServer]:
    with a_world(database, flags) as world:
        yield ErasureServer(world, backups)


def named(caller: Caller, name: str) -> str:
    """Give a user's person a name; the person's id."""
    person_id = person_of(caller)
    caller.patch("/people/{}", person_id, body={"name": name}).expect(200)
    return person_id


def handle(caller: Caller, person_id: str, value: str) -> None:
    body = {"value": value, "kind": "handle"}
    caller.post("/people/{}/aliases", person_id, body=body).expect(201)


def group(creator: Caller, chat_id: str, *others: Caller) -> str:
    creator.put("/chats/{}", chat_id, body={"kind": "group"}).expect(201)
    for one in others:
        path = "/chats/{}/participants/{}"
        creator.put(path, chat_id, one.name, body={"kind": "user"}).expect(200)
    return chat_id


def in_chat(caller: Caller, chat_id: str, content: str, **members: Any) -> dict[str, Any]:
    return caller.adds(content, space={"kind": "chat", "id": chat_id}, **members)


def found_in(report: dict[str, Any]) -> dict[str, int]:
    return {check["store"]: check["found"] for check in report["checks"] if check["found"]}
