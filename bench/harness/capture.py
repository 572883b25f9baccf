"""The statements of an append, taken from a real one while it runs, and fresh values for them."""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sqlalchemy import Dialect

from bench.harness.seeds import Tree
from recollect.app.stores import build_stores, open_engine
from recollect.conversations.commands import AppendEntry
from recollect.conversations.entries.append import EntryWriter
from recollect.conversations.entries.entry import Entry
from recollect.db.encryption import AesGcmCipher
from recollect.db.engines.postgres import connection as postgres
from recollect.db.engines.sqlite import connection as sqlite
from recollect.db.transaction import Tx
from recollect.identity.model import Principal
from recollect.kernel.clock import SystemClock
from recollect.kernel.ids import ConversationId, UserId, Uuid7Ids
from recollect.kernel.runtime import Runtime
from recollect.observability.prometheus import PrometheusMetrics
from recollect.search.entries.indexing import EntryIndexer
from recollect.settings import DatabaseSettings


class Fresh(Enum):
    """A value that is another in each append."""

    CONVERSATION = "conversation"
    ENTRY = "entry"
    JOB = "job"
    POSITION = "position"
    TIME = "time"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of the driver's; a parameter is a constant or a kind of fresh value.

    Parameters are positional; here they have names such as `$1`, in their order.
    """

    sql: str
    params: Mapping[str, Any]


Append = list[tuple[str, dict[str, Any]]]
"""Statements and values of one append, ready for the driver."""


def capture(database_url: str, tree: Tree, content: Any) -> list[Step]:
    """What an append to this tree's root runs inside its transaction."""
    ids = _KeptIds()
    runtime = Runtime(SystemClock(), ids, AesGcmCipher())
    database = DatabaseSettings(url=database_url)
    engine = open_engine(
        database_url,
        file=database.sqlite_path,
        readers=database.readers,
        connections=1,
        metrics=PrometheusMetrics(),
    )
    dialect = sqlite.DIALECT if database.sqlite_path else postgres.DIALECT
    stores = build_stores(runtime, engine)
    indexer = EntryIndexer(stores, runtime, vectors=True)
    writing = EntryWriter(stores, runtime, indexer, index_raw_text=True)
    principal = Principal(UserId(tree.owner))
    draft = writing.build_draft(principal, AppendEntry(ConversationId(tree.id), content))
    found = draft.find_words()
    recorded: list[tuple[str, Mapping[str, Any]]] = []

    async def append() -> Entry:
        engine.start()
        try:
            return await engine.write(
                lambda tx: writing.append(
                    _Recorder(tx, dialect, recorded),
                    principal,
                    draft,
                    found,
                )
            )
        finally:
            await engine.close()

    entry = asyncio.run(append())
    kinds: dict[Any, Fresh] = dict.fromkeys(ids.given, Fresh.JOB) | {
        entry.conversation_id: Fresh.CONVERSATION,
        entry.id: Fresh.ENTRY,
        entry.seq: Fresh.POSITION,
        entry.created_at: Fresh.TIME,
        tree.owner: Fresh.USER,
    }
    return [
        Step(sql, {name: kinds.get(value, value) for name, value in params.items()})
        for sql, params in recorded
    ]


class Replay:
    """Makes appends of captured steps: each tree in turn, at its next position."""

    def __init__(self, steps: Sequence[Step], trees: Sequence[Tree]) -> None:
        self._steps = steps
        self._trees = itertools.cycle(trees)
        self._position = itertools.count(1 + max(len(tree.entries) + 1 for tree in trees))
        self._clock = SystemClock()
        self._ids = Uuid7Ids(self._clock)

    def prepare(self, count: int) -> list[Append]:
        """So many appends, made before the clock runs."""
        return [self._append(next(self._trees)) for _ in range(count)]

    def _append(self, tree: Tree) -> Append:
        fresh = {
            Fresh.CONVERSATION: tree.id,
            Fresh.ENTRY: self._ids.new(),
            Fresh.JOB: self._ids.new(),
            Fresh.POSITION: next(self._position),
            Fresh.TIME: self._clock.now(),
            Fresh.USER: tree.owner,
        }
        return [
            (
                step.sql,
                {
                    name: fresh[value] if isinstance(value, Fresh) else value
                    for name, value in step.params.items()
                },
            )
            for step in self._steps
        ]


class _KeptIds(Uuid7Ids):
    """Remembers what it gave."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.given: list[str] = []

    def new(self) -> str:
        self.given.append(super().new())
        return self.given[-1]


class _Recorder:
    """A Tx that passes everything on and keeps what was run."""

    def __init__(self, tx: Tx, dialect: Dialect, into: list[tuple[str, Mapping[str, Any]]]) -> None:
        self._tx = tx
        self._dialect = dialect
        self._into = into

    def fetch(self, statement: Any, params: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        return self._tx.fetch(self._record(statement, params), params)

    def fetch_first(self, statement: Any, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
        return self._tx.fetch_first(self._record(statement, params), params)

    def run(self, statement: Any, params: Mapping[str, Any]) -> None:
        self._tx.run(self._record(statement, params), params)

    def lock(self, statement: Any, params: Mapping[str, Any]) -> None:
        """SQLite runs nothing here, so there is nothing to repeat."""
        if self._dialect is postgres.DIALECT:
            self._record(statement, params)
        self._tx.lock(statement, params)

    def run_and_count(self, statement: Any, params: Mapping[str, Any]) -> int:
        return self._tx.run_and_count(self._record(statement, params), params)

    def _record(self, statement: Any, params: Mapping[str, Any]) -> Any:
        compiled = statement.compile_for(self._dialect)
        bound = enumerate(compiled.bind(params), 1)
        self._into.append((compiled.sql, {f"${number}": value for number, value in bound}))
        return statement
