"""Many searchable entries of other people, written past the stores: words, vectors and all."""

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from recollect.search.model import index_words
from tests.support.builders import NOON
from tests.support.bulk import insert
from tests.support.engines import TestDatabase
from tests.support.servers.embedding import bag_of_words

PER_TREE = 100
_NEW_WORDS = """
INSERT INTO entry_words (rowid, words) SELECT doc, terms || ' ' || stems FROM entry_index
WHERE speaker = :owner
"""


def put_foreign(
    database: TestDatabase,
    texts: Sequence[str],
    count: int,
    *,
    owner: str,
    model: str,
    dimensions: int,
) -> None:
    """So many entries of one owner with these texts in turn, in trees of a hundred."""
    trees = [str(uuid.uuid4()) for _ in range(-(-count // PER_TREE))]
    places = [(str(uuid.uuid4()), trees[n // PER_TREE], n % PER_TREE + 1) for n in range(count)]
    said = [texts[n % len(texts)] for n in range(count)]
    _put_trees(database, trees, owner)
    _put_entries(database, places, said, owner)
    _put_words(database, places, said, owner)
    _put_vectors(database, places, said, model, dimensions)


Place = tuple[str, str, int]


def _put_trees(database: TestDatabase, trees: Sequence[str], owner: str) -> None:
    rows = ((id_, NOON, PER_TREE, NOON, 1, PER_TREE) for id_ in trees)
    named = ("id", "created_at", "last_seq", "last_at", "index_revision", "index_entries")
    insert(database, "conversation_groups", named, rows)
    roots = ((id_, id_, owner, NOON, NOON) for id_ in trees)
    of_root = ("id", "conversation_group_id", "owner_user_id", "created_at", "updated_at")
    insert(database, "conversations", of_root, roots)
    members = ((id_, owner, "owner", NOON) for id_ in trees)
    of_member = ("conversation_group_id", "user_id", "access_level", "created_at")
    insert(database, "conversation_memberships", of_member, members)


def _put_entries(
    database: TestDatabase, places: Iterable[Place], texts: Iterable[str], owner: str
) -> None:
    rows = (
        (id_, tree, tree, seq, owner, "history", "history", _content(text), text, NOON, NOON)
        for (id_, tree, seq), text in zip(places, texts, strict=True)
    )
    columns = (
        "id",
        "conversation_id",
        "conversation_group_id",
        "seq",
        "user_id",
        "channel",
        "content_type",
        "content",
        "indexed_content",
        "indexed_at",
        "created_at",
    )
    insert(database, "entries", columns, rows)


def _content(text: str) -> str:
    return json.dumps([{"role": "USER", "text": text}])


def _put_words(
    database: TestDatabase, places: Iterable[Place], texts: Sequence[str], owner: str
) -> None:
    words = {text: index_words(text) for text in set(texts)}
    rows = (
        (
            id_,
            tree,
            tree,
            seq,
            1,
            owner,
            int(words[text].traits),
            words[text].head,
            words[text].terms,
            words[text].stems,
            0 if database.engine == "sqlite" else False,
        )
        for (id_, tree, seq), text in zip(places, texts, strict=True)
    )
    columns = (
        "entry_id",
        "conversation_group_id",
        "conversation_id",
        "seq",
        "revision",
        "speaker",
        "traits",
        "head",
        "terms",
        "stems",
        "pending",
    )
    insert(database, "entry_index", columns, rows)
    if database.engine == "sqlite":
        database.rows(_NEW_WORDS, owner=owner)


def _put_vectors(
    database: TestDatabase,
    places: Iterable[Place],
    texts: Sequence[str],
    model: str,
    dimensions: int,
) -> None:
    vectors = {text: _stored(database, text, dimensions) for text in set(texts)}
    rows = (
        (id_, tree, tree, vectors[text], vectors[text], model, dimensions, 1)
        for (id_, tree, _), text in zip(places, texts, strict=True)
    )
    columns = (
        "entry_id",
        "conversation_id",
        "conversation_group_id",
        "embedding",
        "window_embedding",
        "model",
        "dimensions",
        "revision",
    )
    insert(database, "entry_embeddings", columns, rows)


def _stored(database: TestDatabase, text: str, dimensions: int) -> Any:
    vector = bag_of_words(text, dimensions)
    if database.engine == "sqlite":
        return np.ascontiguousarray(vector, dtype=">f4").tobytes()
    return str(vector.tolist())
