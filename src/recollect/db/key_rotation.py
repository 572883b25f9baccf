"""Rotation of encryption keys, shared server state, and the consistency checks of `doctor`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Column, ColumnElement, and_, case, delete, exists, func, or_, select, update

from recollect.db.columns import EncryptedColumn
from recollect.db.encrypted_columns import ENCRYPTED_COLUMNS, bound_id
from recollect.db.engines.expressions import insert_if_absent
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import (
    conversations,
    embeddings,
    entries,
    index,
    memberships,
    state,
    tasks,
    transfers,
    trees,
)
from recollect.db.transaction import Tx
from recollect.kernel.errors import Internal
from recollect.kernel.ids import TreeId
from recollect.kernel.runtime import (
    SEALED_MARKER,
    SEALED_PREFIX_CHARACTERS,
    Cipher,
)


@dataclass(frozen=True, slots=True)
class RotationStep:
    """Progress of a key rotation: the last id it read, None at the end, and the number of values
    that could not be decrypted."""

    last_id: str | None
    unreadable: int


# No key has this id.
DAMAGED = "damaged!"
# Whether these are encrypted is up to the job that knows the form of the search index.
_INDEX_COLUMNS = frozenset(
    {
        "memory_index.terms",
        "memory_index.stems",
        "entry_index.terms",
        "entries.indexed_content",
    }
)


class MaintenanceStore:
    """Key rotation, clean-up of vectors, shared state and consistency checks."""

    def __init__(self, cipher: Cipher) -> None:
        self._cipher = cipher

    def encrypted_columns(self) -> Sequence[str]:
        """Every column that may hold encrypted values, as `table.column`."""
        return tuple(ENCRYPTED_COLUMNS)

    def rotate(self, tx: Tx, column: str, *, after: str | None, limit: int) -> RotationStep:
        """Encrypt values of the next `limit` rows by id with the current key where they are not.

        `column` is one of `encrypted_columns`. A value that can't be decrypted stays as it is and
        is counted.
        """
        scan = _scan_query(column, cursor=after is not None)
        rows = tx.fetch(scan, {"after": after, "limit": limit})
        # The scan reads only the prefixes, which tell the key. Few rows are stale, and whole
        # values may be large.
        stale = [id_ for id_, prefix in rows if prefix and self._is_stale(column, prefix)]
        opened = [self._reseal(tx, column, id_) for id_ in stale]
        last_id = str(rows[-1][0]) if len(rows) == limit else None
        return RotationStep(last_id, opened.count(False))

    def _is_stale(self, column: str, prefix: str) -> bool:
        if column in _INDEX_COLUMNS and self._cipher.key_id(prefix) is None:
            return False
        return not self._cipher.is_current(prefix)

    def _reseal(self, tx: Tx, column: str, id_: str) -> bool:
        """Encrypt one value with the current key. False if it can't be decrypted.

        One at a time, because a value may be large.
        """
        sealed = EncryptedColumn(self._cipher, ENCRYPTED_COLUMNS[column])
        stored = tx.fetch(_VALUE_QUERIES[column], {"id": id_})[0][0]
        try:
            resealed = sealed.seal(sealed.open(stored, id_), id_)
        except Internal:
            return False
        tx.run(_RESEAL[column], {"id": id_, "stored": stored, "resealed": resealed})
        return True

    def delete_vectors(self, tx: Tx, tree_id: TreeId) -> None:
        """Remove the vectors of a tree that was evicted."""
        tx.run(_DELETE_VECTORS, {"tree_id": tree_id})

    def fetch_state(self, tx: Tx, name: str) -> str | None:
        """A named value that all servers of this database share."""
        row = tx.fetch_first(_FETCH_STATE, {"name": name})
        return str(row[0]) if row else None

    def put_state(self, tx: Tx, name: str, value: str) -> None:
        """Insert or update a shared value."""
        # An upsert in two statements that both engines write alike: the insert does nothing where
        # the row exists, and the update does nothing new where it was just inserted.
        tx.run(_INSERT_STATE, {"name": name, "value": value})
        tx.run(_UPDATE_STATE, {"name": name, "value": value})

    def count_by_key(self, tx: Tx) -> Mapping[str, Mapping[str, int]]:
        """For each encrypted column, the number of values by key id. `plain` counts those that are
        not encrypted, `damaged!` those whose key can't be told."""
        return {name: self._count_keys(tx, statement) for name, statement in _BY_KEY.items()}

    def count_orphans(self, tx: Tx) -> Mapping[str, int]:
        """For each consistency check, how many rows break it."""
        return {name: int(tx.fetch(check, {})[0][0]) for name, check in _CHECKS.items()}

    def _count_keys(self, tx: Tx, statement: Query) -> dict[str, int]:
        rows = tx.fetch(statement, {"marker": SEALED_MARKER})
        found: Counter[str] = Counter()
        for prefix, count in rows:
            found["plain" if prefix is None else self._name_key(prefix)] += int(count)
        return dict(found)

    def _name_key(self, prefix: str) -> str:
        try:
            return self._cipher.key_id(prefix) or "plain"
        except Internal:
            return DAMAGED


@cache
def _scan_query(name: str, *, cursor: bool) -> Query:
    column = ENCRYPTED_COLUMNS[name]
    id_ = bound_id(column)
    prefix = func.substr(column, 1, SEALED_PREFIX_CHARACTERS)
    query = select(id_, prefix).order_by(id_).limit(param("limit"))
    return Query(query.where(id_ > param("after", id_)) if cursor else query)


def _value_query(column: Column[Any]) -> Query:
    id_ = bound_id(column)
    return Query(select(column).where(id_ == param("id", id_)))


def _reseal_query(column: Column[Any]) -> Query:
    """Update only if nobody changed the value since it was read."""
    id_ = bound_id(column)
    unchanged = and_(id_ == param("id", id_), column == param("stored", column))
    resealed = {column.name: param("resealed", column)}
    return Query(update(column.table).where(unchanged).values(resealed))


def _key_count_query(column: Column[Any]) -> Query:
    marker = func.substr(column, 1, len(SEALED_MARKER)) == param("marker", column)
    prefix = case((marker, func.substr(column, 1, SEALED_PREFIX_CHARACTERS)))
    inner = select(prefix.label("prefix")).where(column.is_not(None)).subquery()
    return Query(select(inner.c.prefix, func.count()).group_by(inner.c.prefix))


def _count_query(source: Any, broken: ColumnElement[bool]) -> Query:
    return Query(select(func.count()).select_from(source).where(broken))


def _has_no_row(target: Column[Any], reference: Column[Any]) -> ColumnElement[bool]:
    return ~exists(select(1).where(target == reference))


def _count_owners() -> ColumnElement[int]:
    m = memberships.c
    owned = and_(m.conversation_group_id == trees.c.id, m.access_level == literal_word("owner"))
    return select(func.count()).where(owned).correlate(trees).scalar_subquery()


def _has_foreign_owner() -> ColumnElement[bool]:
    """The conversation names another owner than the memberships of its tree do."""
    c, m = conversations.c, memberships.c
    same = and_(
        m.conversation_group_id == c.conversation_group_id,
        m.user_id == c.owner_user_id,
        m.access_level == literal_word("owner"),
    )
    return and_(c.deleted_at.is_(None), ~exists(select(1).where(same)))


def _is_outside_tree() -> ColumnElement[bool]:
    """The entry names another tree than its conversation does."""
    c, e = conversations.c, entries.c
    home = and_(c.id == e.conversation_id, c.conversation_group_id == e.conversation_group_id)
    return ~exists(select(1).where(home))


def _is_missing_in_index() -> ColumnElement[bool]:
    """The entry's index text is missing in the index, and no backfill job will add it."""
    backfill = exists(select(1).where(tasks.c.task_type == literal_word("search_backfill")))
    e = entries.c
    return and_(e.indexed_content.is_not(None), _has_no_row(index.c.entry_id, e.id), ~backfill)


def _count_index_rows() -> ColumnElement[int]:
    owned = index.c.conversation_group_id == trees.c.id
    return select(func.count()).where(owned).correlate(trees).scalar_subquery()


def _build_checks() -> dict[str, Query]:
    c, e, m, t, x = (table.c for table in (conversations, entries, memberships, trees, transfers))
    lost_parent = and_(
        c.forked_at_conversation_id.is_not(None),
        _has_no_row(conversations.alias("parent").c.id, c.forked_at_conversation_id),
    )
    ahead = exists(select(1).where(e.conversation_group_id == t.id, e.seq > t.last_seq))
    member = and_(m.conversation_group_id == x.conversation_group_id, m.user_id == x.to_user_id)
    no_member = ~exists(select(1).where(member))
    return {
        "entries_outside_their_tree": _count_query(entries, _is_outside_tree()),
        "conversations_without_tree": _count_query(
            conversations, _has_no_row(t.id, c.conversation_group_id)
        ),
        "trees_without_root": _count_query(trees, _has_no_row(c.id, t.id)),
        "forks_without_parent": _count_query(conversations, lost_parent),
        "memberships_without_tree": _count_query(
            memberships, _has_no_row(t.id, m.conversation_group_id)
        ),
        "live_trees_without_one_owner": _count_query(
            trees, and_(t.deleted_at.is_(None), _count_owners() != 1)
        ),
        "conversations_of_another_owner": _count_query(conversations, _has_foreign_owner()),
        "transfers_without_tree_or_member": _count_query(
            transfers, or_(_has_no_row(t.id, x.conversation_group_id), no_member)
        ),
        "positions_beyond_their_tree": _count_query(trees, ahead),
        "vectors_without_entry": _count_query(embeddings, _has_no_row(e.id, embeddings.c.entry_id)),
        "index_rows_without_entry": _count_query(index, _has_no_row(e.id, index.c.entry_id)),
        "texts_missing_in_the_index": _count_query(entries, _is_missing_in_index()),
        "trees_with_a_wrong_index_count": _count_query(
            trees, t.index_entries != _count_index_rows()
        ),
    }


_VALUE_QUERIES = {name: _value_query(column) for name, column in ENCRYPTED_COLUMNS.items()}
_RESEAL = {name: _reseal_query(column) for name, column in ENCRYPTED_COLUMNS.items()}
_BY_KEY = {name: _key_count_query(column) for name, column in ENCRYPTED_COLUMNS.items()}
_CHECKS = _build_checks()
_NAME = param("name", state.c.name)
_VALUE = param("value", state.c.value)
_FETCH_STATE = Query(select(state.c.value).where(state.c.name == _NAME))
_INSERT_STATE = Query(insert_if_absent(state, "name").values(name=_NAME, value=_VALUE))
_UPDATE_STATE = Query(update(state).where(state.c.name == _NAME).values(value=_VALUE))
# A new tree may have taken the id of the evicted one before this job runs: vectors of entries that
# exist stay.
_DELETE_VECTORS = Query(
    delete(embeddings).where(
        embeddings.c.conversation_group_id == param("tree_id", embeddings.c.conversation_group_id),
        _has_no_row(entries.c.id, embeddings.c.entry_id),
    )
)
