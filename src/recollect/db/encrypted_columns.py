"""The columns that may hold encrypted values, and the queries that tell their keys."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, func, select

from recollect.db.statements import Query, param
from recollect.db.tables.conversations import conversations, entries, index
from recollect.db.tables.memories import (
    entities,
    erasures,
    memories,
    memory_index,
    memory_versions,
)
from recollect.db.transaction import Tx
from recollect.kernel.errors import Internal
from recollect.kernel.runtime import SEALED_MARKER, SEALED_PREFIX_CHARACTERS, Cipher

ENCRYPTED_COLUMNS: Mapping[str, Column[Any]] = {
    f"{column.table.name}.{column.name}": column
    for column in (
        conversations.c.title,
        conversations.c.last_message_preview,
        entries.c.content,
        entries.c.indexed_content,
        memories.c.content,
        memories.c.value,
        memories.c.messages,
        memories.c.metadata,
        memory_versions.c.snapshot,
        entities.c.name,
        erasures.c.target,
        index.c.terms,
        memory_index.c.terms,
        memory_index.c.stems,
    )
}
# What a value of these tables is bound to; elsewhere it is the column `id`.
_BOUND_IDS = {index.name: index.c.entry_id, memory_index.name: memory_index.c.memory_id}


def bound_id(column: Column[Any]) -> Column[Any]:
    """The column whose value each ciphertext of `column` is bound to."""
    bound = _BOUND_IDS.get(column.table.name)
    return column.table.c.id if bound is None else bound


def used_key_ids(tx: Tx, name: str, cipher: Cipher) -> list[str]:
    """The ids of all keys that encrypted values of a column. Reads the whole column."""
    rows = tx.fetch(_PREFIXES[name], {"marker": SEALED_MARKER})
    return [key_id for (prefix,) in rows if (key_id := _parse_key_id(prefix, cipher)) is not None]


def sample_values(
    tx: Tx, name: str, key_id: str, cipher: Cipher, *, limit: int
) -> list[tuple[str, str]]:
    """A few values of a column that one key encrypted, each with the id that it is bound to."""
    params = {"prefix": cipher.prefix(key_id), "limit": limit}
    return [(id_, stored) for id_, stored in tx.fetch(_SAMPLES[name], params)]


def is_readable(cipher: Cipher, name: str, id_: str, stored: str) -> bool:
    """Does this stored value of a column open?"""
    table, _, column = name.partition(".")
    try:
        cipher.open(stored, table=table, column=column, row_id=id_)
    except Internal:
        return False
    return True


def _parse_key_id(prefix: str, cipher: Cipher) -> str | None:
    """None for a damaged value, which belongs to no key."""
    try:
        return cipher.key_id(prefix)
    except Internal:
        return None


def _prefix_query(column: Column[Any]) -> Query:
    marker = func.substr(column, 1, len(SEALED_MARKER)) == param("marker", column)
    prefix = func.substr(column, 1, SEALED_PREFIX_CHARACTERS)
    return Query(select(prefix).where(marker).distinct())


def _sample_query(column: Column[Any]) -> Query:
    by_key = func.substr(column, 1, SEALED_PREFIX_CHARACTERS) == param("prefix", column)
    return Query(select(bound_id(column), column).where(by_key).limit(param("limit")))


_PREFIXES = {name: _prefix_query(column) for name, column in ENCRYPTED_COLUMNS.items()}
_SAMPLES = {name: _sample_query(column) for name, column in ENCRYPTED_COLUMNS.items()}
