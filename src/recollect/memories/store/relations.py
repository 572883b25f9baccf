"""Rows that belong to memories: subjects, tags, sources and links. Read in one statement for many
memories, and written as lists."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, and_, delete, insert, literal_column, or_, select, union_all, update

from recollect.db.engines.expressions import (
    InTextList,
    JsonTextRows,
    insert_if_absent,
)
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.memories import (
    memory_links,
    memory_sources,
    memory_subjects,
    memory_tags,
)
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId
from recollect.memories.model import Memory
from recollect.memories.store.rows import RelatedRows

_l = memory_links.c


class RelatedRowKind(StrEnum):
    """The kind of a related row. In sources and links it is also the stored kind."""

    SUBJECT = "subject"
    ENTRY = "entry"
    MEMORY = "memory"
    SUPERSEDES = "supersedes"
    CONFLICT = "conflict"


def fetch_related(tx: Tx, memory_ids: Sequence[str]) -> dict[str, RelatedRows]:
    """The related rows of each of these memories, in one statement. Memories without any are
    absent."""
    found: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    if memory_ids:
        for memory_id, part, other in tx.fetch(
            _RELATED, {"ids": strict_json.dump(list(memory_ids))}
        ):
            found[memory_id][part].append(other)
    return {memory_id: _to_related_rows(parts) for memory_id, parts in found.items()}


def _to_related_rows(parts: Mapping[str, Iterable[str]]) -> RelatedRows:
    def ids_of(part: RelatedRowKind) -> tuple[str, ...]:
        return tuple(parts.get(part, ()))

    return RelatedRows(
        subjects=ids_of(RelatedRowKind.SUBJECT),
        supersedes=tuple(map(MemoryId, ids_of(RelatedRowKind.SUPERSEDES))),
        conflicts_with=tuple(map(MemoryId, ids_of(RelatedRowKind.CONFLICT))),
        source_entries=ids_of(RelatedRowKind.ENTRY),
        source_memories=tuple(map(MemoryId, ids_of(RelatedRowKind.MEMORY))),
    )


def insert_related(tx: Tx, memory: Memory, *, at: datetime) -> None:
    """Insert all related rows of a new memory."""
    _insert_texts(tx, _PUT_SUBJECTS, memory.id, memory.subjects)
    _insert_texts(tx, _PUT_TAGS, memory.id, memory.tags)
    _insert_texts(tx, _PUT_ENTRIES, memory.id, memory.source_entries)
    _insert_texts(tx, _PUT_MEMORIES, memory.id, memory.source_memories)
    for other in memory.supersedes:
        link_superseded(tx, memory.id, other, at=at, reason="")
    for other in memory.conflicts_with:
        link_conflict(tx, memory.id, other, at=at)


def update_related(tx: Tx, before: Memory, after: Memory, *, at: datetime) -> None:
    """Write the related rows that a change touched. Links of supersession are only added here."""
    if after.subjects != before.subjects:
        _replace_texts(tx, _DROP_SUBJECTS, _PUT_SUBJECTS, after.id, after.subjects)
    if after.tags != before.tags:
        _replace_texts(tx, _DROP_TAGS, _PUT_TAGS, after.id, after.tags)
    if after.source_entries != before.source_entries:
        _replace_texts(tx, _DROP_ENTRIES, _PUT_ENTRIES, after.id, after.source_entries)
    if after.source_memories != before.source_memories:
        _replace_texts(tx, _DROP_MEMORIES, _PUT_MEMORIES, after.id, after.source_memories)
    for other in set(after.supersedes) - set(before.supersedes):
        link_superseded(tx, after.id, other, at=at, reason="")
    for other in set(before.conflicts_with) - set(after.conflicts_with):
        tx.run(_DROP_CONFLICT, {"id": after.id, "other": other})
    for other in set(after.conflicts_with) - set(before.conflicts_with):
        link_conflict(tx, after.id, other, at=at)


def link_superseded(tx: Tx, successor: str, predecessor: str, *, at: datetime, reason: str) -> None:
    """Insert the link, or set the reason of one that exists, which keeps its time."""
    params = {"id": successor, "other": predecessor, "at": at, "reason": reason}
    tx.run(_LINK_SUPERSEDED, params)
    if reason:
        tx.run(_SET_REASON, params)


def unlink_superseded(tx: Tx, successor: str, predecessor: str) -> bool:
    """Delete the link; False if there is none."""
    return tx.run_and_count(_UNLINK, {"from_id": successor, "to_id": predecessor}) > 0


def link_conflict(tx: Tx, one: str, other: str, *, at: datetime) -> None:
    """Link both ways."""
    for id_, against in ((one, other), (other, one)):
        tx.run(_LINK_CONFLICT, {"id": id_, "other": against, "at": at})


def _insert_texts(tx: Tx, statement: Query, memory_id: str, texts: Sequence[str]) -> None:
    if texts:
        tx.run(statement, {"id": memory_id, "texts": strict_json.dump(texts)})


def _replace_texts(tx: Tx, drop: Query, put: Query, memory_id: str, texts: Sequence[str]) -> None:
    tx.run(drop, {"id": memory_id})
    _insert_texts(tx, put, memory_id, texts)


_ID = param("id", _l.from_id)
_OTHER = param("other", _l.to_id)
_AT = param("at", _l.at)
_CONFLICT = _l.kind == literal_word(RelatedRowKind.CONFLICT)
_SUPERSEDES = _l.kind == literal_word(RelatedRowKind.SUPERSEDES)
_LISTED = JsonTextRows(param("texts")).table_valued("value", "place")


def _related_query() -> Query:
    # One UNION of three tables, so that a page of memories costs one more statement. Tags are
    # missing on purpose: the row itself has them as JSON, and `memory_tags` serves filters only.
    # Subjects and sources keep the order in which they were sent; links have none.
    def select_ids(id_: Column[Any], part: Any, other: Column[Any], place: Any) -> Any:
        columns = (id_.label("memory_id"), part.label("part"), other.label("other"))
        return select(*columns, place.label("place")).where(InTextList(id_, param("ids")))

    s, o = memory_subjects.c, memory_sources.c
    rows = union_all(
        select_ids(s.memory_id, literal_word(RelatedRowKind.SUBJECT), s.person_id, s.place),
        select_ids(o.memory_id, o.kind, o.source_id, o.place),
        select_ids(_l.from_id, _l.kind, _l.to_id, literal_column("0")),
    ).subquery()
    c = rows.c
    return Query(
        select(c.memory_id, c.part, c.other).order_by(c.memory_id, c.part, c.place, c.other)
    )


def _source_statements(part: RelatedRowKind) -> tuple[Query, Query]:
    """The statements that insert and delete sources of one kind."""
    o = memory_sources.c
    rows = select(_ID, literal_word(part), _LISTED.c.value, _LISTED.c.place)
    return (
        Query(
            insert(memory_sources).from_select(["memory_id", "kind", "source_id", "place"], rows)
        ),
        Query(delete(memory_sources).where(o.memory_id == _ID, o.kind == literal_word(part))),
    )


def _link_statement(part: RelatedRowKind, reason: Any) -> Query:
    values = {
        "from_id": _ID,
        "kind": literal_word(part),
        "to_id": _OTHER,
        "at": _AT,
        "reason": reason,
    }
    return Query(insert_if_absent(memory_links, "from_id", "kind", "to_id").values(values))


_RELATED = _related_query()
_PUT_SUBJECTS = Query(
    insert(memory_subjects).from_select(
        ["memory_id", "person_id", "place"], select(_ID, _LISTED.c.value, _LISTED.c.place)
    )
)
_DROP_SUBJECTS = Query(delete(memory_subjects).where(memory_subjects.c.memory_id == _ID))
_PUT_TAGS = Query(
    insert(memory_tags).from_select(["memory_id", "tag"], select(_ID, _LISTED.c.value))
)
_DROP_TAGS = Query(delete(memory_tags).where(memory_tags.c.memory_id == _ID))
_PUT_ENTRIES, _DROP_ENTRIES = _source_statements(RelatedRowKind.ENTRY)
_PUT_MEMORIES, _DROP_MEMORIES = _source_statements(RelatedRowKind.MEMORY)
_LINK_SUPERSEDED = _link_statement(RelatedRowKind.SUPERSEDES, param("reason", _l.reason))
_SET_REASON = Query(
    update(memory_links)
    .where(_l.from_id == _ID, _SUPERSEDES, _l.to_id == _OTHER)
    .values(reason=param("reason", _l.reason))
)
_LINK_CONFLICT = _link_statement(RelatedRowKind.CONFLICT, literal_column("''"))
_BOTH_WAYS = or_(
    and_(_l.from_id == _ID, _l.to_id == _OTHER), and_(_l.from_id == _OTHER, _l.to_id == _ID)
)
_DROP_CONFLICT = Query(delete(memory_links).where(_CONFLICT, _BOTH_WAYS))
_UNLINK = Query(
    delete(memory_links).where(
        _SUPERSEDES,
        _l.from_id == param("from_id", _l.from_id),
        _l.to_id == param("to_id", _l.to_id),
    )
)
