"""A database as it is after much was said and indexed: words through the store's own functions,
vectors in bulk. Vectors are random, but each is near one question, so that searches find some."""

import asyncio
import itertools
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import UUID

import apsw
import numpy as np
import psycopg
from numpy.typing import NDArray

from bench.harness import speech
from bench.harness.seeds import Row, Tree, plant
from recollect.app import application as app
from recollect.app.application import App
from recollect.conversations.entries.entry import Channel, Entry
from recollect.db.transaction import Tx
from recollect.embedding.minilm import MiniLmEmbedder
from recollect.kernel.ids import ConversationId, EntryId, TreeId, UserId
from recollect.kernel.strict_json import JsonText
from recollect.search.model import index_words
from recollect.settings import DatabaseSettings, LogSettings, Settings

CONVERSATION_ENTRIES = 20
_NEARNESS = 0.4
_TREES_PER_TRANSACTION = 50

Vectors = NDArray[np.float32]
VectorField = str | int | UUID | Vectors


def conversation_texts(entries: int, owners: int) -> Iterator[tuple[str, list[str]]]:
    """Conversation by conversation: whose it is, and its texts."""
    texts = speech.texts(seed=entries)
    for number in range(-(-entries // CONVERSATION_ENTRIES)):
        yield owner_name(number % owners), list(itertools.islice(texts, CONVERSATION_ENTRIES))


def write(database_url: str, *, entries: int, owners: int, near: Vectors) -> list[str]:
    """So many indexed entries in all, the owners taking turns by conversations; their names."""
    trees = _trees(entries, owners)
    asyncio.run(_write(database_url, trees))
    plant_vectors(database_url, _INTO, _vector_rows(trees, near))
    return [owner_name(number) for number in range(owners)]


def owner_name(number: int) -> str:
    """Of one word, so that an index takes it for one."""
    return f"owner{number}"


def quiet_settings(database_url: str) -> Settings:
    """The defaults, without a log between the lines of the benchmarks."""
    return Settings(database=DatabaseSettings(url=database_url), log=LogSettings(level="warning"))


def vectors_of(questions: Sequence[str]) -> Vectors:
    """By the built-in model."""
    return asyncio.run(MiniLmEmbedder().embed(questions))


def _trees(entries: int, owners: int) -> list[Tree]:
    trees = []
    for number, (owner, texts) in enumerate(conversation_texts(entries, owners)):
        tree = Tree(owner, number, indexed=True)
        branch = tree.root()
        for text in texts:
            tree.tell(branch, text)
        trees.append(tree)
    return trees


async def _write(database_url: str, trees: Sequence[Tree]) -> None:
    """With what a server queues at its first start out of the way, it has nothing to do later."""
    built = app.build(quiet_settings(database_url))
    try:
        await built.open()
        await built.jobs.indexing.schedule()
        while await built.jobs.worker.run_due():
            pass
        plant(database_url, trees)
        for first in range(0, len(trees), _TREES_PER_TRANSACTION):
            await _index(built, trees[first : first + _TREES_PER_TRANSACTION])
    finally:
        await built.close()


async def _index(built: App, trees: Sequence[Tree]) -> None:
    found = [
        (_entry(row), index_words(row["indexed_content"])) for tree in trees for row in tree.entries
    ]

    def work(tx: Tx) -> None:
        for entry, words in found:
            built.context.stores.search.insert(tx, entry, words, pending=False)

    await built.context.database.write(work)


def _entry(row: Row) -> Entry:
    return Entry(
        id=EntryId(row["id"]),
        conversation_id=ConversationId(row["conversation_id"]),
        tree_id=TreeId(row["conversation_group_id"]),
        seq=row["seq"],
        channel=Channel.HISTORY,
        content_type=row["content_type"],
        content=JsonText(row["content"]),
        created_at=row["created_at"],
        user_id=UserId(row["user_id"]),
        indexed_content=row["indexed_content"],
    )


def plant_vectors(database_url: str, into: str, rows: Iterator[tuple[VectorField, ...]]) -> None:
    """Insert rows with vectors. `into` names a table of ours and its columns."""
    if database_url.startswith("sqlite:///"):
        _plant_sqlite(Path(database_url.removeprefix("sqlite:///")), into, rows)
    else:
        _plant_postgres(database_url, into, rows)


def around(near: Vectors, count: int, chance: np.random.Generator) -> Vectors:
    """So many vectors of which each is near one of these. Big-endian, as they are stored."""
    noise = chance.standard_normal((count, near.shape[1]), dtype=np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    mixed = _NEARNESS * near[chance.integers(len(near), size=count)] + noise
    unit: Vectors = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return unit.astype(">f4")


def _vector_rows(trees: Sequence[Tree], near: Vectors) -> Iterator[tuple[VectorField, ...]]:
    """Each entry with its own vector and that of its window."""
    chance = np.random.default_rng(len(trees))
    for tree in trees:
        own, window = (around(near, len(tree.entries), chance) for _ in range(2))
        for row, one, other in zip(tree.entries, own, window, strict=True):
            ids = (UUID(row[name]) for name in _IDS)
            yield *ids, one, other, MiniLmEmbedder.model, MiniLmEmbedder.dimensions, row["seq"]


def _plant_sqlite(path: Path, into: str, rows: Iterator[tuple[VectorField, ...]]) -> None:
    connection = apsw.Connection(str(path))
    marks = ",".join("?" * len(into.split(",")))
    with connection:
        values = (tuple(map(_to_sqlite, row)) for row in rows)
        connection.executemany(f"INSERT INTO {into} VALUES ({marks})", values)
    connection.close()


def _to_sqlite(value: VectorField) -> str | int | bytes:
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return str(value) if isinstance(value, UUID) else value


def _plant_postgres(url: str, into: str, rows: Iterator[tuple[VectorField, ...]]) -> None:
    """Binary, because numbers as text would take minutes."""
    with psycopg.connect(url, autocommit=True) as connection:
        with (
            connection.transaction(),
            connection.cursor() as cursor,
            cursor.copy(f"COPY {into} FROM STDIN (FORMAT BINARY)".encode()) as copy,
        ):
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for row in rows:
                copy.write(_binary_row([_to_binary(value) for value in row]))
            copy.write(struct.pack(">h", -1))
        connection.execute("VACUUM ANALYZE")


def _to_binary(value: VectorField) -> bytes:
    match value:
        case np.ndarray():
            return struct.pack(">HH", len(value), 0) + value.tobytes()
        case UUID():
            return value.bytes
        case int():
            return struct.pack(">q", value)
        case _:
            return value.encode()


def _binary_row(fields: Sequence[bytes]) -> bytes:
    parts = [struct.pack(">i", len(field)) + field for field in fields]
    return struct.pack(">h", len(fields)) + b"".join(parts)


_IDS = ("id", "conversation_id", "conversation_group_id")
_INTO = (
    "entry_embeddings (entry_id, conversation_id, conversation_group_id, embedding, "
    "window_embedding, model, dimensions, revision)"
)
