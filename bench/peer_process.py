"""A peer, driven by lines of JSON: `python -m bench.peer_process langgraph FOLDER`.

It runs in an environment of its own, with the peer and nothing of the project. A line says what to
do with which texts; the answer is a line with seconds.
"""

import json
import os
import sys
import uuid
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.hashed_vectors import DIMENSIONS, vector_of
from bench.writers import one_by_one, together

USER = "ann"
LIMIT = 10


class LangGraph:
    """LangGraph's SqliteStore on a file, which commits as durably as Recollect does."""

    def __init__(self, folder: Path) -> None:
        sqlite3: Any = import_module("pysqlite3")
        connection = sqlite3.connect(
            folder / "langgraph.db", check_same_thread=False, isolation_level=None
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        index: Any = {"dims": DIMENSIONS, "embed": _embed, "fields": ["text"]}
        self._store = import_module("langgraph.store.sqlite").SqliteStore(connection, index=index)
        self._store.setup()

    def add(self, text: str) -> None:
        """Store one."""
        self._store.put(("users", USER), uuid.uuid4().hex, {"text": text})

    def search(self, query: str) -> None:
        """Find the nearest."""
        self._store.search(("users", USER), query=query, limit=LIMIT)


class Mem0:
    """mem0 on its default, Qdrant in the process; no model extracts anything."""

    def __init__(self, folder: Path) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}
        os.environ["OPENAI_API_KEY"] = "not-a-real-key"
        qdrant = {"path": str(folder / "qdrant"), "on_disk": True}
        qdrant |= {"embedding_model_dims": DIMENSIONS, "collection_name": "bench"}
        self._memory = import_module("mem0").Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": qdrant},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _Embedder()

    def add(self, text: str) -> None:
        """Store one."""
        self._memory.add(text, user_id=USER, infer=False)

    def search(self, query: str) -> None:
        """Find the nearest."""
        self._memory.search(query, filters={"user_id": USER}, top_k=LIMIT)


class _Embedder:
    """The vectors, as mem0 asks for them."""

    def embed(self, text: str, *_: Any) -> list[float]:
        """One vector."""
        return _embed([text])[0]

    def embed_batch(self, texts: Sequence[str], *_: Any) -> list[list[float]]:
        """One for each."""
        return _embed(texts)


def _embed(texts: Sequence[str]) -> list[list[float]]:
    return [vector_of(text).tolist() for text in texts]


PEERS: dict[str, Callable[[Path], Any]] = {"langgraph": LangGraph, "mem0": Mem0}


def main(name: str, folder: str) -> None:
    """Do what the lines say until there are none."""
    answers, sys.stdout = sys.stdout, sys.stderr  # peers print
    peer = PEERS[name](Path(folder))
    for line in sys.stdin:
        asked = json.loads(line)
        texts, call = iter(asked["texts"]), getattr(peer, asked["do"])
        told: Any
        if asked["writers"]:
            told = together(call, texts, len(asked["texts"]), writers=asked["writers"])
        else:
            told = one_by_one(call, texts, len(asked["texts"]))
        print(json.dumps(told), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
